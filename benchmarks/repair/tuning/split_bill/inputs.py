"""What slipped: off by one: one cent too many is handed out."""

STYLE = "arithmetic"
FUNCTION = "split_bill"


def generate(rng):
    return (rng.randrange(0, 3000), rng.randrange(0, 12))
