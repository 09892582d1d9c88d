"""What slipped: a wrong base case: an exact payment does not count."""

STYLE = "recursion"
FUNCTION = "stamp_ways"


def generate(rng):
    return rng.randrange(0, 12), rng.sample([1, 2, 3, 5, 7], rng.randrange(1, 4))
