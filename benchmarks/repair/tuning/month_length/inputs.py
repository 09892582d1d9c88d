"""What slipped: an incomplete rule: the 400 years are forgotten."""

STYLE = "dates"
FUNCTION = "day_of_year"


def generate(rng):
    return (
        rng.choice([rng.randrange(1800, 2500), rng.randrange(16, 25) * 100]),
        rng.randrange(1, 13),
        rng.randrange(1, 29),
    )
