"""Checks before a search: whether there is something to search for, and where."""

import ast
import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from kotef.files import read_within
from kotef.repair.budget import SearchBudget
from kotef.repair.candidates import Suspects
from kotef.repair.fault_localization import NETWORK, ExecutionTrace, Traces, measure, suspicion, watch
from kotef.repair.near_failure import evaluated, failing_units
from kotef.repair.options import SearchOptions
from kotef.repair.scope import FileScope, FunctionScope, Literal, assignments, literals
from kotef.repair.session import CollectedTests, WorkerSession
from kotef.repair.source import PythonSource, SwapUnit
from kotef.repair.types import Ending
from kotef.workspace import LARGEST_FILE

_FOR_COLLECTING: Final = 0.75
"""Part of the time that collecting the tests may take."""
_FOR_BASELINE: Final = 0.4
"""Part of the time left that running all tests once may take."""
_FOR_TARGETS: Final = 0.3
"""Part of the time left for the failing tests that a run of all tests did not reach."""
_TARGETS: Final = 20
"""Failing tests that are cured."""
_LONG: Final = 20.0
"""Wall seconds after which collecting that does not end will not end."""
_FOR_WATCHING: Final = 0.25
_FOR_REPEATING: Final = 0.15
"""Part of the time left that running failing tests again, each alone, may take."""
_OUTSIDE: Final = 0.45
"""Suspicion of a module-level statement whose names a suspected function reads."""
_PACKAGE: Final = 2
"""Parts of the path of a file in a package."""
_MANY: Final = 5
"""Tests that fail here alone before that is a reason: a caller may name only some failing tests."""
_SAID: Final = 120
"""Characters of an exception in a reason."""
_UNITS: Final = 60
"""Functions searched, the most suspicious ones."""


class DeclinedError(Exception):
    """Nothing can be searched; says why in one line."""

    ending: Ending = "cannot run"


class TooSlowError(DeclinedError):
    """The time allowed is over before there is anything to search in."""

    ending = "budget"


class NothingToEditError(DeclinedError):
    """There is no code that an edit could change."""

    ending = "exhausted"


@dataclass(frozen=True)
class SearchGround:
    """Everything known before the first candidate."""

    tests: tuple[str, ...]
    failing: tuple[int, ...]
    others: tuple[int, ...]
    """Tests that pass, and have to continue passing."""
    control: int | None
    """The quickest of those that run suspected code."""
    ran: Mapping[int, ExecutionTrace]
    traces: Traces
    sources: Mapping[str, PythonSource]
    suspects: tuple[Suspects, ...]
    dormant: tuple[Suspects, ...]
    """The same functions by their lines that no failing test runs: a second edit may belong there."""
    modules: tuple[str, ...]
    """Files of the project that are imported and may be edited."""
    test_units: Mapping[int, SwapUnit]
    """The function of each test that is one."""
    evaluated: frozenset[SwapUnit]
    """Functions evaluated where the tests fail; empty if that is not known."""
    in_traceback: frozenset[SwapUnit]
    """Functions in which the tests fail, the tests themselves aside."""
    unread: tuple[str, ...]
    """Files with suspected lines that cannot be parsed, each with the reason."""


