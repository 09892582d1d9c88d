"""The record of the visit that was just judged."""

from collections.abc import Iterator
from typing import Final

from kotef.checks.types import RED
from kotef.checks.verdict import Verification, failure_entries, rank
from kotef.failures.history import MAX_TESTS
from kotef.failures.visit_history import MAX_REASON, MAX_SAID, MAX_UNITS, Visit, before
from kotef.state import CUT_SHORT, AgentState, Edits
from kotef.workspace import Snapshots

PUT_BACK: Final = "put_back"
"""Name of the failure entry for files that were put back; it is not a failure of the project."""

REFUSED: Final = "review_refused"
"""Detail of a refused review, the same for all, because reviews cannot be compared."""


def judged_visit(state: AgentState) -> dict[int, Visit]:
    """The newest verification as an update of the `visits` channel; empty when its visit is on record already.

    Made from the state alone, so that a run that was killed knows the same after its resume.
    """
    judged, edits = state.get("test_results"), state.get("edits")
    if judged is None:
        return {}
    own = edits if edits is not None and edits.visit == judged.visit else None
    if own is None and judged.visit in state["visits"]:
        return {}
    return {judged.visit: visit_of(judged, own, before(state["visits"], judged.visit))}


def edited(state: AgentState) -> frozenset[str]:
    """Paths that a coder of this run changed in any visit, including the one being judged."""
    edits = state.get("edits")
    earlier = (path for visit in state["visits"].values() for path in visit.changed)
    return frozenset((*earlier, *(edits.changed if edits else ())))


def left_by_checks(state: AgentState, snapshots: Snapshots) -> frozenset[str]:
    """Paths that differ from the state before the run only because the checks wrote them.

    What they wrote at the baseline is theirs where the workspace did not hold it, or where no coder changed it since.
    """
    baseline = state.get("baseline")
    if baseline is None or not baseline.wrote:
        return frozenset()
    return frozenset(baseline.wrote) - edited(state).intersection(snapshots.paths(state["snapshots"][0]))


def visit_of(judged: Verification, edits: Edits | None, last: Visit | None) -> Visit:
    """One verification compared with the visit judged before it; `edits` is None at the baseline."""
    red = sorted({*_red_tests(judged), *_red_checks(judged), *judged.missing, *judged.newly_skipped})
    was = frozenset(last.red if last else red)
    refused = judged.detail == REFUSED
    prints = [entry.fingerprint for entry in failure_entries(judged) if not refused and entry.check != PUT_BACK]
    claim = (edits.rationale or edits.summary) if edits else ""
    return Visit(
        visit=judged.visit,
        tree=judged.tree,
        red=tuple(red[:MAX_UNITS]),
        whole=len(red) <= MAX_UNITS and all(len(check.failing) < MAX_TESTS or check.red for check in judged.checks),
        ran_all=judged.regressions_known,
        fingerprints=tuple(sorted(prints)),
        rank=rank(judged),
        executed=judged.executed,
        changed=edits.changed[:MAX_UNITS] if edits else (),
        foreign=edits.foreign[:MAX_UNITS] if edits else (),
        said=" ".join(claim[: MAX_SAID if edits and edits.changed else MAX_REASON].split()),
        stopped=edits.detail if edits and edits.stopped_by in CUT_SHORT else "",
        idle=edits.idle if edits else "",
        fixed=tuple(unit for unit in sorted(was.difference(red)) if _is_green(unit, judged, last)),
        broke=tuple(unit for unit in red if unit not in was)[:MAX_UNITS],
    )


def _red_tests(judged: Verification) -> Iterator[str]:
    return (test for test, status in judged.tests.items() if status in RED)


def _red_checks(judged: Verification) -> Iterator[str]:
    """Red units of checks without a report: the names read from the output, else the check itself."""
    for check in judged.checks:
        if not (check.passed or check.advisory or check.red):
            yield from check.failing or (check.name,)


def _is_green(unit: str, judged: Verification, last: Visit | None) -> bool:
    """Whether a unit that is red no more passed: by report, or as a check, or by name while as many tests ran.

    A file that could not be collected stands for the tests in it.
    """
    if unit in judged.tests:
        return judged.tests[unit] == "passed"
    checks = {check.name: check.passed for check in judged.checks}
    inside = {status for test, status in judged.tests.items() if test.startswith(f"{unit}::")}
    if unit in checks or inside:
        return checks.get(unit, False) or ("passed" in inside and inside.isdisjoint(RED))
    return judged.regressions_known and last is not None and judged.executed >= last.executed
