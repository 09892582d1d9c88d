"""What slipped: a missing update: the lower edge of the bracket stays where it began."""

STYLE = "arithmetic"
FUNCTION = "income_tax"


def generate(rng):
    return (rng.randrange(0, 100_000),)
