"""What slipped: the wrong operator: a surcharge replaces the price instead of being added."""

STYLE = "arithmetic"
FUNCTION = "parcel_price"


def generate(rng):
    return (rng.randrange(1, 6000), rng.random() < 0.5, rng.choice([0, 50, 100, rng.randrange(0, 5000)]))
