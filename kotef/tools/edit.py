"""Replacement of text in a file that the model remembers almost exactly."""

from collections.abc import Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from kotef.tools.block_match import BlockMatch, MatchStep, MismatchError, match_block, places
from kotef.tools.errors import ToolFault
from kotef.tools.files import WriteResult, refuse_placeholder, store
from kotef.tools.guard import FileGuard
from kotef.tools.syntax import broken_by, refuse_broken
from kotef.tools.text_diff import compare
from kotef.tools.workspace_files import locate, read_text


class Replacement(BaseModel):
    """One replacement."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    search: str
    replace: str
    all: bool = False


def edit_file(root: Path, path: str, edits: Sequence[Replacement], *, guard: FileGuard) -> WriteResult:
    """Apply the edits in order, all or none; the file keeps its encoding, line ends and last line as they are.

    Raises `ToolFault` that shows the nearest text when a search does not match.
    """
    place = locate(root, path, guard=guard)
    old = read_text(root, place)
    if not edits:
        raise ToolFault("schema_reject", "no edit was given; `edits` is a list of search and replace")
    new, notes, steps = old, list[str](), list[MatchStep]()
    for number, edit in enumerate(edits, 1):
        try:
            match = _match(place.name, new.plain, edit)
        except MismatchError as error:
            undone = "; no edit was applied" if len(edits) > 1 else ""
            message = f"{place.name}, edit {number} of {len(edits)}{undone}: {error}"
            raise ToolFault("exec_error", message, category="edit_mismatch") from error
        new = new.replaced(match.spans)
        steps.append(match.step)
        notes += [f"edit {number}: {match.note}"] if match.note else []
    if new.raw == old.raw:
        why = "the edits undo each other" if len(edits) > 1 else "the file already has the lines of replace"
        raise ToolFault("exec_error", f"{place.name}: nothing to change, {why}")
    refuse_placeholder(place, old.plain, new.plain)
    refuse_broken(place, old.plain, new.plain)
    store(root, place, old, new.raw)
    change = compare(old.plain, new.plain)
    report = "\n".join([f"edited {place.name}: {change.stat}", *notes, change.hunks])
    return WriteResult(place.name, report, change.hunks, tuple(steps))


def _match(name: str, text: str, edit: Replacement) -> BlockMatch:
    """Where the edit goes, and how it was found. Raises `MismatchError`."""
    search, replace = edit.search.replace("\r\n", "\n"), edit.replace.replace("\r\n", "\n")
    if not search:
        raise MismatchError("search is empty; copy the text to replace, or use write_file for the whole file")
    if search == replace:
        raise MismatchError("nothing to change, replace equals search")
    starts = _starts(text, search, overlapping=not edit.all)
    if not starts:
        return match_block(text, search, replace)
    exact = BlockMatch([(start, start + len(search), replace) for start in starts], "exact", 0, 0)
    if edit.all:
        return exact
    if len(starts) > 1:
        found = places([text.count("\n", 0, start) for start in starts])
        raise MismatchError(f"search is found {found}; add lines around it to make it unique, or set all")
    return match_block(text, search, replace) if _is_relative(name, text, exact, search) else exact


def _is_relative(name: str, text: str, exact: BlockMatch, search: str) -> bool:
    """Whether the lines after the first of a replacement are indented as if the one line searched were not.

    In Python that may also be what is meant; there only the parser can tell.
    """
    ((start, end, replace),) = exact.spans
    margin = text[text.rfind("\n", 0, start) + 1 : start]
    others = [line for line in replace.split("\n")[1:] if line.strip()]
    is_line = text[end : end + 1] in {"", "\n"} or search.endswith("\n")
    if (
        not margin
        or margin.strip()
        or not others
        or not replace.split("\n")[0].strip()
        or not is_line
        or "\n" in search.strip("\n")
    ):
        return False
    if search[0].isspace():
        return True
    if name.endswith((".py", ".pyi")):
        return broken_by(name, text, text[:start] + replace + text[end:]) is not None
    return any(not line.startswith(margin) for line in others)


def _starts(text: str, search: str, *, overlapping: bool) -> list[int]:
    """Where the search stands."""
    starts, at = list[int](), text.find(search)
    while at >= 0:
        starts.append(at)
        at = text.find(search, at + (1 if overlapping else len(search)))
    return starts
