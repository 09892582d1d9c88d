"""The project's memory from run to run, and changes to its notes."""

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final, Literal, NamedTuple, get_args

from kotef.files import list_within, note_own_write, resolve_inside, write_below
from kotef.sdd.files import read_file

_MOST: Final = 1_000
FOLDER: Final = ".sdd/memory"
Action = Literal["add", "replace", "remove", "list"]
MemoryName = Literal["core", "daily", "context"]
"""`core` is shown at the start of every visit; `daily` is a log; `context` is about current work."""

MAX_ENTRY: Final = 300
"""Characters of one note."""
MOST: Final[dict[MemoryName, int]] = {"core": 20, "context": 50, "daily": 100}
"""Notes of one file. The log drops its oldest; the others are full."""
MAX_TOLD: Final = 2_000
"""Characters of core notes shown at the start of a visit."""
_OWN: Final = frozenset({"runs", "issues.md", ".gitignore"})
"""Paths that a run itself creates in `.sdd/`."""
_BULLETS: Final = ("- ", "* ")


class MemoryFault(Exception):  # noqa: N818  as a tool's fault, it is answered by the model
    """A change that cannot be made; the message names the way out."""


class Changed(NamedTuple):
    """A file of notes after a change."""

    text: str
    told: str
    """The change, in one line."""


def notes(text: str) -> list[str]:
    """The notes of a file: the items of its lists, one line each."""
    return [note for line in _lines(text) if (note := _held(line))]


def added(text: str, name: MemoryName, entry: str) -> Changed:
    """The file with one more note; an existing note is not repeated. Raises `MemoryFault`."""
    note, known = _note(entry), notes(text)
    if note in known:
        return Changed(text, f"{name} already has this note")
    dropped = ""
    if len(known) >= MOST[name]:
        if name != "daily":
            raise MemoryFault(f"{name} is full ({MOST[name]} notes); remove or replace one that matters less")
        text, dropped = _without(text, known[0]), "; the oldest was dropped"
    lines = _lines(text) or [f"# {name.capitalize()} memory", ""]
    return Changed("\n".join([*lines, f"- {note}"]) + "\n", f"added to {name}{dropped}")


def replaced(text: str, name: MemoryName, old: str, entry: str) -> Changed:
    """The file with a note in place of another. Raises `MemoryFault` unless `old` means one note."""
    was, note = _meant(text, name, old), _note(entry)
    if note != was and note in notes(text):
        raise MemoryFault(f"{name} already has this note; remove the other one")
    lines = [f"- {note}" if _held(line) == was else line for line in _lines(text)]
    return Changed("\n".join(lines) + "\n", f"replaced in {name}: {was}")


def removed(text: str, name: MemoryName, old: str) -> Changed:
    """The file without a note. Raises `MemoryFault` unless `old` means one note."""
    was = _meant(text, name, old)
    return Changed(_without(text, was), f"removed from {name}: {was}")


class MemoryFiles(NamedTuple):
    """The files of one workspace."""

    root: Path
    read_only: str = ""
    """Why writing is not allowed, in one line; empty if it is."""

    def read(self, name: MemoryName) -> str:
        """The text of a file; empty if there is none. Raises `MemoryFault` for one that cannot be read."""
        found = read_file(self.root, f"{FOLDER}/{name}.md")
        for problem in found.problems:
            raise MemoryFault(str(problem))
        return found.text.replace("\r\n", "\n")

    def write(self, name: MemoryName, text: str) -> None:
        """Write a file without following links. Raises `MemoryFault`, `WorkspaceError`."""
        path = f"{FOLDER}/{name}.md"
        top = Path(os.path.realpath(self.root))
        if resolve_inside(self.root, path, write=False) != top / path:
            raise MemoryFault(f"{path} leads elsewhere through a link; leave it to a person")
        note_own_write(top / path, text.encode())
        write_below(top, path, text.encode())

    def core_text(self) -> str:
        """The core notes for the start of a visit, the first ones as far as they go; empty when there are none."""
        try:
            lines = [f"- {note}" for note in notes(self.read("core"))]
        except MemoryFault:
            return ""
        while lines and len("\n".join(lines)) > MAX_TOLD:
            lines.pop()
        return "\n".join(lines)


def remembers(root: Path) -> bool:
    """Whether the project keeps a `.sdd/` of its own, where a memory has its place."""
    try:
        return not _OWN.issuperset(entry.name for entry in list_within(root, ".sdd", most=_MOST))
    except OSError:
        return False


def memory_of(root: Path, environment: Mapping[str, str]) -> MemoryFiles:
    """The memory of a workspace; read-only in CI, where no one would see new notes."""
    in_ci = environment.get("CI", "").strip().lower() not in {"", "0", "false", "no"}
    return MemoryFiles(root, "the memory is read-only in CI; report what you found in your final message" * in_ci)


def act(files: MemoryFiles, action: Action, name: MemoryName, entry: str, old: str) -> str:
    """Do what the model asks of its memory, and say what was done. Raises `MemoryFault`, `WorkspaceError`.

    A note of the log begins with its day (UTC).
    """
    if action == "list":
        return _listed(files)
    if files.read_only:
        raise MemoryFault(files.read_only)
    if name == "daily" and entry.strip():
        entry = f"{time.strftime('%Y-%m-%d', time.gmtime())} {entry}"
    text = files.read(name)
    match action:
        case "add":
            done = added(text, name, entry)
        case "replace":
            done = replaced(text, name, old, entry)
        case _:
            done = removed(text, name, old)
    if done.text != text:
        files.write(name, done.text)
    return done.told


def _listed(files: MemoryFiles) -> str:
    parts = []
    for name in get_args(MemoryName):
        lines = [f"- {note}" for note in notes(files.read(name))]
        parts.append("\n".join([f"{name}: {len(lines)} of {MOST[name]} notes", *lines]))
    return "\n".join(parts)


def _note(entry: str) -> str:
    note = " ".join(entry.split())
    if not note:
        raise MemoryFault("the entry is empty; say in one line what will help next time")
    if len(note) > MAX_ENTRY:
        raise MemoryFault(f"the entry has {len(note)} characters; shorten it to {MAX_ENTRY}")
    return note


def _meant(text: str, name: MemoryName, old: str) -> str:
    """The matching note: equal to `old`, or the only one that contains it."""
    wanted, known = " ".join(old.split()), notes(text)
    if wanted in known:
        return wanted
    matching = [note for note in known if wanted and wanted in note]
    if len(matching) == 1:
        return matching[0]
    if matching:
        raise MemoryFault(f"{len(matching)} notes of {name} contain that; give the whole note in `old`")
    raise MemoryFault(f"{name} has no such note; its notes: {'; '.join(known[:10]) or 'none'}")


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _held(line: str) -> str:
    """The note on a line; empty if there is none."""
    return " ".join(line[2:].split()) if line.startswith(_BULLETS) else ""


def _without(text: str, note: str) -> str:
    """The text without the first line that holds the note."""
    lines = _lines(text)
    at = next(at for at, line in enumerate(lines) if _held(line) == note)
    kept = [*lines[:at], *lines[at + 1 :]]
    return "\n".join(kept) + "\n" if kept else ""
