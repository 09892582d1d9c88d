"""Storage of long outputs whose shown text was cut, for as long as the run may need them."""

import base64
import hashlib
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.files import os_fault, write_atomic
from kotef.redaction import redactor
from kotef.sandbox import HeadTail

NAME: Final = re.compile(r"tr_[a-z2-7]{12}")
MAX_BYTES: Final = 5_000_000
"""Bytes kept per text, in UTF-8; of a longer one, head and tail."""
_SAID: Final = 1_000
"""Bytes of them for the line that says what is left out."""
WHOLE: Final = MAX_BYTES - _SAID
"""Bytes of one output that are asked of whoever makes it: with a line of its own in the middle it is kept as it is."""
MAX_AGE: Final = 7 * 86_400
"""Seconds after which a text is removed, whichever run it belongs to."""


class Stash:
    """Whole texts of one run by an id derived from the text, so that equal texts are stored once.

    So a text has the same id after a kill, and what names an id need not be stored beside it.
    """

    def __init__(self, path: Path) -> None:
        """`path` is `stash/` of the run; it is made with the first text."""
        self.path = path

    def keep(self, text: str) -> str:
        """Store a text; returns its id for `read`. Raises `NoSpaceError` or `WorkspaceError`."""
        content = redactor().text(text).encode("utf-8", "replace")
        name = name_of(content)
        place = self.path / name
        if not place.exists():
            try:
                self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise os_fault(self.path, error) from error
            write_atomic(place, _bounded(content))
        return name

    def read(self, name: str) -> str | None:
        """The text, or None if there is none of that name."""
        if not NAME.fullmatch(name):
            return None
        try:
            file = os.open(self.path / name, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:
            return None
        with open(file, "rb") as stream:  # noqa: PTH123 - a descriptor, not a path
            return stream.read().decode("utf-8", "replace")


def too_old(runs: Path) -> dict[Path, int]:
    """Expired texts of all runs below this directory, with their sizes in bytes."""
    since = time.time() - MAX_AGE
    found = {}
    for path in runs.glob("*/stash/tr_*"):
        with suppress(OSError):  # it is gone already
            facts = path.lstat()
            if facts.st_mtime < since:
                found[path] = facts.st_size
    return found


def drop_old(runs: Path) -> None:
    """Remove them; each run does so when it begins."""
    for path in too_old(runs):
        with suppress(OSError):  # it is not ours to remove
            path.unlink()


def _bounded(content: bytes) -> bytes:
    if len(content) <= MAX_BYTES:
        return content
    ends = HeadTail(WHOLE)
    ends.add(content)
    return ends.text().encode("utf-8", "replace")


def name_of(content: bytes) -> str:
    """`tr_` and 12 digits of base 32 that follow from the content."""
    return "tr_" + base64.b32encode(hashlib.sha256(content).digest()[:8]).decode().lower()[:12]
