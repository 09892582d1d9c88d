"""JavaScript test runners that print TAP: tape and node-tap."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Final

from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.checks.types import RED, TestStatus
from kotef.integrity import name_part, numbered, test_id

_POINT: Final = re.compile(
    r"(?P<indent>(?:    )*)(?P<status>not ok|ok)(?: \d+)?(?: -)?(?: (?P<name>.*?))?"
    r"(?: # (?P<directive>SKIP|TODO)\b.*?)?(?: # time=\S+)?(?P<opens> \{)?$"
)
_PLAN: Final = re.compile(r"(?:    )*1\.\.(?P<number>\d+)(?: *#.*)?$")
_STEP: Final = 4
"""Blanks by which the points of a subtest are indented."""
_SUBTEST: Final = re.compile(r"(?P<indent>(?:    )*)# Subtest: (?P<name>.*)")
_HEADING: Final = re.compile(r"# (?!(?:tests|pass|fail|skip|todo) +\d+$|ok$)(?P<name>\S.*)")
"""The title of a test of tape, and not one of its closing lines."""
_CLOSING_OF_TAPE: Final = re.compile(r"# pass  \d+$")


def tape_lines(left: Leavings) -> Statuses | None:
    """Each assertion below the title of its test, because tape counts assertions; equal ones are numbered."""
    lines = left.out
    if not any(_CLOSING_OF_TAPE.match(line) for line in lines):
        return None
    tests: Statuses = {}
    seen: Counter[str] = Counter()
    title = ""
    for line in lines:
        if heading := _HEADING.match(line):
            title = heading["name"]
        elif (point := _POINT.match(line)) and not point["indent"]:
            tests[_numbered(seen, title, point["name"] or "")] = _status(point)
    return tests or None


def node_tap_lines(left: Leavings) -> Statuses | None:
    """Each assertion below its file and subtests, because node-tap counts assertions; equal ones are numbered.

    A file or subtest that fails without a failing assertion is an entry itself. None if Node itself ran a test
    file, or if there are more or fewer points than planned.
    """
    lines = left.out
    if not any(line.startswith("# { total:") for line in lines) or not _is_whole(lines):
        return None
    tests: Statuses = {}
    seen: Counter[str] = Counter()
    for path, status in _leaves(lines):
        if not (left.command.root / path[0]).is_file():
            return None
        is_file = len(path) == 1
        test = name_part(path[0]) if is_file else _numbered(seen, "::".join(map(name_part, path[:-1])), path[-1])
        tests[test] = "error" if is_file and status in RED else status
    return tests or None


def _is_whole(lines: Sequence[str]) -> bool:
    """Whether there are as many points as planned, subtests included."""
    planned = sum(int(plan["number"]) for line in lines if (plan := _PLAN.match(line)))
    return planned == sum(_POINT.match(line) is not None for line in lines)


class _Scope:
    """A file or subtest whose points are read."""

    def __init__(self, name: str, status: TestStatus | None = None) -> None:
        self.name = name
        self.status: TestStatus | None = status
        """Known if its own point precedes its points; None: it follows them."""
        self.points = 0
        self.red = 0


def _leaves(lines: list[str]) -> Iterator[tuple[list[str], TestStatus]]:
    """Path and status of each point without points below it, and of a parent whose failure they do not explain."""
    scopes: dict[int, _Scope] = {}

    def told(depth: int, name: str, status: TestStatus) -> Iterator[tuple[list[str], TestStatus]]:
        above = [scopes[level] for level in range(depth) if level in scopes]
        for scope in above:
            scope.points += 1
            scope.red += status in RED
        yield [*(scope.name for scope in above), name], status

    def closed(depth: int, status: TestStatus) -> Iterator[tuple[list[str], TestStatus]]:
        scope = scopes.pop(depth)
        if not scope.points or (status in RED and not scope.red):
            yield from told(depth, scope.name, status)

    for line in lines:
        if begun := _SUBTEST.match(line):
            scopes[len(begun["indent"]) // _STEP] = _Scope(begun["name"])
        elif point := _POINT.match(line):
            depth, name, status = len(point["indent"]) // _STEP, point["name"] or "", _status(point)
            if point["opens"]:
                scopes[depth] = _Scope(name, status)
            elif depth in scopes and scopes[depth].name == name and scopes[depth].status is None:
                yield from closed(depth, status)
                if name.endswith("\\"):  # node-tap does not take it for the end of the subtest, and counts it too
                    yield from told(depth, name, status)
            else:
                yield from told(depth, name, status)
        elif line.strip() == "}" and (scope := scopes.get(len(line) // _STEP)) and scope.status:
            yield from closed(len(line) // _STEP, scope.status)


def _status(point: re.Match[str]) -> TestStatus:
    failed = point["status"] == "not ok"
    if point["directive"] == "SKIP":
        return "skipped"
    if point["directive"] == "TODO":
        return "xfailed" if failed else "xpassed"
    return "failed" if failed else "passed"


def _numbered(seen: Counter[str], place: str, name: str) -> str:
    return numbered(seen, test_id(place, name))


TAPE: Final = Runner(
    name="tape",
    ids="`title::assertion`; the second of two equal ones with ` (2)`",
    lines=tape_lines,
    closing="node:test",  # its closing lines are those of tape
)
NODE_TAP: Final = Runner(
    name="node-tap",
    ids="`path::subtest::assertion`; for a file that fails without a failing assertion, its path",
    lines=node_tap_lines,
)
