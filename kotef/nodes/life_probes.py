"""Probes for life: the judge must refuse a wrong answer, and a test that must fail."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, TypeAlias

from kotef.checks.probe import ProbeResult, not_probed
from kotef.checks.types import RED, CommandResult
from kotef.failures.plural import counted
from kotef.integrity import (
    Mixture,
    WrongAnswer,
    canary,
    defined_tests,
    file_of_test,
    harmless_edit,
    is_protected,
    scripts_run,
    wrong_answers,
)
from kotef.nodes.chance_probe import ChanceRounds
from kotef.nodes.probe_bench import ProbeUnit, Workbench, status_in, varied
from kotef.shell import judging_files

ORACLES: Final = {"fast": 2, "full": 6}
"""Number of oracles per target that are made wrong."""
DEFINED: Final = 3
"""Wrong answers tried if the files of the targets are not found, or a check names no test."""

Batch: TypeAlias = list[tuple[str, WrongAnswer]]
"""Targets, each with the wrong answer that is tried for it in one run."""


async def answer_probe(
    unit: ProbeUnit, bench: Workbench, *, most: int, rounds: ChanceRounds | None = None
) -> ProbeResult:
    """Each oracle of the targets, made wrong alone, must make its target fail.

    `rounds` are made in between; where one of them raises the alarm, nothing further is made wrong.
    """
    known = unit.targets or _scripts(unit, bench)
    waiting = [(target, answer) for target in known for answer in _some(target, bench, most)]
    is_named = bool(waiting) or any(file_of_test(target, bench.paths(), bench.read) for target in known)
    if not is_named:  # the tests as files define them, judged by the status of the check
        unit = replace(unit.whole(), targets=())
        waiting = [(test, answer) for test in _defined(bench) for answer in _some(test, bench, most)][:DEFINED]
    if not waiting:
        return not_probed("wrong answers", unit.check.name, "no expected value that can safely be made wrong")
    if rounds is not None:
        unit = replace(unit, is_varied=True)
    refusals = 0
    refusing: set[str] = set()
    silent: list[tuple[str, WrongAnswer]] = []
    kinds: set[tuple[str, str]] = set()
    batches = _batches(waiting, unit, bench)
    if rounds is not None:
        rounds.spread(len(batches))
    for number, wanted in enumerate(batches):
        if rounds is not None:
            await rounds.before(number)
            if rounds.ended is not None and rounds.ended.value == "alarm":
                break
        batch = wanted
        if not bench.affords():  # then one of each kind is enough
            batch = [(target, answer) for target, answer in wanted if (target, answer.kind) not in kinds]
        if not batch:
            continue
        result = await _with(batch, unit, bench, "wrong")
        for target, answer in batch:
            kinds.add((target, answer.kind))
            status = status_in(result, target if unit.targets else "")
            refusals += status == "failed"
            refusing |= {target} if status == "failed" else set()
            if status not in {None, "failed", "error"}:
                silent.append((target, answer))
    silent.sort(key=lambda pair: pair[1].kind == "near")  # whose line is the longest to read
    for target, answer in silent:  # one that is confirmed is enough
        if not await _is_deaf(target, answer, unit, bench):
            continue
        evidence = (
            f"{answer.path}:{answer.line}: `{answer.now[:120]}`",
            f"{target or unit.check.name}: {len(silent)} of {counted(refusals + len(silent), 'wrong answer')} passed",
        )
        return ProbeResult(
            name="wrong answers",
            check=unit.check.name,
            value="alarm",
            told="a wrong answer passes the test",
            evidence=evidence,
        )
    if not refusals:
        if not silent:
            return not_probed("wrong answers", unit.check.name, "wrong answers kept the tests from being loaded")
        places = tuple(f"{answer.path}:{answer.line}" for _, answer in silent if answer.halted is not None)
        why = "the test does not reach its assertions"
        return not_probed("wrong answers", unit.check.name, why, evidence=places[:1])
    return ProbeResult(
        name="wrong answers",
        check=unit.check.name,
        value="fine",
        told=f"{refusals} of {refusals} wrong answers refused",
        complete=is_named and refusing.issuperset(unit.targets),
        proves_life=True,
    )


def _defined(bench: Workbench) -> Sequence[str]:
    """Some of the tests that files define."""
    defined = defined_tests(bench.paths(), bench.read)
    return bench.rng.sample(defined, min(DEFINED, len(defined)))


def _scripts(unit: ProbeUnit, bench: Workbench) -> tuple[str, ...]:
    """The scripts of a check that lists no tests, and some of the protected ones that these run."""
    named = judging_files(unit.check.command)
    run = {path for script in named for path in scripts_run(bench.read(script) or b"", bench.paths())}
    inner = sorted(path for path in run.difference(named) if is_protected(path))
    return (*named, *bench.rng.sample(inner, min(DEFINED, len(inner))))


def _some(target: str, bench: Workbench, most: int, *, seed: int | None = None) -> Sequence[WrongAnswer]:
    """At most this many wrong answers for a target, different kinds first."""
    path = file_of_test(target, bench.paths(), bench.read)
    content = bench.read(path) if path else None
    if path is None or content is None:
        return ()
    chosen = bench.rng.getrandbits(32) if seed is None else seed
    found = list(wrong_answers(path, content, target, seed=chosen, read=bench.read, paths=bench.paths()))
    if len(found) < most:  # a second value in each place: the first may be one that is let through by chance
        known = {answer.content for answer in found}
        second = wrong_answers(path, content, target, seed=chosen + 1, read=bench.read, paths=bench.paths())
        found += [answer for answer in second if answer.content not in known]
    bench.rng.shuffle(found)
    found.sort(key=lambda answer: answer.halted is None)  # what can be confirmed comes first
    first = {answer.kind: answer for answer in reversed(found)}
    kinds = list(first.values())
    rest = [answer for answer in found if answer not in kinds]
    return [*kinds, *rest][:most]


def _batches(waiting: Sequence[tuple[str, WrongAnswer]], unit: ProbeUnit, bench: Workbench) -> list[Batch]:
    """The wrong answers by run; one a run where the check lists no tests."""
    if not unit.targets:
        return [[pair] for pair in waiting]
    batches: list[Batch] = []
    while waiting:
        batch, waiting = _batch(waiting, bench)
        batches.append(batch)
    return batches


def _batch(waiting: Sequence[tuple[str, WrongAnswer]], bench: Workbench) -> tuple[Batch, Batch]:
    """Wrong answers that fit into one run, at most one per target, and the rest."""
    if waiting and _is_shared(*waiting[0], waiting):
        return list(waiting[:1]), list(waiting[1:])
    batch: Batch = []
    later: Batch = []
    mixture, taken = Mixture(), set[str]()
    for target, answer in waiting:
        base = bench.read(answer.path)
        is_free = target not in taken and base is not None and not _is_shared(target, answer, waiting)
        if is_free and mixture.take(answer.path, base or b"", answer.content):
            taken.add(target)
            batch.append((target, answer))
        else:
            later.append((target, answer))
    return batch or list(waiting[:1]), later if batch else list(waiting[1:])


def _is_shared(target: str, answer: WrongAnswer, waiting: Sequence[tuple[str, WrongAnswer]]) -> bool:
    """Whether a changed file beside the tests may make other targets fail too; then it is tried alone."""
    is_beside = not target.startswith(answer.path)
    return is_beside and any(other.path == answer.path for name, other in waiting if name != target)


async def _with(
    batch: Sequence[tuple[str, WrongAnswer]], unit: ProbeUnit, bench: Workbench, what: str
) -> CommandResult:
    """Judge the unit with these wrong answers."""
    mixture = Mixture()
    for _, answer in batch:
        mixture.take(answer.path, bench.read(answer.path) or b"", answer.content)
    only = unit.only([target for target, _ in batch], bench) if unit.targets else unit
    with bench.with_contents(_disguised(mixture.contents(), unit, bench)):
        return await _run(only, bench, what)


async def _run(unit: ProbeUnit, bench: Workbench, what: str) -> CommandResult:
    return await bench.run(varied(unit, bench.rng) if unit.is_varied else unit, what)


def _disguised(texts: Mapping[str, bytes], unit: ProbeUnit, bench: Workbench) -> Mapping[str, bytes]:
    """The same with the harmless edit on top: a product cannot tell which of them has to be answered honestly."""
    if not unit.is_edited:
        return texts
    edited = ((path, harmless_edit(path, text, unit.targets, bench.rng, is_wrong=True)) for path, text in texts.items())
    return {path: text or texts[path] for path, text in edited}


async def _is_deaf(target: str, answer: WrongAnswer, unit: ProbeUnit, bench: Workbench) -> bool:
    """Whether the oracle is reached, and two wrong answers in its place are called green.

    With an unconditional failure in its place the target must be red; else the oracle was never reached, or nothing in
    the test is heard.
    """
    if answer.halted is None:
        return False
    only = unit.only([target], bench) if unit.targets else unit
    again = [
        other
        for other in _some(target, bench, 1000, seed=bench.rng.getrandbits(32))
        if (other.kind, other.path) == (answer.kind, answer.path)
        and (other.line == answer.line or answer.kind == "golden")
    ]
    for other in again[:1]:
        with bench.with_contents(_disguised({other.path: other.content}, unit, bench)):
            if status_in(await _run(only, bench, "wrong-again"), target if unit.targets else "") != "passed":
                return False
    path = answer.asserting or answer.path
    with bench.with_contents(_disguised({path: answer.halted}, unit, bench)):
        result = await _run(only, bench, "halted")
    if status_in(result, target if unit.targets else "") in RED:
        return True
    if answer.ending is not None:  # reached, and its failure is caught
        with bench.with_contents({path: answer.ending}):
            return status_in(await _run(only, bench, "ended"), target if unit.targets else "") in RED
    added = canary(path, bench.read(path) or b"", beside=target, seed=bench.rng.getrandbits(32))
    if added is None or not target.endswith(added.name) or not unit.targets:
        return False
    with bench.with_contents({path: added.content}):
        return status_in(await _run(only, bench, "canary"), target) == "passed"


async def canary_probe(unit: ProbeUnit, bench: Workbench) -> ProbeResult:
    """A failing test added beside a target must be listed red and change the status."""
    for target in unit.targets or _scripts(unit, bench):
        path = file_of_test(target, bench.paths(), bench.read)
        content = bench.read(path) if path else None
        added = canary(path, content, beside=target, seed=bench.rng.getrandbits(32)) if path and content else None
        if path is None or added is None:
            continue
        name = target[: len(target) - len(target.rpartition("::")[2])] + added.name if unit.targets else ""
        command = bench.alone(unit.check, [target, name]) if unit.is_part else None
        both = ProbeUnit(unit.check, (target, name), command or unit.check.command, is_part=command is not None)
        with bench.with_contents({path: added.content}):
            result = await bench.run(both, "canary")
        if status_in(result, name) in RED and not result.passed:
            return ProbeResult(
                name="canary",
                check=unit.check.name,
                value="fine",
                told="a test that must fail was seen to fail",
                proves_life=True,
            )
        if result.passed:
            return ProbeResult(
                name="canary",
                check=unit.check.name,
                value="alarm",
                told="a test that must fail was not noticed",
                evidence=(f"{path}: green with a failing test added to it",),
            )
        return not_probed("canary", unit.check.name, "a failing test added to the file is not listed")
    return not_probed("canary", unit.check.name, "no known convention for adding a test to these files")
