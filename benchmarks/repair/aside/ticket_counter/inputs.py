"""What slipped: the wrong comparison: the last number is never given out."""

STYLE = "closures"


def drive(program, first, last, calls):
    """The numbers given out."""
    ticket = program.ticket_counter(first, last)
    return [ticket() for _ in range(calls)]


def generate(rng):
    first = rng.randrange(0, 5)
    return first, first + rng.randrange(0, 5), rng.randrange(0, 12)
