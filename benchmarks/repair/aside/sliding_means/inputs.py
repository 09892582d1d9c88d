"""What slipped: off by one: the last window is left out."""

STYLE = "generators"
FUNCTION = "sliding_means"


def generate(rng):
    return [rng.randrange(0, 50) for _ in range(rng.randrange(0, 12))], rng.randrange(1, 6)
