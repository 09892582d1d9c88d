"""What slipped: the wrong condition: it stops as soon as the shortest row is empty."""

STYLE = "generators"
FUNCTION = "take_turns"


def generate(rng):
    return tuple([rng.randrange(9) for _ in range(rng.randrange(0, 5))] for _ in range(rng.randrange(0, 5)))
