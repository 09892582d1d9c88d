"""What slipped: swapped indices in one place of three."""

STYLE = "matrices"
FUNCTION = "rectangle_sum"


def generate(rng):
    height, width = rng.randrange(1, 5), rng.randrange(1, 5)
    table = [[rng.randrange(-9, 10) for _ in range(width)] for _ in range(height)]
    top, left = rng.randrange(0, height + 1), rng.randrange(0, width + 1)
    return table, top, left, rng.randrange(top, height + 1), rng.randrange(left, width + 1)
