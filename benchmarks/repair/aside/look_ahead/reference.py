"""See what comes next without taking it."""


class LookAhead:
    """An iterator with `peek`."""

    _NOTHING = object()

    def __init__(self, items):
        self._items = iter(items)
        self._seen = self._NOTHING

    def __iter__(self):
        return self

    def __next__(self):
        if self._seen is not self._NOTHING:
            item = self._seen
            self._seen = self._NOTHING
            return item
        return next(self._items)

    def peek(self, default=None):
        """The next item, or the default at the end."""
        if self._seen is self._NOTHING:
            self._seen = next(self._items, self._NOTHING)
        return default if self._seen is self._NOTHING else self._seen


def runs(items):
    """Lists of equal neighbours."""
    ahead = LookAhead(items)
    found = []
    for item in ahead:
        run = [item]
        while ahead.peek() == item and ahead.peek() is not None:
            run.append(next(ahead))
        found.append(run)
    return found
