"""Ranking of the edits that pass, likeliest first."""

import ast
import difflib
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from itertools import starmap, takewhile
from operator import eq
from typing import Final

from kotef.failures.plural import counted
from kotef.repair.candidates import Candidate
from kotef.repair.fault_localization import Traces
from kotef.repair.source import PythonSource
from kotef.repair.types import Patch
from kotef.source import SourceEdit

_PER_NODE: Final = 0.07
"""Cost of each node the program grows by; shrinking pays half as much."""
_LAST: Final = 10.0
"""Cost of an anti-pattern: after everything else."""
_COMPARED_LINES: Final = 400
"""Most lines of a file that are compared to say what changed."""
_SHOWN: Final = 80
"""Characters of old and new text in a rationale."""


def cost(candidate: Candidate, sources: Mapping[str, PythonSource]) -> float:
    """What is tried first ranks first, unless it makes the program longer or is an anti-pattern."""
    grown = sum(
        _nodes(source.content_with(edits)) - _nodes(source.content) for source, edits in by_file(candidate, sources)
    )
    size = _PER_NODE * grown if grown > 0 else _PER_NODE / 2 * grown
    return candidate.cost + max(size, -0.3) + (_LAST if candidate.anti else 0.0)


def by_file(
    candidate: Candidate, sources: Mapping[str, PythonSource]
) -> Iterable[tuple[PythonSource, tuple[SourceEdit, ...]]]:
    """Each file with its edits."""
    for path in dict.fromkeys(edit.path for edit in candidate.edits):
        yield sources[path], tuple(edit for edit in candidate.edits if edit.path == path)


def ranked(candidates: Iterable[Candidate], sources: Mapping[str, PythonSource]) -> list[Candidate]:
    """By cost, and of those that are the same program the first alone."""
    found: dict[Hashable, Candidate] = {}
    for candidate in sorted(candidates, key=lambda candidate: cost(candidate, sources)):
        found.setdefault(meaning(candidate, sources), candidate)
    return list(found.values())


def meaning(candidate: Candidate, sources: Mapping[str, PythonSource]) -> tuple[tuple[str, str | bytes], ...]:
    """Each edited file as a program, layout and parentheses aside: alike for edits that only look different."""
    return tuple((source.path, _program(source.content_with(edits))) for source, edits in by_file(candidate, sources))


def _program(content: bytes) -> str | bytes:
    try:
        return ast.dump(ast.parse(content))
    except (SyntaxError, RecursionError):  # it passed in an interpreter with newer syntax than ours
        return content


def tidied(candidate: Candidate, sources: Mapping[str, PythonSource]) -> Candidate:
    """The same program without parentheses that an edit has left without purpose: `(n - 1)` → `(n)`."""
    edits = candidate.edits
    for number, edit in enumerate(edits):
        bare = _without_parentheses(sources[edit.path], edit)
        if bare is not None:
            changed = replace(candidate, edits=(*edits[:number], bare, *edits[number + 1 :]))
            if meaning(changed, sources) == meaning(candidate, sources):
                candidate, edits = changed, changed.edits
    return candidate


def _without_parentheses(source: PythonSource, edit: SourceEdit) -> SourceEdit | None:
    """The edit with the pair of parentheses around it taken in and left out; None if none are there."""
    before, after = source.text[: edit.start].rstrip(" "), source.text[edit.end :].lstrip(" ")
    if not (edit.text.strip() and before.endswith("(") and after.startswith(")")):
        return None
    return replace(edit, start=len(before) - 1, end=len(source.text) - len(after) + 1, text=edit.text.strip())


def as_patch(candidate: Candidate, sources: Mapping[str, PythonSource], traces: Traces, *, doubt: str = "") -> Patch:
    """The candidate as a person reads it."""
    candidate = tidied(candidate, sources)
    files = {source.path: source.content_with(edits) for source, edits in by_file(candidate, sources)}
    places = zip(candidate.edits, candidate.units, strict=True)
    in_order = sorted(
        places, key=lambda place: (place[0].path != candidate.edits[0].path, place[0].path, place[0].start)
    )
    return Patch(
        path=candidate.edits[0].path,
        files=files,
        diff="".join(_diff(sources[path], content) for path, content in files.items()),
        operator=" + ".join(candidate.operators),
        rationale="; ".join(
            _told(sources[edit.path], edit, unit.name if unit else "the module") for edit, unit in in_order
        ),
        score=round(1 / (1 + max(0.0, cost(candidate, sources))), 4),
        covering_tests=min(_covering(sources[edit.path], edit, traces) for edit in candidate.edits),
        doubt=doubt,
    )


def diff_of(candidate: Candidate, sources: Mapping[str, PythonSource]) -> str:
    """The candidate's unified diff."""
    candidate = tidied(candidate, sources)
    return "".join(_diff(source, source.content_with(edits)) for source, edits in by_file(candidate, sources))


def _diff(source: PythonSource, content: bytes) -> str:
    old, new = (text.decode("utf-8").splitlines(keepends=True) for text in (source.content, content))
    lines = difflib.unified_diff(old, new, f"a/{source.path}", f"b/{source.path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def _nodes(content: bytes) -> int:
    try:
        return sum(1 for _ in ast.walk(ast.parse(content)))
    except SyntaxError:  # it passed in an interpreter with newer syntax than ours
        return 0


def _told(source: PythonSource, edit: SourceEdit, where: str) -> str:
    replaced = source.text[edit.start : edit.end]
    alike = sum(takewhile(bool, starmap(eq, zip(replaced, edit.text, strict=False))))
    at = f"in `{where}` ({source.path}:{source.line_at(edit.start + alike)})"
    if replaced and edit.text and "\n" not in replaced + edit.text:
        return f"{at}: `{_short(replaced.strip())}` → `{_short(edit.text.strip())}`"

    old_lines, new_lines = source.text.splitlines(), source.text_with((edit,)).splitlines()
    if len(old_lines) >= _COMPARED_LINES:
        return f"{at}: {counted(len(replaced), 'character')} replaced"
    removed, added = _lines_changed(old_lines, new_lines)
    return f"{at}: {_change_in_words(removed, added)}"


def _lines_changed(old: list[str], new: list[str]) -> tuple[str, str]:
    """What only the old lines have, and what only the new ones have, each in one line."""
    changed = [line for line in difflib.ndiff(old, new) if line[2:].strip()]
    removed, added = (
        _short("; ".join(line[2:].strip() for line in changed if line.startswith(mark))) for mark in ("- ", "+ ")
    )
    return removed, added


def _change_in_words(removed: str, added: str) -> str:
    if sorted(removed.split("; ")) == sorted(added.split("; ")):
        return f"`{removed}` moved"
    if removed and added:
        return f"`{removed}` → `{added}`"
    return f"`{added}` added" if added else f"`{removed}` removed"


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _covering(source: PythonSource, edit: SourceEdit, traces: Traces) -> int:
    """Tests that run the edited lines; of an insertion, those that run a line beside it."""
    first, last = source.line_at(edit.start), source.line_at(max(edit.start, edit.end - 1))
    exact = traces.covering(source.path, range(first, last + 1))
    return exact or traces.covering(source.path, range(max(1, first - 1), last + 2))
