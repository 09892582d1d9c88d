"""What slipped: a missing statement: what was looked at is given for ever."""

STYLE = "iterators"


def drive(program, items, peeks):
    """What is peeked and taken, in turns."""
    ahead = program.LookAhead(items)
    results = []
    for peek in peeks:
        results.append(ahead.peek("end") if peek else next(ahead, "over"))
    return results


def generate(rng):
    return list(range(rng.randrange(0, 6))), [rng.random() < 0.4 for _ in range(rng.randrange(0, 12))]
