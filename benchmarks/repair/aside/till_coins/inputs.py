"""What slipped: a missing update: the amount never gets smaller, and the loop never ends."""

STYLE = "arithmetic"
FUNCTION = "till_coins"


def generate(rng):
    return rng.randrange(0, 700), sorted(rng.sample([1, 2, 3, 5, 10, 50, 100], rng.randrange(1, 6)), reverse=True)
