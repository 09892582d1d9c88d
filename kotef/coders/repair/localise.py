"""Which lines are to blame for the failing tests, and what values were there?"""

import math
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kotef.coders.repair.scope import Types
from kotef.coders.repair.session import Answer, Session

_EACH: Final = 2.0
"""CPU seconds one test may take at the baseline before it counts as hanging; a quarter once another one does."""
_FRAME: Final = 0.25
"""Suspicion added by the innermost frame of a traceback; less further out."""
_WATCHED: Final = 400
"""Passing tests whose lines are recorded."""
NETWORK: Final = frozenset(
    {"ConnectionRefusedError", "ConnectionResetError", "ConnectionError", "gaierror", "URLError", "ConnectError"}
    | {"OperationalError", "ConnectTimeout", "NewConnectionError", "MaxRetryError"}
)


@dataclass(frozen=True, slots=True)
class Ran:
    """How one test went without any edit."""

    state: str
    """`passed`, `failed`, `skipped`, `hangs`, `crashes`."""
    cpu: float
    wall: float
    error: tuple[str, ...]
    """Type and text of the exception."""
    frames: tuple[tuple[str, int], ...]
    """Of its traceback, inside the workspace, outermost first."""
    refused: str
    """What the fence refused it."""


@dataclass(frozen=True)
class Traces:
    """What the tests ran."""

    lines: Mapping[int, Mapping[str, frozenset[int]]]
    """Test → path → lines."""
    types: Mapping[str, Types] = field(default_factory=dict)
    """`path:line:name` of a function → variable → types."""
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`path:line:name` → arguments, each the literal of a dict."""

    def covering(self, path: str, lines: range) -> int:
        """How many tests ran one of the lines."""
        return sum(1 for found in self.lines.values() if any(line in found.get(path, ()) for line in lines))


async def measure(session: Session, tests: Sequence[int], *, seconds: float) -> dict[int, Ran]:
    """Run the tests in their order; one that hangs or crashes is noted and the rest goes on without it.

    Tests not reached within `seconds` are missing from the result.
    """
    clock = _clock()
    results: dict[int, Ran] = {}
    rest = list(tests)
    while rest and clock() < seconds:
        left = seconds - clock()
        each = min(_EACH, max(0.3, seconds / 5)) / (4 if any(run.state == "hangs" for run in results.values()) else 1)
        request = {"do": "measure", "tests": rest, "each": each, "cpu": left, "total": left, "wall": min(10.0, left)}
        answer = await session.ask(request)
        results.update(_runs(answer))
        begun = [word[1] for word in answer.told if word[0] == "begin"]
        if answer.ended == "done" or not begun:
            return results
        last = begun[-1]
        if last not in results and clock() < seconds:
            results[last] = Ran("hangs" if answer.ended == "time" else "crashes", each, each, (), (), "")
        rest = rest[rest.index(last) + 1 :]
    return results


def _clock() -> Callable[[], float]:
    import time

    start = time.monotonic()
    return lambda: time.monotonic() - start


def _runs(answer: Answer) -> dict[int, Ran]:
    return {
        word[1]: Ran(word[2], word[3], word[4], tuple(word[5]), tuple((path, line) for path, line in word[6]), word[7])
        for word in answer.told
        if word[0] == "test"
    }


async def watch(
    session: Session,
    failing: Sequence[int],
    passing: Sequence[int],
    files: Sequence[str],
    *,
    seconds: float,
) -> Traces:
    """Record lines, types and arguments; of failing tests first, of passing ones as time allows."""
    clock = _clock()
    lines: dict[int, Mapping[str, frozenset[int]]] = {}
    types: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    calls: dict[str, list[str]] = defaultdict(list)
    groups = [[test] for test in failing[:20]] + [list(passing[:_WATCHED])]
    for tests in groups:
        left = seconds - clock()
        if left <= 0 or not tests:
            continue
        request = {"do": "watch", "tests": tests, "files": list(files), "values": True, "each": min(_EACH / 4, left)}
        answer = await session.ask({**request, "cpu": left, "wall": left, "total": left})
        for word in answer.told:
            if word[0] == "lines":
                lines[word[1]] = {path: frozenset(numbers) for path, numbers in word[2].items()}
            elif word[0] == "values":
                _merge(word, types, calls)
    return Traces(
        lines,
        {key: {name: frozenset(kinds) for name, kinds in found.items()} for key, found in types.items()},
        {key: tuple(dict.fromkeys(found)) for key, found in calls.items()},
    )


def _merge(word: list[Any], types: dict[str, dict[str, set[str]]], calls: dict[str, list[str]]) -> None:
    for key, found in word[1].items():
        for name, kinds in found.items():
            types[key][name].update(kinds)
    for key, arguments in word[2].items():
        calls[key] += arguments


def suspicion(traces: Traces, failing: Sequence[int], ran: Mapping[int, Ran]) -> dict[str, dict[int, float]]:
    """Path → line → 0 to 1: Ochiai's coefficient (Abreu et al., 2007) plus what the tracebacks say, scaled to 1."""
    failed: dict[tuple[str, int], int] = defaultdict(int)
    passed: dict[tuple[str, int], int] = defaultdict(int)
    wanted = set(failing)
    for test, found in traces.lines.items():
        for path, numbers in found.items():
            for line in numbers:
                (failed if test in wanted else passed)[path, line] += 1
    total = max(1, sum(1 for test in traces.lines if test in wanted))
    scores = {place: count / math.sqrt(total * (count + passed[place])) for place, count in failed.items()}
    for test in failing:
        frames = ran[test].frames if test in ran else ()
        for distance, place in enumerate(reversed(frames[-6:])):
            if place in scores:
                scores[place] += _FRAME / (1 + distance) / len(failing)
    highest = max(scores.values(), default=1.0)
    by_path: dict[str, dict[int, float]] = defaultdict(dict)
    for (path, line), score in scores.items():
        by_path[path][line] = score / highest
    return dict(by_path)
