"""What slipped: two edits: both fences stand one field too far."""

STYLE = "state machines"
FUNCTION = "run_robot"


def generate(rng):
    return "".join(rng.choice("FFFLR") for _ in range(rng.randrange(0, 20))), rng.randrange(1, 6), rng.randrange(1, 6)
