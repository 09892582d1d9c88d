"""What slipped: a boundary: the free time ends one minute early."""

STYLE = "arithmetic"
FUNCTION = "parking_fee"


def generate(rng):
    return (rng.choice([rng.randrange(0, 40), rng.randrange(0, 5000)]),)
