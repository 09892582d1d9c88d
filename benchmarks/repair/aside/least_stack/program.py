"""A stack that knows its least value."""


class LeastStack:
    """Push, pop and least, each at once."""

    def __init__(self):
        self._values = []
        self._least = []

    def __len__(self):
        return len(self._values)

    def push(self, value):
        self._values.append(value)
        if not self._least or value < self._least[-1]:
            self._least.append(value)

    def pop(self):
        if not self._values:
            raise IndexError("the stack is empty")
        value = self._values.pop()
        if value == self._least[-1]:
            self._least.pop()
        return value

    def least(self):
        """None while it is empty."""
        return self._least[-1] if self._least else None
