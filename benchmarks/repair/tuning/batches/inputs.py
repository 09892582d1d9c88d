"""What slipped: a missing statement: a last short batch is dropped."""

STYLE = "generators"
FUNCTION = "batches"


def generate(rng):
    return list(range(rng.randrange(0, 14))), rng.randrange(0, 6)
