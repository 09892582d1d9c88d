"""What slipped: the wrong comparison: a call exactly one window ago still counts."""

STYLE = "closures"


def drive(program, calls, window, times):
    """What each call was answered."""
    may_call = program.call_limit(calls, window)
    return [may_call(now) for now in times]


def generate(rng):
    return rng.randrange(0, 4), rng.randrange(1, 8), sorted(rng.randrange(0, 30) for _ in range(rng.randrange(0, 12)))
