"""Fault localisation: suspicious lines of the failing tests, and the values seen there."""

import math
from collections import defaultdict
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from kotef.repair.budget import SearchBudget, wall_seconds
from kotef.repair.scope import Types
from kotef.repair.session import WorkerAnswer, WorkerSession
from kotef.repair.source import SwapUnit

_WAITING: Final = 2
"""How much longer than its CPU time a test may take: it may wait for something, and the machine may be busy."""
_FOR_REPEATING: Final = 0.6
"""Part of the time after which tests that were cut early count as hanging, like those that were cut twice."""
_WITHOUT_ANY: Final = 0.4
"""Part of the time after which no more tests are run if none has ended: either all hang, or all are too slow."""
_TRACED: Final = 0.5
"""CPU seconds one test is watched at most."""
_LOOPING: Final = 0.15
"""The same for one that hangs: it runs the same lines over and over."""
_FRAME: Final = 0.25
"""Suspicion added by the innermost frame of a traceback; less further out."""
_ALONE: Final = 20
"""Failing tests whose lines are recorded, each in a process of its own."""
_WATCHED: Final = 400
"""Passing tests whose lines are recorded."""
NETWORK: Final = frozenset(
    {"ConnectionRefusedError", "ConnectionResetError", "ConnectionError", "gaierror", "URLError", "ConnectError"}
    | {"OperationalError", "ConnectTimeout", "NewConnectionError", "MaxRetryError"}
)


@dataclass(frozen=True, slots=True)
class ExecutionTrace:
    """How one test went without any edit."""

    state: str
    """`passed`, `failed`, `skipped`, `hangs`, `crashes`."""
    cpu: float
    wall: float
    error: tuple[str, ...]
    """Type and text of the exception."""
    frames: tuple[tuple[str, int], ...]
    """Frames of its traceback inside the workspace, outermost first."""
    refused: str
    """What the fence refused it."""
    starts: bool = False
    """Whether it starts another program, which does not see what is edited in memory."""


@dataclass(frozen=True)
class Traces:
    """What the tests ran."""

    lines: Mapping[int, Mapping[str, frozenset[int]]]
    """Test → path → lines."""
    types: Mapping[str, Types] = field(default_factory=dict)
    """`path:line:name` of a function → variable → types."""
    calls: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """`path:line:name` → arguments, each the literal of a dict."""

    whole: frozenset[int] = frozenset()
    """Tests that were watched to their end."""

    def covering(self, path: str, lines: range) -> int:
        """How many tests ran one of the lines."""
        return sum(1 for found in self.lines.values() if any(line in found.get(path, ()) for line in lines))


async def measure(session: WorkerSession, tests: Sequence[int], *, budget: SearchBudget) -> dict[int, ExecutionTrace]:
    """Run the tests in their order; one that hangs or crashes is noted and the rest continues without it.

    The first that does not end gets time enough to tell; from then on each gets what follows from those that did end,
    and what was cut by that is repeated, alone, as far as time allows. Tests that were not reached within the budget,
    or may only be slow, are missing from the result.
    """
    seconds = budget.seconds
    results: dict[int, ExecutionTrace] = {}
    cut: dict[int, float] = {}
    rest, each = list(tests), _long(seconds)
    while rest and budget.elapsed < seconds * (1 if results else _WITHOUT_ANY):
        answer = await _ask(session, rest, each, budget)
        results.update(_runs(answer))
        begun = [word[1] for word in answer.words if word[0] == "begin"]
        if answer.ended == "done" or not begun:
            break
        last = begun[-1]
        rest = rest[rest.index(last) + 1 :]
        if last not in results and not budget.over:
            if answer.ended == "time":
                cut[last] = each
                each = _short(seconds, budget.elapsed, results, len(rest))
            else:
                results[last] = ExecutionTrace("crashes", each, each, (), (), "")
    hanging = await _repeated(session, cut, results, budget)
    if hanging and not results:
        hanging += rest
    return results | {test: ExecutionTrace("hangs", each, each, (), (), "") for test in hanging}


def _long(seconds: float) -> float:
    """CPU seconds after which a test hangs, most likely."""
    return max(seconds / 8, min(0.75, seconds / 4))


def _short(seconds: float, used: float, results: Mapping[int, ExecutionTrace], waiting: int) -> float:
    """CPU seconds after which a test hangs as well, once another one does: known from those that end."""
    share = (seconds - used) / 2 / max(1, waiting)
    slowest = max((run.cpu for run in results.values()), default=0.0)
    return min(_long(seconds), max(0.05, min(seconds / 40, share), 5 * slowest))


