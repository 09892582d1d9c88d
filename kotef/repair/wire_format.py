"""The wire format in which candidates are sent to the worker."""

from collections.abc import Mapping
from typing import Any

from kotef.repair.candidates import Candidate
from kotef.repair.rank import by_file
from kotef.repair.source import PythonSource
from kotef.source import SourceEdit


def units_of(candidate: Candidate, sources: Mapping[str, PythonSource]) -> list[dict[str, Any]]:
    """What has to be exchanged, as `worker.hot_swap` takes it: functions, assignments of the module, or all of it."""
    return [unit for source, edits in by_file(candidate, sources) for unit in _of_file(source, edits)]


def is_undoable(units: list[dict[str, Any]]) -> bool:
    """Whether the worker can take them back; otherwise they need a process of their own."""
    return not any("module" in unit for unit in units)


def size_of(units: list[dict[str, Any]]) -> int:
    """Characters to compile."""
    return sum(len(unit.get("source", "")) + len(unit.get("module", "")) for unit in units)


def _of_file(source: PythonSource, edits: tuple[SourceEdit, ...]) -> list[dict[str, Any]]:
    inside: dict[tuple[str, ...], list[SourceEdit]] = {}
    made: list[dict[str, Any]] = []
    for edit in edits:
        unit = source.unit_of((edit,))
        if unit is not None:
            inside.setdefault(unit.trail, []).append(edit)
            continue
        assigned = source.assignment(edit)
        if assigned is None:
            return [{"path": source.path, "module": source.content_with(edits).decode("utf-8")}]
        made.append({"path": source.path, "names": list(assigned[0]), "assign": assigned[1]})
    for own in inside.values():
        unit = source.unit_of(tuple(own))
        if unit is None:  # two functions of one name
            return [{"path": source.path, "module": source.content_with(edits).decode("utf-8")}]
        body = source.span(unit.node.body[0])[0]
        made.append(
            {
                "path": source.path,
                "source": source.standalone(unit, tuple(own)),
                "trail": list(unit.trail),
                "line": unit.first_line,
                "defaults": any(edit.start < body for edit in own),
            }
        )
    return made
