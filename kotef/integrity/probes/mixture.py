"""Several one-line changes of files in one tree."""

from collections.abc import Iterable, Mapping

_Lines = dict[int, bytes]


class Mixture:
    """Changed files, of which each is the sum of changes that touch different lines."""

    def __init__(self) -> None:
        """Without a change."""
        self._lines: dict[str, _Lines] = {}
        self._base: dict[str, list[bytes]] = {}

    def take(self, path: str, base: bytes, changed: bytes) -> bool:
        """Add a change of one file; False, and nothing is added, where it touches lines of an earlier one."""
        old, new = base.splitlines(keepends=True), changed.splitlines(keepends=True)
        if len(old) != len(new):
            if path in self._base:
                return False
            self._base[path], self._lines[path] = new, {-1: b""}
            return True
        lines = {at: line for at, (was, line) in enumerate(zip(old, new, strict=True)) if was != line}
        known = self._lines.get(path, {})
        if -1 in known or not known.keys().isdisjoint(lines):
            return False
        self._base.setdefault(path, old)
        self._lines[path] = known | lines
        return True

    def contents(self) -> Mapping[str, bytes]:
        """Path → whole content of each changed file."""
        return {path: b"".join(self._merged(path)) for path in self._base}

    def _merged(self, path: str) -> Iterable[bytes]:
        lines = self._lines[path]
        return (lines.get(at, line) for at, line in enumerate(self._base[path]))
