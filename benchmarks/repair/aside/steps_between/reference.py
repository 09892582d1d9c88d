"""Evenly spaced numbers as an iterator."""


class Steps:
    """From `start` towards `stop`, which is included if a step hits it; the step may be negative, never 0."""

    def __init__(self, start, stop, step):
        if step == 0:
            raise ValueError("no step at all")
        self.current = start
        self.stop = stop
        self.step = step

    def __iter__(self):
        return self

    def __next__(self):
        beyond = self.current > self.stop if self.step > 0 else self.current < self.stop
        if beyond:
            raise StopIteration
        value = self.current
        self.current += self.step
        return value
