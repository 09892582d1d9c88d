"""What slipped: the wrong length: rows are counted where columns are meant."""

STYLE = "matrices"
FUNCTION = "columns_of"


def generate(rng):
    width = rng.randrange(1, 5)
    return ([[rng.randrange(9) for _ in range(width)] for _ in range(rng.randrange(0, 5))],)
