"""What slipped: a missing sign: a number moved to the other half keeps its minus."""

STYLE = "priority queues"
FUNCTION = "medians"


def generate(rng):
    return ([rng.randrange(-20, 20) for _ in range(rng.randrange(0, 10))],)
