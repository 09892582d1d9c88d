"""Reading, listing and writing of whole files for the model."""

import posixpath
import re
from collections.abc import Collection
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.failures.plural import counted
from kotef.files import Listed, list_within, write_atomic
from kotef.redaction import MarkError
from kotef.tools.block_match import MatchStep
from kotef.tools.errors import ToolFault
from kotef.tools.guard import FileGuard
from kotef.tools.text import Text, clip_line, lines_of
from kotef.tools.text_diff import added_lines, compare
from kotef.tools.truncated_output import Keep, note
from kotef.tools.workspace_files import Place, is_noise, locate, missing, read_text

MAX_LINE: Final = 2000
"""Characters of one line that are shown."""
MAX_VIEW: Final = 40_000
"""Characters of one view; the rest is another call."""
_MOST_LISTED: Final = 100_000
MAX_ENTRIES: Final = 200

_PLACEHOLDER: Final = re.compile(
    r"""\s*(?:\#|//|/\*|<!--|--|;|%|\{/\*)?\s*\(?\s*
    (?:(?:\.{3}|…)\s*.{0,40}?\b(?:rest|remain\w*|existing|unchanged|previous|omitted|same|other|as\ before)\b.{0,60}
     |(?:the\ )?(?:rest|remainder)\ of\ (?:the\ |this\ )?(?:code|file|class|function|module|method|content)s?\b.{0,60}
     |(?:existing|unchanged|remaining)\ (?:code|methods?|functions?|content|tests?)\b.{0,40}(?:\.{3}|…|unchanged|here).*
    )""",
    re.IGNORECASE | re.VERBOSE,
)


class WriteResult(NamedTuple):
    """The result of a writing tool."""

    path: str
    """Workspace-relative, of the file that was written."""
    report: str
    """For the model."""
    diff: str = ""
    """Hunks for a person who watches; empty where nothing changed."""
    steps: tuple[MatchStep, ...] = ()
    """How each edit was found; empty where the whole file was written."""


def view_file(
    root: Path, path: str, *, start: int = 1, lines: int = 400, keep: Keep | None = None, reads: Collection[Path] = ()
) -> str:
    """Numbered lines `start` (from 1) to `start + lines - 1`, and how many more there are. Raises `ToolFault`.

    `keep` takes the whole text where a line is too long to be shown; `reads` may be read beyond the workspace.
    """
    place = locate(root, path, reads=reads)
    if place.real.is_dir():
        raise ToolFault("exec_error", f"{place.name} is a directory; its entries:\n{list_dir(root, path, reads=reads)}")
    text = read_text(root, place)
    all_lines = lines_of(text.plain)
    total = len(all_lines)
    unusual = f", {text.note}" if text.note else ""
    if not total:
        return f"{place.name}: empty file{unusual}"
    if start > total:
        raise ToolFault("exec_error", f"{place.name} has {counted(total, 'line')}; start={start} is beyond the end")
    shown: list[str] = []
    size = 0
    for number, line in enumerate(all_lines[start - 1 : start - 1 + lines], start):
        shown.append(f"{number}\t{clip_line(line, MAX_LINE)}")
        size += len(shown[-1])
        if size > MAX_VIEW:
            break
    end = start + len(shown) - 1
    more = f"\n[{counted(total - end, 'more line')}: start={end + 1}]" if end < total else ""
    if keep and any(len(line) > MAX_LINE for line in all_lines[start - 1 : end]):
        more += f"\n[{note(keep(text.plain))}]"
    return f"{place.name}: lines {start}-{end} of {total}{unusual}\n" + "\n".join(shown) + more


def list_dir(root: Path, path: str = ".", *, reads: Collection[Path] = ()) -> str:
    """The entries of a directory, sorted, directories with `/` and links with `@`. Raises `ToolFault`."""
    place = locate(root, path, reads=reads)
    try:
        entries = [(entry.name, _mark(entry)) for entry in list_within(place.top, place.below, most=_MOST_LISTED)]
    except FileNotFoundError as error:
        raise missing(root, place) from error
    except NotADirectoryError as error:
        raise ToolFault("exec_error", f"{place.name} is a file; use view_file") from error
    except OSError as error:
        raise ToolFault("exec_error", f"{place.name}: {(error.strerror or str(error)).lower()}") from error
    shown, noise = [], []
    for name, mark in entries:
        if mark == "/" and is_noise(name, posixpath.normpath(f"{place.name}/{name}")):
            noise.append(name)
        else:
            shown.append(name + mark)
    lines = [
        f"{place.name}: {counted(len(shown), 'entry', 'entries')}" if shown else f"{place.name}: empty",
        *shown[:MAX_ENTRIES],
    ]
    if len(shown) > MAX_ENTRIES:
        lines.append(f"[{len(shown) - MAX_ENTRIES} more; find_files with a glob shows a part]")
    if noise:
        lines.append(f"[{len(noise)} not listed: {', '.join(noise)}]")
    return "\n".join(lines)


def _mark(entry: Listed) -> str:
    if entry.is_directory:
        return "/"
    return "@" if entry.is_link else ""


def write_file(root: Path, path: str, content: str, *, guard: FileGuard) -> WriteResult:
    """Write a whole file; an existing one keeps its encoding, byte order mark and line ends. Raises `ToolFault`."""
    place = locate(root, path, guard=guard)
    if not place.real.exists():
        store(root, place, Text(content), content)
        report = f"created {place.name} ({counted(len(lines_of(content)), 'line')})"
        return WriteResult(place.name, report, added_lines(content))
    old = read_text(root, place)
    plain = content.replace("\r\n", "\n")
    new = plain.replace("\n", old.newline) if "\n" in old.raw else content
    if new == old.raw:
        return WriteResult(place.name, f"{place.name} already has this content")
    refuse_placeholder(place, old.plain, plain)
    store(root, place, old, new)
    change = compare(old.plain, plain)
    return WriteResult(place.name, f"wrote {place.name}: {change.stat}", change.hunks)


def refuse_placeholder(place: Place, old: str, new: str) -> None:
    """Raise `ToolFault` if lines of the file would be replaced by a placeholder."""
    before = set(old.split("\n"))
    for number, line in enumerate(new.split("\n"), 1):
        if line not in before and _PLACEHOLDER.fullmatch(line) and compare(old, new).removed:
            raise ToolFault(
                "schema_reject",
                f"{place.name} was not written: line {number} ({line.strip()[:80]!r}) replaces code that would be "
                "lost; use edit_file for the parts that change, or write the whole text",
            )


def store(root: Path, place: Place, text: Text, raw: str) -> None:
    """Write `raw` in the encoding of `text`. Raises `ToolFault`, and `NoSpaceError` when only a person can help."""
    try:
        write_atomic(place.real, encoded(place, text, raw), root=root)
    except NoSpaceError:
        raise
    except WorkspaceError as error:
        raise ToolFault("exec_error", f"not written: {error}") from error


def encoded(place: Place, text: Text, raw: str) -> bytes:
    """`raw` in the encoding of `text`. Raises `ToolFault` that names the character it cannot hold, or the secret."""
    try:
        return text.encode(raw)
    except UnicodeEncodeError as error:
        character = f"U+{ord(raw[error.start]):04X}"
        message = f"{place.name} is {text.encoding} and cannot encode the character {character}; write it differently"
        raise ToolFault("exec_error", message) from error
    except MarkError as error:
        raise ToolFault("schema_reject", f"{place.name} was not written: {error}") from error
