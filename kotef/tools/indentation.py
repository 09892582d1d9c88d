"""The indentation of lines, and how that of a block becomes that of the file."""

from collections.abc import Callable, Sequence


def indent_of(line: str) -> str:
    """The white space a line begins with."""
    return line[: len(line) - len(line.lstrip())]


def shifted(line: str, shift: Callable[[str], str | None] | None) -> str | None:
    """The line with its indentation shifted; None when that cannot be done. An empty line stays empty."""
    if not line.strip():
        return line
    indent = shift(indent_of(line)) if shift else None
    return None if indent is None else indent + line.lstrip()


def common_shift(pairs: Sequence[tuple[str, str]]) -> Callable[[str], str | None] | None:
    """How indentation of the search becomes that of the file (pairs: file, search); None when there is no one way."""
    if not pairs:
        return None
    have, want = pairs[0]
    if have.endswith(want):
        added = have[: len(have) - len(want)]
        if all(have == added + want for have, want in pairs):
            return lambda indent: added + indent
    if want.endswith(have):
        taken = want[: len(want) - len(have)]
        if all(want == taken + have for have, want in pairs):
            return lambda indent: indent[len(taken) :] if indent.startswith(taken) else None
    for width in (4, 2, 8, 3):
        spaces = " " * width
        for old, new in ((spaces, "\t"), ("\t", spaces)):
            if all(have == want.replace(old, new) for have, want in pairs):
                return lambda indent, old=old, new=new: indent.replace(old, new)  # type: ignore[misc]  # bound now
    return None
