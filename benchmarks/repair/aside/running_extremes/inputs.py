"""What slipped: a wrong initial value: the high mark starts at zero."""

STYLE = "generators"
FUNCTION = "running_extremes"


def generate(rng):
    shift = rng.choice([0, -15, 5])
    return ([rng.randrange(0, 12) + shift for _ in range(rng.randrange(0, 9))],)
