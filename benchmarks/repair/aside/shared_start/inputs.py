"""What slipped: a return at the wrong indentation, inside the loop."""

STYLE = "strings"
FUNCTION = "shared_start"


def generate(rng):
    head = "".join(rng.choice("ab") for _ in range(rng.randrange(0, 4)))
    return ([head + "".join(rng.choice("ab") for _ in range(rng.randrange(0, 4))) for _ in range(rng.randrange(0, 5))],)
