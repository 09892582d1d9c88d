"""Probes of the judge: whether it can still say no to a tree that it called green."""

import random
from collections.abc import Awaitable, Callable, Iterator
from typing import Final

from kotef.checks.probe import (
    JUDGE_DEAF,
    NOT_BY_THE_CHANGE,
    ProbeName,
    ProbeResult,
    is_alive,
    is_caused,
    line_of,
    not_probed,
)
from kotef.checks.verification import Verification
from kotef.deps import RunContext
from kotef.failures.history import MAX_SUMMARY
from kotef.nodes.cause_probes import (
    counter_proof,
    new_test_files,
    old_tests_probe,
    surroundings_probe,
)
from kotef.nodes.chance_probe import ChanceRounds, red_alone_probe
from kotef.nodes.comment_probe import comment_probe, new_comments
from kotef.nodes.confirm_green import SPEAKS, Judged, refused
from kotef.nodes.control_probe import control
from kotef.nodes.decide import NEEDS_REVIEW
from kotef.nodes.expected_data_probe import expected_data_probe
from kotef.nodes.failed_assertion_probe import failed_assertion_probe
from kotef.nodes.life_probes import ORACLES, answer_probe, canary_probe
from kotef.nodes.probe_bench import Bench, OutOfTimeError, ProbeUnit, guarded, seed_of
from kotef.nodes.redefined_names_probe import redefined_names_probe

NOT_PROBED: Final = "judge not probed"
"""Part of the sentence of a green for which no probe proves that the judge can say no, or what made it green."""
_TESTS: Final = frozenset({"test", "other"})


async def probe(green: Verification, confirmed: Verification, judged: Judged, context: RunContext) -> Verification:
    """What `confirm` made of a green, with what the probes found; red where one of them raises an alarm.

    A probe that cannot be made, crashes or runs out of time proves nothing and refuses nothing. A green that was
    refused for what its code says to the judge is probed all the same: a wrong answer that was not noticed shows what
    the refusal only infers.
    """
    if judged.task.limits.probes == "off" or not judged.changed or confirmed.detail not in {"", NEEDS_REVIEW, SPEAKS}:
        return confirmed
    usual = sum(result.seconds for _, result in judged.results)
    tests = sum(result.seconds for check, result in judged.results if check.role in _TESTS)
    bench = Bench(
        context=context,
        verification=green,
        before=judged.before,
        tree=judged.tree,
        seconds=max(judged.task.limits.probe_time, 3 * usual),
        usual=tests,
        rng=random.Random(seed_of(judged.results, judged.tree)),  # noqa: S311  a sample; the seed is what is secret
    )
    found: list[ProbeResult] = []
    units = list(_units(green, judged, bench))
    if units:
        context.emit("probing", visit=green.visit, targets=sum(len(unit.targets) or 1 for unit in units))
    for unit in units:
        found += await _probes_of(unit, bench, judged)
    alarms = [each for each in found if each.value == "alarm"]
    line = line_of(found) or f"{NOT_PROBED}: nothing turned from red to green"
    context.emit("probed", visit=green.visit, line=line, alarm=bool(alarms))
    verification = confirmed.model_copy(update={"probes": tuple(found)})
    if alarms:
        detail = JUDGE_DEAF if alarms[0].name in {"wrong answers", "canary"} else NOT_BY_THE_CHANGE
        first, *more = alarms[0].evidence or ("",)
        reasons = [f"{alarms[0].told}: {first}" if first else alarms[0].told, *more]
        return refused(
            verification, detail, [*reasons[:1], *confirmed.doubts, *reasons[1:]], confirmed.summary.splitlines()
        )
    if confirmed.doubts and (not units or sum(each.complete for each in found) < len(units)):
        return refused(verification, SPEAKS, confirmed.doubts, confirmed.summary.splitlines())
    proved = is_alive(found) and is_caused(found)
    return verification if proved or not confirmed.passed else _marked_unprobed(verification)


def _marked_unprobed(verification: Verification) -> Verification:
    """The green verification, whose first line says that no probe speaks for it."""
    first, *rest = verification.summary.splitlines() or [""]
    summary = "\n".join([f"{first}, {NOT_PROBED}", *rest])[:MAX_SUMMARY]
    return verification.model_copy(update={"summary": summary})