async def survey(session: WorkerSession, request: SearchOptions, budget: SearchBudget) -> SearchGround:
    """Collect, run and watch the tests, each within a share of the budget; raises DeclinedError."""
    collected = await _collected(session, budget.part(_FOR_COLLECTING))
    await session.set_jobs(1)
    ran = await _measured(session, request, collected, budget)
    red = _red_tests(collected, ran, request.failing)
    red = await _alone(session, collected, ran, red, budget.part(_FOR_REPEATING))
    others = [test for test, how in ran.items() if how.state == "passed"]
    editable = [path for path in collected.modules if not request.protected(path) and path not in collected.files]
    if not editable:
        raise _nothing_imported(request, collected)
    unending = {test for test in red if ran[test].state != "failed"}
    traces = await watch(session, red, others, editable, budget=budget.part(_FOR_WATCHING), unending=unending)
    red = _within_reach(collected, ran, red, traces)
    scores = suspicion(traces, red, ran)
    if not scores and not any(test in traces.whole for test in red):
        raise TooSlowError(f"{collected.tests[red[0]]} does not finish within the time allowed for tracing it")
    if not scores:
        raise _nothing_run(request, collected)
    sources, unread = read_sources(request.root, [*scores, *(path for path in editable if path not in scores)])
    test_files = {collected.files[test] for test in red}
    suspects = _suspects(sources, scores, traces, _read_tests(request.root, test_files))
    blamed = tuple(f"{path} ({why})" for path, why in unread.items() if path in scores)
    if not suspects:
        raise DeclinedError(f"the suspicious code is in a file that cannot be parsed: {named_files(blamed)}")
    dormant = tuple(Suspects(suspect.scope, _not_run(suspect)) for suspect in suspects if suspect.scope.unit)
    covering = [test for test in others if set(traces.lines.get(test, ())) & set(scores)] or others
    frames = [place for test in red if test in ran for place in ran[test].frames]
    control = min(covering, key=lambda test: ran[test].wall, default=None)
    return SearchGround(
        collected.tests,
        tuple(red),
        tuple(others),
        control,
        ran,
        traces,
        sources,
        suspects,
        dormant,
        tuple(editable),
        _test_units(request.root, collected),
        evaluated(frames, {**sources, **read_sources(request.root, sorted(filter(None, test_files)))[0]}),
        failing_units(frames, sources),
        blamed,
    )


async def _collected(session: WorkerSession, budget: SearchBudget) -> CollectedTests:
    try:
        async with asyncio.timeout(budget.wall):
            return await session.collected()
    except TimeoutError:
        problem = f"collecting the tests takes longer than the {budget.wall:.2g} s allowed for it"
        raise (DeclinedError if budget.wall >= _LONG else TooSlowError)(problem) from None


async def _measured(
    session: WorkerSession, request: SearchOptions, collected: CollectedTests, budget: SearchBudget
) -> Mapping[int, ExecutionTrace]:
    """How each test goes; of a suite too long for its share, how the failing tests go and those that were reached.

    What was not reached is left to the real check, which judges every edit in the end.
    """
    every = range(len(collected.tests))
    allowed = budget.part(_FOR_BASELINE)
    ran = await measure(session, every, budget=allowed)
    wanted = [test for test in every if collected.tests[test] in request.failing]
    missing = [test for test in wanted if test not in ran]
    if missing and not _all_are_slow(collected, ran, request.failing):
        ran |= await measure(session, missing[:_TARGETS], budget=budget.part(_FOR_TARGETS))
    reached = len(ran) == len(every) or any(test in ran for test in wanted)
    if not reached or _all_are_slow(collected, ran, request.failing):
        raise TooSlowError(f"the suite takes longer than the {allowed.seconds:.2g} s allowed for one run of it")
    return ran


def _all_are_slow(collected: CollectedTests, ran: Mapping[int, ExecutionTrace], wanted: frozenset[str]) -> bool:
    """Whether no test ended here, though the check has seen some of them pass."""
    passed = wanted and any(test not in wanted for test in collected.tests)
    return bool(passed) and bool(ran) and all(how.state == "hangs" for how in ran.values())


def _red_tests(collected: CollectedTests, ran: Mapping[int, ExecutionTrace], wanted: frozenset[str]) -> list[int]:
    red = [test for test, how in ran.items() if how.state in {"failed", "hangs", "crashes"}]
    if wanted:
        red = [test for test in red if collected.tests[test] in wanted]
        _check_others(collected, ran, wanted)
    if not red:
        raise DeclinedError(_why_none_is_red(collected, wanted))
    return red


def _why_none_is_red(collected: CollectedTests, wanted: frozenset[str]) -> str:
    if collected.errors:
        name, text = collected.errors[0]
        last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
        return f"{name} cannot be collected: {last.strip()[:160]}"
    if not collected.tests:
        return "no test was collected by pytest"
    if wanted and not wanted & set(collected.tests):
        return "none of the failing tests is among those that pytest collects here"
    return "no failing test here, though the check is red"


