"""Verdicts of the current rules on the outputs that a run kept."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from kotef.checks.probe import JUDGE_DEAF, NOT_BY_THE_CHANGE
from kotef.checks.runner import reconsidered
from kotef.checks.verdict_inputs import Judging, place_of
from kotef.checks.verification import CheckVerdict, Verification
from kotef.errors import UsageError
from kotef.nodes.confirm_green import SPEAKS, STEERS
from kotef.nodes.decide import NEEDS_REVIEW
from kotef.runs.result import Camel
from kotef.runs.store import RunDir

SAME: Final = 0
OTHERWISE: Final = 3

_BY_LOOKING: Final = frozenset({SPEAKS, STEERS, JUDGE_DEAF, NOT_BY_THE_CHANGE})
"""Refusals that come from the files of a tree or from probes, not from what its checks printed."""


class JudgedOutcome(Camel):
    """The verdict on one check, or on a visit as a whole (then without a fingerprint)."""

    passed: bool
    kind: str | None = None
    detail: str
    fingerprint: str = ""


class Rejudged(Camel):
    """One check of a visit, then and now; or, without a name, the visit."""

    visit: int
    check: str
    then: JudgedOutcome
    now: JudgedOutcome

    @property
    def same(self) -> bool:
        """Whether both say the same."""
        return self.then == self.now


class Rejudgement(Camel):
    """The result of `kotef rejudge`."""

    schema_version: int = 1
    run_id: str
    kotef_version: str
    """Which kotef judged then; empty if no one noted it."""
    same: bool
    exit_code: int
    visits: tuple[Rejudged, ...]
    """The verdict on each visit."""
    checks: tuple[Rejudged, ...]
    notices: tuple[str, ...]


def rejudge(root: Path, run: RunDir) -> Rejudgement:
    """Classify and judge again; UsageError if no outputs of the baseline were kept, which all is compared with."""
    baseline, visits, checks, notices = None, list[Rejudged](), list[Rejudged](), list[str]()
    for visit, judging, then in _kept(run, notices):
        if visit and baseline is None:
            break
        again = judging.model_copy(
            update={"results": tuple((check, reconsidered(result, root)) for check, result in judging.results)}
        )
        now = again.verdict(baseline)
        if visit == 0:
            kept = ("wrote", "absent", "unheld", "test_files")
            baseline = now.model_copy(update={name: getattr(then, name) for name in kept})
        if then.detail in _BY_LOOKING:
            notices.append(f"visit {visit} was refused for what its files do ({then.detail}); that is not judged again")
            now = now.model_copy(update={"passed": then.passed, "detail": then.detail})
        elif then.detail == NEEDS_REVIEW and now.passed:
            now = now.model_copy(update={"detail": NEEDS_REVIEW})
        visits.append(Rejudged(visit=visit, check="", then=_verdict(then), now=_verdict(now)))
        checks += _checks(visit, then, now)
    if baseline is None:
        raise UsageError(
            f"run {run.run_id} has kept no outputs to judge",
            hint="runs of earlier versions kept none, nor did runs that judged nothing",
        )
    same = all(one.same for one in (*visits, *checks))
    task = run.task()
    return Rejudgement(
        run_id=run.run_id,
        kotef_version=task.kotef_version if task else "",
        same=same,
        exit_code=SAME if same else OTHERWISE,
        visits=tuple(visits),
        checks=tuple(checks),
        notices=tuple(notices),
    )


def _kept(run: RunDir, notices: list[str]) -> Iterator[tuple[int, Judging, Verification]]:
    """Each visit that was judged, in order; one whose outputs are gone or damaged is named."""
    numbers = sorted(
        int(number) for path in run.path.glob("visit-*.json") if (number := path.stem.removeprefix("visit-")).isdigit()
    )
    for visit in numbers:
        try:
            judging = Judging.model_validate_json(place_of(run.path, visit).read_bytes())
            then = Verification.model_validate_json((run.path / f"visit-{visit}.json").read_bytes())
        except FileNotFoundError:
            notices.append(f"the outputs of visit {visit} were not kept")
        except (OSError, ValidationError, json.JSONDecodeError):
            notices.append(f"the outputs of visit {visit} cannot be read")
        else:
            yield visit, judging, then


def _verdict(verification: Verification) -> JudgedOutcome:
    return JudgedOutcome(passed=verification.passed, detail=verification.detail)


def _checks(visit: int, then: Verification, now: Verification) -> Iterator[Rejudged]:
    """The checks that both have; a run's own checks do not change."""
    new = {check.name: check for check in now.checks}
    for check in then.checks:
        if check.name in new:
            yield Rejudged(visit=visit, check=check.name, then=_outcome_of(check), now=_outcome_of(new[check.name]))


def _outcome_of(check: CheckVerdict) -> JudgedOutcome:
    return JudgedOutcome(passed=check.passed, kind=check.kind, detail=check.detail, fingerprint=check.fingerprint)
