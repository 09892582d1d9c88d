"""What slipped: beyond one edit: neither the empty nor the last paragraph is thought of."""

STYLE = "text layout"
FUNCTION = "paragraphs"


def generate(rng):
    return ("\n".join(rng.choice(["", "", "a", " b ", "c d"]) for _ in range(rng.randrange(0, 9))),)
