"""The lines of TAP, the Test Anything Protocol: points, plans and subtests."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from kotef.checks.types import TestStatus

_PLAN: Final = re.compile(r"(?P<indent> *)1\.\.(?P<number>\d+)(?: *#.*)?$")
_POINT: Final = re.compile(
    r"(?P<indent> *)(?P<status>not ok|ok)\b(?: +(?P<number>\d+))?(?: +-(?=\s|$))?"
    r"(?P<name>.*?)(?: *# *(?P<directive>(?i:skip|todo))\S*(?: .*)?)?$"
)
_SUBTEST: Final = re.compile(r"(?P<indent> *)# Subtest(?:: (?P<name>.*))?$")
_ESCAPED: Final = re.compile(r"\\([#\\])")
_TIMED: Final = re.compile(r" # time=[\d.]+ ?\w*(?: \{)?$")
"""What node-tap puts behind a name: it differs from run to run."""
_BEGINNINGS: Final = ("1..", "# Subtest", "ok", "not ok")
"""A line that begins with none of these is not TAP: most lines are told so, at once."""
_STEP: Final = 4
"""Columns by which a subtest is indented."""


@dataclass(frozen=True, slots=True)
class Point:
    """One test point."""

    depth: int
    names: tuple[str, ...]
    """Names of the subtests above it, then its own; its number if it has no name."""
    status: "TestStatus"


@dataclass(slots=True)
class TapStream:
    """What was read of one or several TAP streams, one after the other."""

    points: list[Point] = field(default_factory=list)
    planned: int | None = None
    """Points outside of subtests that were announced; None without a plan."""

    @property
    def is_whole(self) -> bool:
        """Whether as many points outside of subtests are there as were planned."""
        return self.planned is not None and self.planned == sum(point.depth == 0 for point in self.points)


def read_tap(lines: Iterable[str]) -> TapStream:
    """The points of all lines; what is not TAP is passed over, as the protocol says."""
    stream = TapStream()
    above: dict[int, str] = {}
    for line in lines:
        if not line.lstrip(" ").startswith(_BEGINNINGS):
            continue
        if plan := _PLAN.match(line):
            if not plan["indent"]:
                stream.planned = (stream.planned or 0) + int(plan["number"])
        elif begun := _SUBTEST.match(line):
            above[len(begun["indent"]) // _STEP] = begun["name"] or ""
        elif found := _POINT.match(_TIMED.sub("", line)):
            depth = len(found["indent"]) // _STEP
            name = _ESCAPED.sub(r"\1", found["name"].strip()) or found["number"] or ""
            names = (*(above.get(level, "") for level in range(depth)), name)
            stream.points.append(Point(depth, tuple(filter(None, names)), _status(found)))
    return stream


def leaves(points: Iterable[Point]) -> list[Point]:
    """The points without those that only sum up subtests; one that fails although none of its subtests does stays."""
    listed = list(points)
    parents = {point.names[:-1] for point in listed}
    blamed = {point.names[:-1] for point in listed if point.status == "failed"}
    return [
        point
        for point in listed
        if point.names not in parents or (point.status == "failed" and point.names not in blamed)
    ]


def _status(found: re.Match[str]) -> "TestStatus":
    failed = found["status"] == "not ok"
    match (found["directive"] or "").upper():
        case "SKIP":
            return "skipped"
        case "TODO":
            return "xfailed" if failed else "xpassed"
        case _:
            return "failed" if failed else "passed"
