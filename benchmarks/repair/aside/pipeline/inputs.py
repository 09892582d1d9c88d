"""What slipped: a missing call: the steps are applied in the wrong order."""

STYLE = "closures"
STEPS = {"a": lambda x: x + 3, "m": lambda x: x * 2, "n": lambda x: None if x > 40 else -x}


def drive(program, names, value):
    """The value after all steps, either way round, and repeated."""
    steps = [STEPS[name] for name in names]
    return (
        program.pipeline(*steps)(value),
        program.composed(*steps)(value),
        program.repeated(STEPS["a"], len(names))(value),
    )


def generate(rng):
    return [rng.choice("amn") for _ in range(rng.randrange(0, 6))], rng.randrange(-10, 30)
