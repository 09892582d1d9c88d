"""What slipped: the wrong comparison: any quote ends any other."""

STYLE = "state machines"
FUNCTION = "without_comments"


def generate(rng):
    return ("".join(rng.choice("""ab #'" #'" """) for _ in range(rng.randrange(0, 14))),)
