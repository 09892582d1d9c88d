"""What slipped: a mutable thing shared: all rows are one list."""

STYLE = "matrices"
FUNCTION = "seat_plan"


def generate(rng):
    rows, seats = rng.randrange(0, 5), rng.randrange(1, 6)
    return rows, seats, [(rng.randrange(-1, 6), rng.randrange(-1, 6)) for _ in range(rng.randrange(0, 5))]