def _check_others(collected: CollectedTests, ran: Mapping[int, ExecutionTrace], wanted: frozenset[str]) -> None:
    """Decline where most tests that pass in the check fail here: then a failure here says nothing of an edit."""
    others = [test for test in ran if collected.tests[test] not in wanted]
    failed = [test for test in others if ran[test].state == "failed"]
    if len(failed) >= _MANY and len(failed) > len(others) / 2:
        error = ": ".join(filter(None, ran[failed[0]].error)).partition("\n")[0]
        example = f"{collected.tests[failed[0]]} ({error[:_SAID]})"
        raise DeclinedError(f"{len(failed)} of {len(others)} tests that pass in the check fail here: {example}")


async def _alone(
    session: WorkerSession,
    collected: CollectedTests,
    ran: Mapping[int, ExecutionTrace],
    red: list[int],
    budget: SearchBudget,
) -> list[int]:
    """The failing tests that fail for a reason an edit could cure, and alone too; raises DeclinedError if none does."""
    kept: list[int] = []
    reason = ""
    for test in red:
        how = ran[test]
        if how.refused:
            reason = f"{collected.tests[test]} does something not allowed while repairs are tried: {how.refused}"
        elif how.error and how.error[0] in NETWORK:
            reason = f"{collected.tests[test]} needs a service that does not answer: {how.error[0]}"
        elif how.state != "failed" or len(kept) >= _TARGETS or budget.over:
            kept.append(test)
        else:
            again = await measure(session, [test], budget=budget.part(1))
            if test in again and again[test].state == "passed":
                reason = f"{collected.tests[test]} fails only after other tests have run, and passes alone"
            else:
                kept.append(test)
    if not kept:
        raise DeclinedError(reason)
    return kept


def _within_reach(
    collected: CollectedTests, ran: Mapping[int, ExecutionTrace], red: list[int], traces: Traces
) -> list[int]:
    """The failing tests that an edit in memory can cure; the real check judges the others in the end.

    A test that starts the project as a program of its own, and runs none of its lines itself, sees the files alone.
    """
    kept = [test for test in red if not ran[test].starts or any(traces.lines.get(test, {}).values())]
    if not kept:
        raise DeclinedError(
            f"{collected.tests[red[0]]} starts a separate program, which does not see the edits that are tried"
        )
    return kept


def _nothing_imported(request: SearchOptions, collected: CollectedTests) -> DeclinedError:
    copy = _installed_copy(request, collected)
    return copy or NothingToEditError("the tests import no file of this workspace that may be edited")


def _nothing_run(request: SearchOptions, collected: CollectedTests) -> DeclinedError:
    copy = _installed_copy(request, collected)
    return copy or NothingToEditError("the failing tests run no line of this workspace that may be edited")


def _installed_copy(request: SearchOptions, collected: CollectedTests) -> DeclinedError | None:
    """The installed package whose file the workspace has too: no edit of the workspace reaches the tests."""
    for file in collected.elsewhere:
        inside = PurePosixPath(file.rpartition("/site-packages/")[2])
        if len(inside.parts) < _PACKAGE:  # a module alone, or a name that any project may have
            continue
        for folder in ("", "src", "lib"):
            here = PurePosixPath(folder, inside)
            if (request.root / here).is_file() and not request.protected(str(here)):
                package = inside.parts[0]
                problem = f"the tests run an installed copy of {package}, not {here.parent}"
                return DeclinedError(f"{problem}: install it editable (pip install -e .)")
    return None


def read_sources(root: Path, paths: Iterable[str]) -> tuple[dict[str, PythonSource], dict[str, str]]:
    """The files that can be searched, and why each of the others cannot."""
    sources: dict[str, PythonSource] = {}
    unread: dict[str, str] = {}
    for path in paths:
        try:
            sources[path] = PythonSource(path, read_within(root, path, largest=LARGEST_FILE))
        except (OSError, SyntaxError, ValueError, RecursionError) as error:  # newer syntax than ours is among these
            unread[path] = _why_not(error)
    return sources, unread


