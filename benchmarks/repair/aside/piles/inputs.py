"""What slipped: off by one: equal piles are forbidden."""

STYLE = "recursion"
FUNCTION = "piles"


def generate(rng):
    return rng.randrange(0, 9), rng.randrange(0, 9)
