"""What slipped: a boundary: one answer more than allowed is kept."""

STYLE = "closures"


def drive(program, size, numbers):
    """Which calls reached the function, and the answers."""
    calls = []

    def slow(x):
        calls.append(x)
        return 10 - x

    ask = program.remembering(slow, size)
    return [ask(x) for x in numbers], calls, ask.forget()


def generate(rng):
    return rng.randrange(1, 4), [rng.randrange(6) for _ in range(rng.randrange(0, 14))]
