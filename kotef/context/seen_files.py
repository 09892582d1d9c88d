"""Files that the model has seen, and files that it has changed."""

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple, Self

from pydantic import BaseModel, ConfigDict

MAX_LISTED: Final = 200
"""Names kept of files that were only listed, the first in order."""

_HIT: Final = re.compile(r"(?P<name>[^\0]+?):\d+: ")
"""How grep begins a line."""
_FOLDER: Final = re.compile(r"(?P<name>[^\0]*): \d+ entries")
"""How list_dir begins."""


class Modified(BaseModel):
    """A file as the coder's tools last wrote it."""

    model_config = ConfigDict(frozen=True)

    path: str
    sha256: str
    """Hash of its bytes; `missing` if it was deleted."""


class Files(BaseModel):
    """Paths relative to the workspace, each list sorted and without doubles."""

    model_config = ConfigDict(frozen=True)

    read: tuple[str, ...] = ()
    """Shown by view_file, wholly or in part."""
    listed: tuple[str, ...] = ()
    """Named by list_dir, find_files or grep, but not read."""
    modified: tuple[Modified, ...] = ()

    def merged(self, later: Self) -> Self:
        """Both together; the later one wins for files modified in both."""
        read = {*self.read, *later.read}
        hashes = {one.path: one for one in (*self.modified, *later.modified)}
        return type(self)(
            read=tuple(sorted(read)),
            listed=_listed({*self.listed, *later.listed} - read),
            modified=tuple(hashes[path] for path in sorted(hashes)),
        )


class Touched(NamedTuple):
    """The files that one tool call touched, with hashes of their bytes by path."""

    tool: str
    result: str
    read: Mapping[str, str]
    wrote: Mapping[str, str]


def files_of(calls: Iterable[Touched]) -> Files:
    """The ledger of these calls; the same calls in any order give the same, except for what was modified twice."""
    read, named, wrote = set[str](), set[str](), dict[str, str]()
    for call in calls:
        read |= call.read.keys()
        named |= names_in(call.tool, call.result)
        wrote |= call.wrote
    return Files(
        read=tuple(sorted(read)),
        listed=_listed(named - read),
        modified=tuple(Modified(path=path, sha256=wrote[path]) for path in sorted(wrote)),
    )


def _listed(names: set[str]) -> tuple[str, ...]:
    return tuple(sorted(names)[:MAX_LISTED])


def names_in(tool: str, result: str) -> set[str]:
    """The files a listing tool named, as far as its lines show; directories, links and notes are left out."""
    lines = [line for line in result.split("\n") if line and not line.startswith("[")]
    match tool:
        case "find_files":
            return set() if lines and lines[0].startswith("no file matches ") else set(lines)
        case "grep":
            return {match["name"] for line in lines if (match := _HIT.match(line))}
        case "list_dir" if lines and (folder := _FOLDER.fullmatch(lines[0])):
            below = "" if folder["name"] == "." else f"{folder['name']}/"
            return {below + line for line in lines[1:] if not line.endswith(("/", "@"))}
        case _:
            return set()


class Known:
    """The states in which the coder has seen or left the files of this visit.

    The ground is the conversation, so a resume knows the same; what a turn has written is known before its answer is
    on record.
    """

    def __init__(self) -> None:
        self._states: dict[str, set[str]] = {}

    def learn(self, states: Mapping[str, str]) -> None:
        """Record that these files are known in these states (hashes by path)."""
        for path, state in states.items():
            self._states.setdefault(path, set()).add(state)

    def objection(self, path: str, now: str) -> str:
        """Why this file, whose hash is `now`, is not to be edited yet, and the way out; empty when it may be."""
        states = self._states.get(path)
        if now == "missing" or (states and now in states):
            return ""
        if not states:
            return f"{path} was not read in this conversation; look at it with view_file first, then edit it"
        return f"{path} has changed since you read it; look at it again with view_file, then edit it"
