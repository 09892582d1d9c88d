"""What slipped: the wrong constant: capitals are counted from the small a."""

STYLE = "strings"
FUNCTION = "shift_letters"


def generate(rng):
    return "".join(rng.choice("abcxyzABCXYZ mnMN,.1") for _ in range(rng.randrange(0, 15))), rng.randrange(-40, 60)
