"""What slipped: two edits: the common denominator is thought of on one side only, and signs are lost."""

STYLE = "dataclasses"


def drive(program, pairs):
    """The sum, and every pair in lowest terms."""
    found = program.total(pairs)
    terms = [program.Ratio.of(*pair) for pair in pairs]
    return (found.top, found.bottom), [(term.top, term.bottom) for term in terms]


def generate(rng):
    return ([(rng.randrange(-9, 10), rng.choice([-6, -3, 1, 2, 3, 4, 6])) for _ in range(rng.randrange(0, 5))],)
