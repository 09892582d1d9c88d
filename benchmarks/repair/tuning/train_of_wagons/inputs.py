"""What slipped: a missing update: the walk along the list stands still."""

STYLE = "iterators"


def drive(program, loads, operations):
    """What every operation gave, and the train at the end."""
    train = program.Train(loads)
    return [getattr(train, name)(load) for name, load in operations], list(train)


def generate(rng):
    operations = [(rng.choice(["place_of", "uncouple"]), rng.choice("abcd")) for _ in range(rng.randrange(0, 6))]
    return [rng.choice("abc") for _ in range(rng.randrange(0, 6))], operations
