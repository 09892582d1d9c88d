"""The verdict on a visit: targets reached and nothing broken, compared with the baseline."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypeAlias

from kotef.checks.failure_entries import failure_entries
from kotef.checks.reports import worse
from kotef.checks.runners import says_tests_failed
from kotef.checks.targets import named_tests, names_check
from kotef.checks.types import RED, Check, CommandResult, TestStatus
from kotef.checks.verdict_problems import TestsNow, VerdictProblem, _red_problems, concluded, problems_of
from kotef.checks.verification import MAX_RED, CheckVerdict, Verification, compared, rank
from kotef.checks.volatile_ids import renamed
from kotef.classification import ENVIRONMENT_FAULTS
from kotef.files import matches_globs
from kotef.shell import created_by_the_task

__all__ = [
    "CheckVerdict",
    "Results",
    "Verification",
    "compared",
    "environment_fault",
    "failure_entries",
    "judge",
    "judge_baseline",
    "rank",
]

Results: TypeAlias = Sequence[tuple[Check, CommandResult]]
"""The checks of a task in order, each with what its command did."""

_ASIDE: Final[frozenset[TestStatus]] = frozenset({"skipped", "xfailed"})


class _Collected(NamedTuple):
    """The tests of all reports under their keys."""

    tests: dict[str, TestStatus]
    red: dict[str, tuple[str, ...]]
    """Keys of the failing tests of each check, by its name; empty for a check that names none."""
    flaky: tuple[str, ...]
    """Units that failed and passed alone; a check without ids is one when all the tests it names did."""

    def units(self, check: str) -> tuple[str, ...]:
        """What is red when this check is."""
        return self.red[check] or (check,)


def judge_baseline(results: Results, *, named_text: str, tree: str) -> Verification:
    """Visit 0: what is red before a token is paid for, and which of it the task has to turn green.

    `named_text` is the goal and the ticket. If it names no red unit (and no named command has one), all are targets.
    What is flaky is pre-existing, because it may turn green without an edit; only where nothing else is named is it a
    target, because someone asked for it.
    """
    found = _collect(results, {})
    advisory = {check.name: _is_advisory(check, result, named_text) for check, result in results}
    red = [(check, result) for check, result in results if not result.passed and not advisory[check.name]]
    reds = tuple(dict.fromkeys(unit for check, _ in red for unit in found.units(check.name)))
    named = {unit for check, result in red for unit in _named_units(check, result, found, named_text)}
    wanted = named.difference(found.flaky) or named or set(reds).difference(found.flaky)
    targets = tuple(unit for unit in reds if unit in wanted)
    preexisting = tuple(unit for unit in reds if unit not in wanted)
    verdicts = tuple(
        _check_verdict(check, result, found.red[check.name], frozenset(preexisting), advisory=advisory[check.name])
        for check, result in results
    )
    draft = Verification(visit=0, tree=tree, passed=False, checks=verdicts)
    problems = _red_problems(verdicts, targets)
    if not problems and not draft.executed:
        problems = [VerdictProblem("no_proof_of_work", "no check executed a test")]
    return concluded(draft, problems).model_copy(
        update={
            "tests": found.tests,
            "targets": targets,
            "preexisting": preexisting,
            "flaky": found.flaky,
            "environment": environment_fault([(c, r) for c, r in results if not advisory[c.name]]),
            "seconds": sum(result.seconds for _, result in results),
        }
    )


def judge(
    baseline: Verification,
    results: Results,
    *,
    visit: int,
    tree: str,
    changed: Sequence[str],
    needs_proof: bool,
    proved: Collection[str] | None = None,
    review_accepted: bool = False,
    put_back: Sequence[str] = (),
    left: Sequence[str] = (),
    allow: Sequence[str] = (),
) -> Verification:
    """The verdict on the tree a visit of the coder left, every unit compared with the baseline.

    `changed` are the paths that differ from the baseline; `needs_proof` says that there is a goal or an open line of a
    Definition of Done, `proved` which new tests fail on the baseline's code, and None that they were not tried on it.
    `allow` are globs of the protected paths this run may edit: a test gone from one of them was removed on purpose.
    """
    found = _collect(results, baseline.tests)
    before = {verdict.name: verdict for verdict in baseline.checks}
    preexisting = frozenset(baseline.preexisting)
    verdicts = tuple(
        _check_verdict(check, result, found.red[check.name], preexisting, advisory=_was_advisory(check, before))
        for check, result in results
    )
    now = TestsNow(found.tests, verdicts)
    whole = not any(result.partial for _, result in results)
    gone = tuple(test for test in baseline.tests if now.status(test) is None) if whole else ()
    doubtful = frozenset(baseline.flaky).difference(baseline.targets)
    were_red = (*baseline.targets, *baseline.preexisting)
    removed = {test for test in gone if allow and matches_globs(_file_of(test, before), allow)}
    new_tests = tuple(t for t, status in found.tests.items() if t not in baseline.tests and status != "skipped")
    passing = tuple(test for test in new_tests if found.tests[test] == "passed")
    red_first = frozenset(proved or ())
    draft = Verification(
        visit=visit,
        tree=tree,
        passed=False,
        checks=verdicts,
        tests=found.tests,
        targets=baseline.targets,
        preexisting=baseline.preexisting,
        fixed=tuple(unit for unit in were_red if unit not in doubtful and now.is_green(unit)),
        broken=_broken(baseline, verdicts, found),
        flaky=tuple(unit for unit in found.flaky if unit not in baseline.flaky),
        missing=tuple(test for test in gone if test not in removed),
        removed=tuple(test for test in gone if test in removed),
        newly_skipped=tuple(test for test, status in baseline.tests.items() if _set_aside(status, now.status(test))),
        new_tests=new_tests,
        proved=tuple(test for test in passing if test in red_first),
        unproved=None if proved is None else tuple(test for test in passing if test not in red_first),
        put_back=tuple(put_back),
        left=tuple(left),
        environment=environment_fault([(c, r) for c, r in results if not _was_advisory(c, before)]),
        seconds=sum(result.seconds for _, result in results),
    )
    proof = bool(draft.proved or review_accepted) and bool(changed)
    problems = problems_of(draft, before, now, needs_proof=needs_proof and not proof, tests_may_go=bool(allow))
    if not changed and any(now.is_green(unit) for unit in baseline.targets):
        line = "no change that a patch could contain, so the green result proves nothing: chance or a built file"
        problems.append(VerdictProblem("no_proof_of_work", line))
    return concluded(draft, problems)


def environment_fault(results: Results) -> str:
    """The detail of the first environment fault of a required check; empty without one.

    A missing script inside the workspace is none: the task may be to write it.
    """
    for check, result in results:
        if check.required and not result.passed and result.detail in ENVIRONMENT_FAULTS:
            output = f"{result.stdout}\n{result.stderr}"
            if not (result.exit_code == 127 and created_by_the_task(check.command, output)):  # noqa: PLR2004 - POSIX
                return result.detail
    return ""


def _collect(results: Results, known: Mapping[str, TestStatus]) -> _Collected:
    """Give each test its key: its id, or `check: id` where the id alone is not unique (or was not at the baseline).

    A test whose id holds the time, or an address, keeps the key that it had at the baseline.
    """
    seen = Counter(test for check, result in results if check.required for test in result.tests or ())
    tests: dict[str, TestStatus] = {}
    red: dict[str, tuple[str, ...]] = {}
    flaky: list[str] = []
    volatile = renamed(seen, known) if known else {}
    for check, result in results:
        failing = []
        for test, status in (result.tests or {}).items():
            long = f"{check.name}: {test}"
            key = long if long in known or (seen[test] > 1 and test not in known) else volatile.get(test, test)
            if check.required:
                tests[key] = worse(tests[key], status) if key in tests else status
            if status in RED:
                failing.append(key)
                flaky += [key] if test in result.flaky else []
        red[check.name] = tuple(failing)
        if result.flaky and not failing and set(result.failing) <= set(result.flaky):
            flaky.append(check.name)
    return _Collected(tests, red, tuple(dict.fromkeys(flaky)))


def _check_verdict(
    check: Check, result: CommandResult, red: Sequence[str], preexisting: frozenset[str], *, advisory: bool
) -> CheckVerdict:
    """A failing check is satisfied only by a complete report in which every failing test is pre-existing."""
    complete = (
        result.evidence in {"report", "lines"}
        and result.kind == "test_failure"
        and result.detail != "contradiction"
        and says_tests_failed(check.command, result.exit_code, len(red))
        and bool(result.tests_executed)
    )
    return CheckVerdict(
        name=check.name,
        command=check.command,
        role=check.role,
        required=check.required,
        exit_code=result.exit_code,
        passed=result.passed,
        satisfied=result.passed or (complete and bool(red) and preexisting.issuperset(red)),
        advisory=advisory,
        kind=result.kind,
        detail=result.detail,
        summary=result.summary,
        fingerprint=result.fingerprint,
        seconds=result.seconds,
        timed_out=result.timed_out,
        partial=result.partial,
        evidence=result.evidence,
        executed=result.tests_executed,
        red=tuple(sorted(red, key=preexisting.__contains__))[:MAX_RED],
        failing=result.failing,
        failed=result.failed,
        log=result.log,
    )


def _is_advisory(check: Check, result: CommandResult, named_text: str) -> bool:
    """At the baseline: a detected lint or type check that is red already does not block, unless someone named it."""
    detected = check.origin == "detected" and check.role in {"lint", "types"}
    return not check.required or (detected and not result.passed and not names_check(named_text, check))


def _was_advisory(check: Check, before: Mapping[str, CheckVerdict]) -> bool:
    return before[check.name].advisory if check.name in before else not check.required


def _named_units(check: Check, result: CommandResult, found: _Collected, named_text: str) -> Iterable[str]:
    """The red units of a check that the text names one by one, else all of them if the command was named."""
    ids = dict(
        zip((t for t, status in (result.tests or {}).items() if status in RED), found.red[check.name], strict=True)
    )
    precise = named_tests(named_text, ids)
    if precise:
        return [ids[test] for test in precise]
    named = check.origin in {"option", "ticket"} or names_check(named_text, check)
    return found.units(check.name) if named else ()


def _file_of(test: str, checks: Iterable[str]) -> str:
    """The file part of a test's key."""
    bare = next((test.removeprefix(f"{name}: ") for name in checks if test.startswith(f"{name}: ")), test)
    return bare.split("::")[0]


def _set_aside(before: TestStatus, now: TestStatus | None) -> bool:
    """Whether a test stopped saying yes or no: skipped or expected to fail, and it was not before."""
    return now in _ASIDE and before not in {now, "skipped"}


def _broken(baseline: Verification, verdicts: Iterable[CheckVerdict], found: _Collected) -> tuple[str, ...]:
    """Newly failing tests, and checks that newly fail without naming one."""
    tests = [
        test for test, status in found.tests.items() if status in RED and baseline.tests.get(test, "failed") not in RED
    ]
    was_fine = {verdict.name for verdict in baseline.checks if verdict.satisfied}
    fresh = [
        v.name for v in verdicts if v.name in was_fine and not (v.satisfied or v.advisory) and not found.red[v.name]
    ]
    return (*tests, *fresh)
