"""What slipped: a missing update: the last item seen is never remembered."""

STYLE = "generators"
FUNCTION = "without_repeats"


def generate(rng):
    return [rng.randrange(0, 8) for _ in range(rng.randrange(0, 12))], rng.randrange(0, 3)
