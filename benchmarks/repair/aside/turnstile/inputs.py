"""What slipped: the wrong value: the gate stays open."""

STYLE = "state machines"
FUNCTION = "simulate"


def generate(rng):
    return ("".join(rng.choice("cp") for _ in range(rng.randrange(0, 12))),)
