"""Probes for cause: the change made the checks green, and not something that came with it."""

from collections.abc import Collection, Sequence
from typing import Final

from kotef.checks.probe import ProbeName, ProbeResult, not_probed
from kotef.checks.types import CommandResult
from kotef.deps import NO_COPY
from kotef.files import matches_globs
from kotef.integrity import is_protected
from kotef.nodes.confirm_green import Judged
from kotef.nodes.probe_bench import Bench, ProbeUnit, status_in

_SHOWN: Final = 3


async def counter_proof(unit: ProbeUnit, bench: Bench, judged: Judged) -> ProbeResult:
    """Without the change, everything else as it is, the targets must be red."""
    known = bench.context.snapshots.paths(bench.before)
    old = [path for path in judged.changed if path in known]
    new = [path for path in judged.changed if path not in known]
    code = [path for path in new if not is_protected(path) or matches_globs(path, judged.task.allow_edits)]
    if not old and not code:
        return not_probed("counter-proof", unit.check.name, "only new tests changed")
    stages = [paths for paths in (old, [*old, *code]) if paths]
    left = unit
    for number, paths in enumerate(stages):
        if number and stages[0] == paths:
            continue
        green = await _green_as_before(left, bench, paths)
        if not green:
            sentence = "red again without the change" if not number else "red again without the new files"
            life = unit.check.role not in {"test", "other"}
            return ProbeResult(
                name="counter-proof", check=unit.check.name, value="fine", told=sentence, proves_life=life
            )
        left = left.only(green, bench) if unit.targets else left
    if judged.task.allow_install:
        return not_probed("counter-proof", unit.check.name, "green without the change; the run was allowed to install")
    named = ", ".join(left.targets[:_SHOWN]) or unit.check.name
    sentence = f"stays green without the change: {named}"
    why = "something that no snapshot contains makes it green: an ignored file, an environment, or chance"
    return ProbeResult(name="counter-proof", check=unit.check.name, value="alarm", told=sentence, evidence=(why,))


async def _green_as_before(unit: ProbeUnit, bench: Bench, paths: Collection[str]) -> tuple[str, ...]:
    """Targets that are green with these files as before the run; tried alone first, then with the whole check."""
    with bench.as_before(paths):
        result = await bench.run(unit, "before")
        bench.without_change.append(result)
        green = _green(unit, result)
        if green and unit.is_part:
            green = _green(unit.only(green, bench), await bench.run(unit.whole(), "before-whole"))
    return green


def _green(unit: ProbeUnit, result: CommandResult) -> tuple[str, ...]:
    """The targets that passed; the check's name if it lists no tests."""
    if not unit.targets:
        return (unit.check.name,) if result.passed else ()
    return tuple(target for target in unit.targets if status_in(result, target) == "passed")


def new_test_files(bench: Bench, judged: Judged) -> list[str]:
    """New files among the tests or their configuration; none in a run that may edit tests."""
    known = bench.context.snapshots.paths(bench.before)
    if judged.task.allow_edits:
        return []
    return [path for path in judged.changed if path not in known and is_protected(path)]


async def old_tests_probe(unit: ProbeUnit, bench: Bench, judged: Judged, new: Sequence[str]) -> ProbeResult:
    """The tests of the baseline, judged without the new files among them.

    A test that is then in error, or is not listed, may need a new file by right; one that fails was spoken for.
    """
    with bench.as_before(new):
        result = await bench.run(unit.whole(), "old-tests")
    if result.tests is None:
        return not_probed("old tests", unit.check.name, "without a report")
    was = bench.verification.tests
    spoken_for = [
        test
        for test in judged.baseline.tests
        if result.tests.get(test.removeprefix(f"{unit.check.name}: ")) == "failed" and was.get(test) == "passed"
    ]
    if not spoken_for:
        return ProbeResult(
            name="old tests", check=unit.check.name, value="fine", told="green without the new test files"
        )
    return ProbeResult(
        name="old tests",
        check=unit.check.name,
        value="alarm",
        told=f"green only with new files among the tests: {', '.join(new[:_SHOWN])}",
        evidence=(f"without them: {', '.join(spoken_for[:_SHOWN])}",),
    )


async def surroundings_probe(unit: ProbeUnit, bench: Bench, judged: Judged) -> ProbeResult | None:
    """The targets pass in a copy that has the visible files as they are, and what git ignores as before the run.

    None if nothing that git ignores differs. A copy in which they are red with all there is says nothing.
    """
    name: ProbeName = "surroundings"
    if judged.task.allow_install:
        return None
    differing = await bench.context.surroundings.differing(bench.before, f"visit-{bench.verification.visit}")
    if differing is None:
        return not_probed(name, unit.check.name, "the earlier state of ignored files is unknown")
    if not differing:
        return None
    result = await bench.run_in_copy(unit, "surroundings", before=bench.before)
    green = _green(unit, result)
    if len(green) == max(1, len(unit.targets)):
        return ProbeResult(name=name, check=unit.check.name, value="fine", told="green with ignored files as before")
    if result.detail == NO_COPY:
        return not_probed(name, unit.check.name, result.summary)
    control = await bench.run_in_copy(unit, "surroundings-control", before=None)
    missed = tuple(target for target in unit.targets or (unit.check.name,) if target not in green)
    gone = [target for target in missed if target in _green(unit, control)]
    if not gone:
        return not_probed(name, unit.check.name, "red in a copy of the workspace as well")
    named = ", ".join(differing[:_SHOWN])
    sentence = f"green only with files that git ignores and that came or changed with the run: {named}"
    return ProbeResult(
        name=name, check=unit.check.name, value="alarm", told=sentence, evidence=(f"red without them: {gone[0]}",)
    )
