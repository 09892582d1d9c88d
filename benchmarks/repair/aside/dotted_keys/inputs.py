"""What slipped: the wrong argument: the path above is forgotten."""

STYLE = "recursion"
FUNCTION = "dotted_keys"


def tree(rng, depth):
    return {
        key: tree(rng, depth - 1) if depth and rng.random() < 0.5 else rng.randrange(9)
        for key in rng.sample("abcd", rng.randrange(0, 4))
    }


def generate(rng):
    return (tree(rng, 3),)
