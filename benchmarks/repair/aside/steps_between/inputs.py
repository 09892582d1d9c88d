"""What slipped: the wrong comparison: it never ends downwards."""

STYLE = "iterators"


def drive(program, start, stop, step):
    """All steps."""
    return list(program.Steps(start, stop, step))


def generate(rng):
    return rng.randrange(-10, 11), rng.randrange(-10, 11), rng.choice([-3, -2, -1, 1, 2, 3])
