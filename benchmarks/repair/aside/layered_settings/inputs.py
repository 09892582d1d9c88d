"""What slipped: a missing copy: the defaults themselves are changed."""

STYLE = "dictionaries"
FUNCTION = "layered"


def layer(rng, depth):
    return {
        key: layer(rng, depth - 1) if depth and rng.random() < 0.4 else rng.randrange(4)
        for key in rng.sample("abc", rng.randrange(0, 4))
    }


def generate(rng):
    return layer(rng, 2), layer(rng, 2)