def _units(verification: Verification, judged: Judged, bench: Bench) -> Iterator[ProbeUnit]:
    """The units that turned green, by check; if none did, the new tests that prove the change."""
    wanted = set(verification.fixed).intersection(verification.targets) or set(verification.proved)
    for check, result in judged.results:
        passed = [test for test, status in (result.tests or {}).items() if status == "passed"]
        ids = [test for test in passed if wanted.intersection(_units_of(test, check.name))]
        if ids or check.name in wanted:
            yield bench.unit(check, ids or passed)


def _units_of(test: str, check: str) -> Iterator[str]:
    """Names under which a test may have been red: its own, and its file or class if that was not loaded."""
    parts = test.split("::")
    for end in range(1, len(parts) + 1):
        name = "::".join(parts[:end])
        yield from (name, f"{check}: {name}")


async def _probes_of(unit: ProbeUnit, bench: Bench, judged: Judged) -> list[ProbeResult]:
    """All probes of one unit, up to the first alarm."""
    how = judged.task.limits.probes
    cause = await guarded("counter-proof", unit.check.name, counter_proof(unit, bench, judged))
    if cause.value == "alarm":
        return [cause]
    if unit.check.role not in _TESTS:
        comments = new_comments(bench, judged)
        if not comments:
            return [cause]
        return [cause, await guarded("comments", unit.check.name, comment_probe(unit, bench, judged, comments))]
    found = [cause]
    names = await _if_any(redefined_names_probe, unit, bench, judged)
    if names:
        return [*found, names]
    if new := new_test_files(bench, judged):
        found.append(await guarded("old tests", unit.check.name, old_tests_probe(unit, bench, judged, new)))
    whole_unit = unit
    unit, harmless = await control(unit, bench)
    found += [harmless] if harmless else []
    if harmless and harmless.value == "alarm":
        return found
    rounds = ChanceRounds(unit, bench) if how == "full" else None
    life = await guarded("wrong answers", unit.check.name, answer_probe(unit, bench, most=ORACLES[how], rounds=rounds))
    if rounds and rounds.ended and rounds.ended.value == "alarm":
        return [*found, rounds.ended]
    if life.value != "alarm" and (not life.complete or bench.affords()):
        failed = await _if_any(failed_assertion_probe, unit, bench, judged)
        if failed and failed.value == "alarm":
            return [*found, failed]
        if failed and life.value == "not_probed":
            life = failed
        elif failed and not life.complete:
            found.append(failed)
    found.append(life)
    if life.value == "not_probed" and not life.evidence:
        found.append(await guarded("canary", unit.check.name, canary_probe(unit, bench)))
    if any(each.value == "alarm" for each in found):
        return found
    for optional in (expected_data_probe, surroundings_probe) if rounds else (expected_data_probe,):
        extra = await _if_any(optional, unit, bench, judged)
        found += [extra] if extra else []
        if extra and extra.value == "alarm":
            return found
    if rounds is None:
        return found
    return [*found, await guarded("chance", unit.check.name, _chance(rounds, _red_alone(whole_unit, unit, bench)))]


async def _chance(rounds: ChanceRounds, red_alone: ProbeUnit | None) -> ProbeResult:
    """The finding of all rounds, and whether a target that was red alone stays red."""
    alarm = await red_alone_probe(red_alone, rounds.bench) if red_alone else None
    return alarm or await rounds.rest()


async def _if_any(
    act: Callable[[ProbeUnit, Bench, Judged], Awaitable[ProbeResult | None]],
    unit: ProbeUnit,
    bench: Bench,
    judged: Judged,
) -> ProbeResult | None:
    """The finding of a probe that most changes do not need."""
    try:
        return await act(unit, bench, judged)
    except OutOfTimeError:
        name: ProbeName = "surroundings" if act is surroundings_probe else "expected data"
        return not_probed(name, unit.check.name, "the time for probes was used up")


def _red_alone(asked: ProbeUnit, kept: ProbeUnit, bench: Bench) -> ProbeUnit | None:
    """A unit of the targets that the control left out; None if there are none."""
    left_out = [target for target in asked.targets if target in kept.red_alone]
    return asked.only(left_out, bench) if asked.is_part and left_out else None
