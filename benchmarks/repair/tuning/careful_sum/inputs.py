"""What slipped: the wrong error is expected."""

STYLE = "exceptions"
FUNCTION = "careful_sum"


def generate(rng):
    return [
        {rng.choice("nnm"): rng.choice(["1", " 20", "1,000", "-3", "x", ""])} for _ in range(rng.randrange(0, 6))
    ], "n"
