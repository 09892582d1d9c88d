"""What slipped: the wrong attribute: the left branch is walked twice."""

STYLE = "iterators"


def drive(program, values):
    """The values in the order of the tree."""
    return list(program.SortedTree(values))


def generate(rng):
    return ([rng.randrange(30) for _ in range(rng.randrange(0, 10))],)
