"""What slipped: a wrong default: what is not in store counts as one."""

STYLE = "dictionaries"
FUNCTION = "ship"


def generate(rng):
    stock = {thing: rng.randrange(1, 7) for thing in rng.sample("abcd", rng.randrange(0, 5))}
    return stock, {thing: rng.randrange(1, 4) for thing in rng.sample("abcde", rng.randrange(0, 3))}
