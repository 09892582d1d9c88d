"""What slipped: the wrong function: the widest margin is taken instead of the smallest."""

STYLE = "text layout"
FUNCTION = "unindent"


def generate(rng):
    return ("\n".join(" " * rng.randrange(0, 5) + rng.choice(["", "a", "b c"]) for _ in range(rng.randrange(1, 6))),)
