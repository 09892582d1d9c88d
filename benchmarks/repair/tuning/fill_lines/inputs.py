"""What slipped: off by one: the blank between words is not counted."""

STYLE = "text layout"
FUNCTION = "fill_lines"


def generate(rng):
    return ["x" * rng.randrange(1, 8) for _ in range(rng.randrange(0, 12))], rng.randrange(3, 15)
