"""What slipped: a missing call: the letters are not brought into order."""

STYLE = "dictionaries"
FUNCTION = "same_letters"


def generate(rng):
    return (["".join(rng.choice("abA") for _ in range(rng.randrange(1, 4))) for _ in range(rng.randrange(0, 8))],)
