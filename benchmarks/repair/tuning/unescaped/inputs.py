"""What slipped: a missing update: the escaped letter is read again."""

STYLE = "parsing"
FUNCTION = "split_escaped"


def generate(rng):
    return "".join(rng.choice("ab,\\nt") for _ in range(rng.randrange(0, 12))), ","
