"""What slipped: a missing statement: reading does not make an entry young again."""

STYLE = "classes"


def drive(program, size, operations):
    """What every read gave, and the order at the end."""
    cache = program.RecentCache(size)
    results = []
    for key, value in operations:
        if value is None:
            results.append(cache.get(key))
        else:
            cache.put(key, value)
    return results, cache.keys(), cache.hits, cache.misses


def generate(rng):
    return rng.randrange(1, 4), [
        (rng.choice("abcde"), rng.choice([None, rng.randrange(9)])) for _ in range(rng.randrange(0, 14))
    ]
