"""What slipped: an incomplete condition: the field itself is counted."""

STYLE = "matrices"
FUNCTION = "mines_around"


def generate(rng):
    width, height = rng.randrange(1, 6), rng.randrange(1, 6)
    field = ["".join(rng.choice("..*") for _ in range(width)) for _ in range(height)]
    return field, rng.randrange(height), rng.randrange(width)
