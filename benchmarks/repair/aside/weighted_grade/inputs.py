"""What slipped: the wrong expression: divided by the number of marks, not by their weights."""

STYLE = "arithmetic"
FUNCTION = "weighted_grade"


def generate(rng):
    return ([(rng.randrange(1, 7), rng.randrange(0, 5)) for _ in range(rng.randrange(0, 7))],)
