"""What slipped: the wrong attribute: the end of the first span is taken for the beginning."""

STYLE = "dataclasses"


def drive(program, pairs):
    """The joined spans as pairs, and who touches whom."""
    spans = [program.Span(low, high) for low, high in pairs]
    touching = [one.touches(other) for one in spans for other in spans]
    return [(span.low, span.high) for span in program.joined(spans)], touching


def pair(rng):
    low = rng.randrange(0, 20)
    return low, low + rng.randrange(0, 6)


def generate(rng):
    return ([pair(rng) for _ in range(rng.randrange(0, 7))],)
