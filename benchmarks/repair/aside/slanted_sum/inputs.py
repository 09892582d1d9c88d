"""What slipped: off by one: the other diagonal is one column off."""

STYLE = "matrices"
FUNCTION = "slanted_sum"


def generate(rng):
    size = rng.randrange(0, 6)
    return ([[rng.randrange(-5, 10) for _ in range(size)] for _ in range(size)],)
