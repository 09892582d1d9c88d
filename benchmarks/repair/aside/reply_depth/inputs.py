"""What slipped: a missing step: the level itself is not counted."""

STYLE = "recursion"
FUNCTION = "reply_depth"


def post(rng, depth):
    return ("t", [post(rng, depth - 1) for _ in range(rng.randrange(0, 3))] if depth else [])


def generate(rng):
    return (post(rng, 5),)
