"""What slipped: the wrong function called: the right operand of a sum loses its factors."""

STYLE = "parsing"
FUNCTION = "calculate"


def formula(rng, depth):
    if depth == 0 or rng.random() < 0.25:
        return str(rng.randrange(0, 30))
    inner = f"{formula(rng, depth - 1)}{rng.choice('+-*')}{formula(rng, depth - 1)}"
    return f"({inner})" if rng.random() < 0.3 else inner


def generate(rng):
    return (formula(rng, 3),)
