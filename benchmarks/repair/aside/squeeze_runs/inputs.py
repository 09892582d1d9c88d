"""What slipped: a missing statement: the last run is never written out."""

STYLE = "strings"
FUNCTION = "squeeze_runs"


def generate(rng):
    return ("".join(rng.choice("abc") * rng.randrange(1, 5) for _ in range(rng.randrange(0, 8))),)
