"""What slipped: a missing call: the title is not put into small letters."""

STYLE = "strings"
FUNCTION = "page_address"


def generate(rng):
    return "".join(rng.choice("abcXYZ12 -!? ") for _ in range(rng.randrange(0, 20))), rng.randrange(3, 15)
