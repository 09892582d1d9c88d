"""What slipped: the wrong variable: the sum so far is thrown away."""

STYLE = "recursion"
FUNCTION = "big_folders"


def folder(rng, depth):
    return {
        name: folder(rng, depth - 1) if depth and rng.random() < 0.6 else rng.randrange(0, 50)
        for name in rng.sample("abcde", rng.randrange(0, 4))
    }


def generate(rng):
    return folder(rng, 3), rng.randrange(0, 100)
