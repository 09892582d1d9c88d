"""What slipped: swapped operands of a subtraction."""

STYLE = "recursion"
FUNCTION = "formula_value"


def formula(rng, depth):
    if depth == 0 or rng.random() < 0.2:
        return rng.choice([rng.randrange(-5, 10), "x", "y"])
    return (rng.choice("+-*"), formula(rng, depth - 1), formula(rng, depth - 1))


def generate(rng):
    return formula(rng, 4), {"x": rng.randrange(-5, 6), "y": rng.randrange(-5, 6)}
