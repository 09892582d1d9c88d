"""Small functions put together."""


def pipeline(*steps):
    """A function that applies all steps, the first one first; it stops with None as soon as a step gives None."""

    def run(value):
        for step in steps:
            value = step(value)
            if value is None:
                return None
        return value

    return run


def composed(*functions):
    """A function that applies all of them, the last one first, as in mathematics."""
    return pipeline(*reversed(functions))


def repeated(function, times):
    """The function applied so often to its own result."""
    return pipeline(*[function] * times)