async def _repeated(
    session: WorkerSession, cut: Mapping[int, float], results: dict[int, ExecutionTrace], budget: SearchBudget
) -> list[int]:
    """Run again, alone, what was cut early, adding to the results what is only slow; returns what hangs.

    One that hangs again speaks against those there is no time to repeat; one that ends speaks for them.
    """
    seconds = budget.seconds
    long = _long(seconds) if results else max(_long(seconds), seconds / 4)
    hanging = [test for test, each in cut.items() if each >= long]
    waiting = [test for test in cut if test not in hanging]
    slow = False
    while waiting and budget.elapsed < seconds * (1 if slow or not hanging else _FOR_REPEATING):
        found = _runs(await _ask(session, waiting[:1], long, budget))
        if found or not budget.over:
            test = waiting.pop(0)
            results.update(found)
            if test in found:
                slow, long = True, max(long, 5 * found[test].cpu)
            else:
                hanging.append(test)
    return hanging if slow or not hanging else [*hanging, *waiting]


async def _ask(session: WorkerSession, tests: Sequence[int], each: float, budget: SearchBudget) -> WorkerAnswer:
    left = budget.wall_left
    request = {"do": "measure", "tests": list(tests), "each": each, "cpu": budget.left, "total": left}
    return await session.ask({**request, "wall": min(left, 0.3 + _WAITING * each)})


def _runs(answer: WorkerAnswer) -> dict[int, ExecutionTrace]:
    found: dict[int, ExecutionTrace] = {}
    for word in answer.words:
        if word[0] == "test":
            _, test, state, cpu, wall, error, frames, refused, starts = word
            places = tuple((path, line) for path, line in frames)
            found[test] = ExecutionTrace(state, cpu, wall, tuple(error), places, refused, starts)
    return found


async def watch(
    session: WorkerSession,
    failing: Sequence[int],
    passing: Sequence[int],
    files: Sequence[str],
    *,
    budget: SearchBudget,
    unending: Container[int] = (),
) -> Traces:
    """Record lines, types and arguments; of failing tests first, of passing ones as time allows.

    Of `unending` tests, which hang or crash, each line is reported at once: they may not come to an end.
    """
    lines: dict[int, dict[str, set[int]]] = defaultdict(lambda: defaultdict(set))
    types: dict[str, dict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    calls: dict[str, list[str]] = defaultdict(list)
    whole: set[int] = set()
    groups = [[test] for test in failing[:_ALONE]] + [list(passing[:_WATCHED])]
    for place, group in enumerate(groups):
        rest = group
        while rest and (left := budget.left) > 0:
            most = _LOOPING if rest[0] in unending else _TRACED
            each = min(most, max(0.05, left / (len(groups) - place)))
            wall = budget.wall_left
            limits = {
                "cpu": min(left, len(rest) * each + 1),
                "wall": min(wall, wall_seconds(each) + 1),
                "total": wall,
                "each": each,
            }
            request = {"do": "watch", "tests": rest, "files": list(files), "values": True}
            request["at_once"] = rest[0] in unending
            answer = await session.ask({**request, **limits})
            for word in answer.words:
                if word[0] == "line":
                    lines[word[1]][word[2]].add(word[3])
                elif word[0] == "lines":
                    whole |= set() if word[3] else {word[1]}
                    lines[word[1]].update({path: set(numbers) for path, numbers in word[2].items()})
                elif word[0] == "values":
                    _merge(word, types, calls)
            begun = [word[1] for word in answer.words if word[0] == "begin"]
            rest = rest[rest.index(begun[-1]) + 1 :] if begun else []
    return Traces(
        {test: {path: frozenset(numbers) for path, numbers in found.items()} for test, found in lines.items()},
        {key: {name: frozenset(kinds) for name, kinds in found.items()} for key, found in types.items()},
        {key: tuple(dict.fromkeys(found)) for key, found in calls.items()},
        frozenset(whole),
    )


def runs(lines: Mapping[str, frozenset[int]], unit: SwapUnit) -> bool:
    """Whether a test with these lines runs some of the function."""
    return any(line in unit.lines for line in lines.get(unit.path, ()))


def _merge(word: list[Any], types: dict[str, dict[str, set[str]]], calls: dict[str, list[str]]) -> None:
    for key, found in word[1].items():
        for name, kinds in found.items():
            types[key][name].update(kinds)
    for key, arguments in word[2].items():
        calls[key] += arguments


def suspicion(traces: Traces, failing: Sequence[int], ran: Mapping[int, ExecutionTrace]) -> dict[str, dict[int, float]]:
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
