"""What slipped: a wrong comparison: an equal least value is not noted."""

STYLE = "classes"


def drive(program, operations):
    """What every pop gave, and the least value after each step."""
    stack = program.LeastStack()
    results = []
    for value in operations:
        if value is not None:
            stack.push(value)
        elif len(stack):
            results.append(stack.pop())
        results.append(stack.least())
    return results


def generate(rng):
    return ([rng.choice([None, rng.randrange(5), rng.randrange(5)]) for _ in range(rng.randrange(0, 14))],)
