"""Probe of the assertions that failed before the run: each must still be able to fail its test."""

from collections.abc import Iterator
from typing import Final

from kotef.checks.failure_list import failed_lines
from kotef.checks.probe import ProbeResult, not_probed
from kotef.integrity import HaltedAssertion, Mixture, file_of_test, halted_assertion
from kotef.nodes.confirm_green import Judged
from kotef.nodes.probe_bench import Bench, ProbeUnit, status_in

_CONFIRMED: Final = 2
"""Assertions that are not heard and are looked at one by one."""


async def failed_assertion_probe(unit: ProbeUnit, bench: Bench, judged: Judged) -> ProbeResult | None:
    """An alarm if an assertion that failed without the change can no longer fail its test; None if all can.

    A failure takes its place. Where the target stays green, the end of the process in its place shows whether it is
    reached: if so, something caught its failure. One that is not reached is no longer asked, if nothing in the test
    decides about it, or if it compares with a value that has to be there and only a loop or a call decides: the product
    gives the loop no rounds, or does not call. Of another one nothing is known: not probed.
    """
    halted = dict(failed_before(unit, bench, judged))
    mixture = Mixture()
    tried: dict[str, tuple[str, HaltedAssertion]] = {}
    for target, (path, assertion) in halted.items():
        known = any(other == (path, assertion) for other in tried.values())
        if known or mixture.take(path, bench.read(path) or b"", assertion.failing):
            tried[target] = (path, assertion)
    if not tried:
        return None
    with bench.with_contents(mixture.contents()):
        result = await bench.run(unit.only(tried, bench), "failed-line")
    unheard = [target for target in tried if status_in(result, target) == "passed"]
    unreached = ""
    for target in unheard[:_CONFIRMED]:
        path, assertion = tried[target]
        place = f"{path}:{assertion.line}"
        with bench.with_contents({path: assertion.ending}):
            ended = await bench.run(unit.only([target], bench), "ended-line")
        is_reached = status_in(ended, target) != "passed"
        if is_reached or _has_to_be_reached(assertion):
            what = "is caught" if is_reached else "is not reached"
            return ProbeResult(
                name="wrong answers",
                check=unit.check.name,
                value="alarm",
                told=f"the assertion that failed before the run {what}",
                evidence=(f"{place}: `{assertion.text[:120]}`", f"{target}: passes with a failure in its place"),
            )
        unreached = unreached or place
    if not unreached:
        return None
    why = f"the assertion that failed before the run is not reached: {unreached}"
    return not_probed("wrong answers", unit.check.name, why, evidence=(unreached,))


def _has_to_be_reached(assertion: HaltedAssertion) -> bool:
    return assertion.decider == "nothing" or (assertion.decider == "rounds" and assertion.asks_for_equality)


def failed_before(unit: ProbeUnit, bench: Bench, judged: Judged) -> Iterator[tuple[str, tuple[str, HaltedAssertion]]]:
    """Targets with the file and the assertion that fails there without the change, as the counter-proof showed it."""
    for target, path in _unchanged_files(unit, bench, judged):
        for result in bench.without_change:
            lines = failed_lines(result, target, path, bench.context.root)
            assertion = halted_assertion(path, bench.read(path) or b"", lines)
            if assertion is not None:
                yield target, (path, assertion)
                break


def _unchanged_files(unit: ProbeUnit, bench: Bench, judged: Judged) -> Iterator[tuple[str, str]]:
    """Targets with the file of each, if the run did not change it."""
    for target in unit.targets:
        path = file_of_test(target, bench.paths(), bench.read)
        if path and path not in judged.changed:
            yield target, path
