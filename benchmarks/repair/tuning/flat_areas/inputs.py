"""What slipped: swapped functions: the edges of a common part are the outer ones."""

STYLE = "dataclasses"


def drive(program, one, other):
    """The common part and the area of both."""
    first, second = program.Room(*one), program.Room(*other)
    shared = first.common(second)
    return shared and (shared.x, shared.y, shared.width, shared.height), program.covered(first, second)


def generate(rng):
    return tuple(
        tuple([rng.randrange(0, 8), rng.randrange(0, 8), rng.randrange(1, 7), rng.randrange(1, 7)]) for _ in range(2)
    )
