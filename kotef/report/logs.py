"""The lines of a long output that show what failed."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Final

MOST_READ: Final = 256 * 1024
"""Bytes read, from the end."""
LINES: Final = 40
WIDTH: Final = 300

_COLOURS: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)")


def excerpt(run: Path, log: str, needles: Sequence[str] = ()) -> str:
    """Up to 40 lines of a log of the run: around the first line that holds one of `needles`, else its last ones.

    Empty if there is no such file, or it is not in the directory of the run: its name is read from a file there.
    """
    text = _tail(run, log)
    lines = [line.rstrip() for line in _COLOURS.sub("", text).replace("\r\n", "\n").splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    wanted = [needle.strip() for needle in needles if needle.strip()]
    found = next((at for needle in wanted for at, line in enumerate(lines) if needle in line), None)
    start = max(0, len(lines) - LINES if found is None else min(found - LINES // 2, len(lines) - LINES))
    shown = [line if len(line) <= WIDTH else f"{line[:WIDTH]}…" for line in lines[start : start + LINES]]
    before = ["…"] if start else []
    after = ["…"] if start + LINES < len(lines) else []
    return "\n".join([*before, *shown, *after])


def _tail(run: Path, log: str) -> str:
    try:
        path = (run / log).resolve(strict=True)
        if not (path.is_relative_to(run.resolve()) and path.is_file()):
            return ""
        with path.open("rb") as file:
            size = path.stat().st_size
            file.seek(max(0, size - MOST_READ))
            return file.read(MOST_READ).decode("utf-8", "replace")
    except (OSError, ValueError):
        return ""
