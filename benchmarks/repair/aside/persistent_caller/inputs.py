"""What slipped: off by one: one try more than asked for."""

STYLE = "exceptions"


def drive(program, failures, tries):
    """The end of the story, and how often the action was called."""
    calls = []

    def action():
        calls.append(1)
        if len(calls) <= failures:
            raise OSError
        return "done"

    try:
        return program.persistently(action, tries), len(calls)
    except program.GivenUp as error:
        return str(error), len(calls)


def generate(rng):
    return rng.randrange(0, 7), rng.randrange(1, 6)