def _why_not(error: Exception) -> str:
    match error:
        case UnicodeDecodeError():
            above = error.object[: error.start].count(b"\n")
            return f"line {above + 1} is not UTF-8"
        case SyntaxError():
            return f"line {error.lineno}: {error.msg}"
        case OSError():
            return error.strerror or "it cannot be read"
        case RecursionError():
            return "nested too deeply"
        case _:
            return str(error)


def named_files(files: Sequence[str]) -> str:
    """Some files in a sentence: the first three."""
    more = f" and {len(files) - 3} more" if len(files) > 3 else ""
    return ", ".join(files[:3]) + more


def _read_tests(root: Path, paths: set[str]) -> tuple[frozenset[Literal], frozenset[str]]:
    """Constants and names of the failing tests' files."""
    values: set[Literal] = set()
    names: set[str] = set()
    for path, source in read_sources(root, sorted(path for path in paths if path.endswith(".py")))[0].items():
        if path:
            values |= set(literals(source.tree))
            names |= {node.id for node in ast.walk(source.tree) if isinstance(node, ast.Name)}
    return frozenset(values), frozenset(names)


def _test_units(root: Path, collected: CollectedTests) -> dict[int, SwapUnit]:
    sources, _ = read_sources(root, sorted({path for path in collected.files if path.endswith(".py")}))
    units = {(path, unit.trail): unit for path, source in sources.items() for unit in source.units}
    trails = [tuple(name.partition("[")[0].split("::")[1:]) for name in collected.tests]
    found = {number: units.get((collected.files[number], trail)) for number, trail in enumerate(trails)}
    return {number: unit for number, unit in found.items() if unit is not None}


def _suspects(
    sources: Mapping[str, PythonSource],
    scores: Mapping[str, Mapping[int, float]],
    traces: Traces,
    tests: tuple[frozenset[Literal], frozenset[str]],
) -> tuple[Suspects, ...]:
    found: list[tuple[float, Suspects]] = []
    for path, source in sources.items():
        lines = scores.get(path, {})
        around = FileScope(source, *tests)
        read: set[str] = set()
        for unit in source.units:
            own = {line: lines[line] for line in unit.lines if line in lines}
            if own:
                own = _spread(unit, own)
                scope = FunctionScope(around, unit, _types(unit, traces))
                found.append((max(own.values()), Suspects(scope, own)))
                read |= {node.id for node in scope.nodes if isinstance(node, ast.Name)}
                read |= {node.attr for node in scope.nodes if isinstance(node, ast.Attribute)}
        outside = assignments(source, read if lines else _all_read(found))
        if outside:
            numbers = {
                line: _OUTSIDE for node in outside for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)
            }
            found.append((_OUTSIDE, Suspects(FunctionScope(around, None, {}, outside), numbers)))
    found.sort(key=lambda item: -item[0])
    return tuple(suspect for _, suspect in found[:_UNITS])


def _spread(unit: SwapUnit, lines: dict[int, float]) -> dict[int, float]:
    """Default values are on a line that is run on import; they are as suspicious as the function."""
    for line in range(unit.node.lineno, unit.node.body[0].lineno):
        lines.setdefault(line, max(lines.values()) * 0.8)
    return lines


def _not_run(suspect: Suspects) -> dict[int, float]:
    nodes = [node for node in suspect.scope.nodes if isinstance(node, ast.stmt)]
    return {node.lineno: max(suspect.lines.values()) for node in nodes if node.lineno not in suspect.lines}


def _types(unit: SwapUnit, traces: Traces) -> dict[str, frozenset[str]]:
    """Types of the function's variables, those of functions inside it too."""
    merged: dict[str, frozenset[str]] = {}
    for key, types in traces.types.items():
        path, line, _ = key.rsplit(":", 2)
        if path == unit.path and int(line) in unit.lines:
            for name, kinds in types.items():
                merged[name] = merged.get(name, frozenset()) | kinds
    return merged


def _all_read(found: list[tuple[float, Suspects]]) -> set[str]:
    return {node.id for _, suspect in found for node in suspect.scope.nodes if isinstance(node, ast.Name)}
