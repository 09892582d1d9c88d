"""What slipped: a wrong slice: the head is kept instead of the tail."""

STYLE = "strings"
FUNCTION = "mask_number"


def generate(rng):
    return "".join(rng.choice("0123456789 ") for _ in range(rng.randrange(0, 20))), rng.randrange(1, 6)
