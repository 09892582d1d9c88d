"""The `apply_patch` tool: a patch over several files, applied whole or not at all."""

import os
import stat
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.failures.plural import counted
from kotef.files import read_within, remove_file, write_atomic
from kotef.tools import patch_format
from kotef.tools.block_match import MatchStep
from kotef.tools.errors import ToolFault
from kotef.tools.files import encoded, refuse_placeholder
from kotef.tools.guard import FileGuard
from kotef.tools.syntax import refuse_broken
from kotef.tools.text import Text, clip_middle
from kotef.tools.text_diff import compare
from kotef.tools.workspace_files import Place, locate, missing, read_text

MAX_REPORT: Final = 12_000
"""Characters shown of one patch."""
MAX_REMOVED: Final = 50_000_000
"""Largest file, in bytes, that a patch may delete; it is kept until the patch is complete."""


class _Step(NamedTuple):
    """The change of one file; None: it does not exist."""

    place: Place
    old: bytes | None
    new: bytes | None
    mode: int | None = None
    """Permissions of a file that is created or removed, unless it is new."""
    how: tuple[MatchStep, ...] = ()
    """How each hunk was found."""


def apply_patch(
    root: Path,
    text: str,
    *,
    guard: FileGuard,
    wrote: Callable[[str], None],
    edited: Callable[[str, str, Sequence[MatchStep]], None] = lambda _path, _diff, _steps: None,
) -> str:
    """Apply a patch; files keep their encodings and line ends. Returns the answer to the model.

    Everything is read and fitted before the first file is written. `wrote` is told of each file right after it was,
    `edited` of its hunks, and how they were found, once all are.

    Raises `ToolFault`; then no file is changed.
    """
    try:
        sections = patch_format.parse(text)
    except patch_format.PatchError as error:
        raise ToolFault("schema_reject", str(error)) from error
    steps: list[_Step] = []
    lines: list[str] = []
    for section in sections:
        made, line = _steps(root, section, guard)
        steps += made
        lines.append(line)
    names = [step.place.name for step in steps]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ToolFault("schema_reject", f"{', '.join(twice)}: changed by two sections; put them into one")
    _write(root, steps, wrote)
    for step in steps:
        edited(step.place.name, compare(_readable(step.old), _readable(step.new)).hunks, step.how)
    return clip_middle("\n".join(lines), MAX_REPORT)


def targets(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The files a call is about to change; none when its patch cannot be read."""
    try:
        sections = patch_format.parse(str(arguments.get("patch", "")))
    except patch_format.PatchError:
        return ()
    return tuple(path for section in sections for path in section.paths)


def rest(arguments: Mapping[str, Any], changed: Collection[str]) -> dict[str, Any] | None:
    """The call that completes the patch after these files were changed; None if it is complete."""
    left = patch_format.remaining(patch_format.parse(str(arguments["patch"])), changed)
    return {"patch": patch_format.render(left)} if left else None


def _steps(root: Path, section: patch_format.PatchSection, guard: FileGuard) -> tuple[list[_Step], str]:
    """The steps of one section in order, and their report."""
    place = locate(root, section.path, guard=guard)
    if (section.kind == "Delete" or section.moved_to) and (root / section.path).is_symlink():
        raise ToolFault("exec_error", f"{section.path} is a link to {place.name}; name that, or use run_command")
    if section.kind == "Add":
        _refuse_existing(place, "use Update File, or write_file to replace all of it")
        content = "".join(f"{line}\n" for line in section.content)
        new = encoded(place, Text(content), content)
        return [_Step(place, None, new)], f"added {place.name} ({counted(len(section.content), 'line')})"
    if section.kind == "Delete":
        return [_Step(place, _content(root, place), None, _mode(place))], f"deleted {place.name}"
    before = read_text(root, place)
    try:
        after, notes, how = patch_format.fit(before, section.hunks)
    except patch_format.PatchError as error:
        message = f"{place.name}, {error}\nNo file of the patch was changed."
        raise ToolFault("exec_error", message, category="edit_mismatch") from error
    refuse_placeholder(place, before.plain, after.plain)
    refuse_broken(place, before.plain, after.plain)
    old, new = before.encode(before.raw), encoded(place, before, after.raw)
    change = compare(before.plain, after.plain)
    if not section.moved_to:
        if new == old:
            raise ToolFault("exec_error", f"{place.name}: its hunks change nothing")
        return [_Step(place, old, new, how=how)], "\n".join(
            [f"updated {place.name}: {change.stat}", *notes, change.hunks]
        )
    there = locate(root, section.moved_to, guard=guard)
    _refuse_existing(there, "move it elsewhere, or delete the existing file earlier in the same patch")
    mode = _mode(place)
    step = f"moved {place.name} to {there.name}: {change.stat if new != old else 'unchanged'}"
    return [_Step(there, None, new, mode, how), _Step(place, old, None, mode)], "\n".join(
        part for part in (step, *notes, change.hunks) if part
    )


def _readable(content: bytes | None) -> str:
    return (content or b"").decode("utf-8", "replace").replace("\r\n", "\n")


def _refuse_existing(place: Place, hint: str) -> None:
    if os.path.lexists(place.real):
        raise ToolFault("exec_error", f"{place.name} already exists; {hint}")


def _mode(place: Place) -> int:
    return stat.S_IMODE(place.real.stat().st_mode)


def _content(root: Path, place: Place) -> bytes:
    try:
        return read_within(place.top, place.below, largest=MAX_REMOVED)
    except FileNotFoundError as error:
        raise missing(root, place) from error
    except OSError as error:
        raise ToolFault("exec_error", f"{place.name}: {(error.strerror or str(error)).lower()}") from error


def _write(root: Path, steps: list[_Step], wrote: Callable[[str], None]) -> None:
    """Write all steps in order; when one fails, those before it are undone."""
    done: list[_Step] = []
    try:
        for step in steps:
            _make(root, step.place, step.new, step.mode)
            done.append(step)
            wrote(step.place.name)
    except WorkspaceError as error:
        for step in reversed(done):
            with suppress(WorkspaceError):  # what cannot be undone is seen by the next look at the tree
                _make(root, step.place, step.old, step.mode)
        if isinstance(error, NoSpaceError):
            raise
        raise ToolFault("exec_error", f"not written: {error}; no file of the patch was changed") from error


def _make(root: Path, place: Place, content: bytes | None, mode: int | None) -> None:
    """Write or remove a file. Raises `WorkspaceError`."""
    if content is None:
        remove_file(place.real, root=root)
    else:
        write_atomic(place.real, content, root=root, mode=mode)
