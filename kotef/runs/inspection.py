"""Inspection: the checks on the workspace now and at an earlier commit, without a model or an edit."""

import os
import random
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.failure_list import ReportedFailure, failures_of
from kotef.checks.flaky import flaky_among, unexpected
from kotef.checks.probe import JUDGE_DEAF, ProbeResult, not_probed
from kotef.checks.reports import counted_tests
from kotef.checks.runner import run_check
from kotef.checks.types import RED, Check, CommandResult
from kotef.checks.verdict import Results, Verification, environment_fault, judge, judge_baseline
from kotef.classification import ENVIRONMENT_FAULTS
from kotef.errors import UsageError, WorkspaceError
from kotef.files import list_within, remove_within
from kotef.git import git, inspect
from kotef.runs.copy_bench import CopyBench, Run, changed_since, files_of, judging, overlay, probe_checks
from kotef.runs.inspection_result import CheckCounts, Checked, CheckFailure, FailureState, Inspection
from kotef.runs.result import ResultProbe
from kotef.runs.store import uncommitted
from kotef.sandbox import OFF, BaseCheckout, Sandbox, base_checkout, fresh_room, resolve_commit
from kotef.settings import Limits
from kotef.shell import judging_files, words_of
from kotef.workspace import workspace_lock

_READS_CI: Final = r"""\benv\.CI\b|(environ|getenv|Getenv|env|ENV)[^a-zA-Z]{0,3}(get)?[^a-zA-Z]{0,3}["']CI["']"""
_CODE: Final = ("*.js", "*.mjs", "*.cjs", "*.ts", "*.py", "*.go", "*.rs", "*.rb", "*.php", "*.java", "*.c", "*.cc")
_MOST: Final = 20_000
"""Entries of the workspace's root that are searched for caches."""

GREEN: Final = 0
NOT_GREEN: Final = 3
CANNOT: Final = 5

_SHOWN_OF_RESULT: Final = frozenset(
    {"command", "passed", "exit_code", "kind", "detail", "summary", "fingerprint", "evidence", "obstructions"}
)
"""Fields of a `CommandResult` that are shown as they are."""


@dataclass(frozen=True, slots=True)
class InspectionRequest:
    """The checks, and the commit to compare with."""

    root: Path
    checks: tuple[Check, ...]
    """Never empty."""
    environment: dict[str, str]
    """The complete environment of a check."""
    limits: Limits
    """`probes` counts only where `against` names a commit."""
    against: str | None = None
    """A commit; None: HEAD where there is uncommitted work."""
    compare: bool = True
    sandbox: Sandbox = OFF


async def inspection(question: InspectionRequest, telling: Callable[[str], None]) -> Inspection:
    """Run the checks in place, and before that at the commit to compare with; nothing of the workspace is written.

    Green is when every required check passes, nothing that ran at the commit is missing or skipped now, and nothing
    contradicts itself: what was red before does not excuse what is red now. `telling` hears what is being done. The
    earlier state is judged in a copy mounted at the workspace's own path, see `workspace.base_checkout`: putting it in
    place and back would leave the user's files at another commit when it is killed, and touch what an editor has open.

    Raises `UsageError`, `BusyError`, `WorkspaceError`, `CheckError`.
    """
    root = question.root
    with workspace_lock(root, "check"), ExitStack() as held:
        caches = _caches(root)
        held.callback(_drop_new_caches, root, caches)
        commit, notices = _commit(question)
        before: Verification | None = None
        unjudged: dict[str, str] = {}
        results: Results = ()
        if commit:
            earlier = await _earlier(question, commit, telling)
            notices += earlier.notices
            results, unjudged = earlier.results, earlier.unjudged
            judged = [(check, result) for check, result in results if check.name not in unjudged]
            before = judge_baseline(judged, named_text=_everything(question), tree=commit) if judged else None
        now = await _run(question, None, before, telling)
        if before is None:
            verdict = judge_baseline(now, named_text=_everything(question), tree="")
        else:
            verdict = judge(before, now, visit=1, tree="", changed=(), needs_proof=False)
        probes: Sequence[ProbeResult] = ()
        changed: Sequence[str] = ()
        if question.against is not None and question.limits.probes != "off" and verdict.green:
            telling("probing the judge: can the checks still fail?")
            changed = changed_since(root, commit)
            probes = await _probes(question, now, changed)
    against = commit and (question.against or "HEAD")
    notices = [*notices, *_read_of_ci(question)]
    report = _inspection(
        question, now, verdict, before, against=against, earlier=results, unjudged=unjudged, notices=notices
    )
    return _with_probes(report, probes, changed)


async def _probes(question: InspectionRequest, now: Results, changed: Sequence[str]) -> list[ProbeResult]:
    """Probes of the checks, in a copy of the workspace as it is now."""
    root, facts = question.root, inspect(question.root)
    if facts.toplevel is None:
        return []
    seconds = max(question.limits.probe_time, 3 * sum(result.seconds for _, result in now))
    try:
        with base_checkout(root, facts.toplevel, facts.head or "HEAD", question.sandbox) as place:
            overlay(root, place.copy, changed_since(root, "HEAD"))
            known = frozenset(files_of(root))
            rng = random.Random(secrets.randbits(64))  # noqa: S311  the seed is what is secret
            bench = CopyBench(place.copy, _judge_in(question, place), rng, seconds, known)
            return await probe_checks(now, bench, changed)
    except WorkspaceError as error:
        return [not_probed("wrong answers", check.name, f"no copy: {error}"[:100]) for check, _ in now[:1]]


def _with_probes(told: Inspection, probes: Sequence[ProbeResult], changed: Sequence[str]) -> Inspection:
    """The findings; red if a probe raised an alarm."""
    found = tuple(ResultProbe(**probe.model_dump(exclude={"proves_life", "complete"})) for probe in probes)
    if not any(probe.value == "alarm" for probe in probes):
        return told.model_copy(update={"probes": found})
    refused = {"green": False, "exit_code": NOT_GREEN, "detail": JUDGE_DEAF, "judging": tuple(judging(changed))}
    return told.model_copy(update={"probes": found, **refused})


def _read_of_ci(question: InspectionRequest) -> list[str]:
    """A sentence if the project's code reads the variable CI, which kotef sets for checks."""
    value = question.environment.get("CI", "")
    if not value or os.environ.get("CI") == value:
        return []
    try:
        listed = git(["grep", "-lE", _READS_CI, "--", *_CODE], cwd=question.root, check=False)
    except WorkspaceError:
        return []
    first = listed.decode("utf-8", "replace").partition("\n")[0]
    return [f"checks run with CI={value}, which {first} reads: without it the result may differ"] if first else []


def _everything(question: InspectionRequest) -> str:
    """All checks are targets: no failure is excused by the past."""
    return "\n".join(check.command for check in question.checks)


def _commit(question: InspectionRequest) -> tuple[str, list[str]]:
    """The commit to compare with; empty if there is none, or nothing differs from it."""
    if not question.compare:
        return "", []
    if question.against is not None:
        return resolve_commit(question.root, question.against), []
    facts = inspect(question.root)
    if not facts.head:
        return "", []
    return (facts.head, []) if uncommitted(question.root) else ("", [])


class _Earlier(NamedTuple):
    """Results of the commit to compare with."""

    results: Results = ()
    unjudged: dict[str, str] = {}  # noqa: RUF012  never written to
    """Names of checks that could not be judged at the commit, with the reason."""
    notices: tuple[str, ...] = ()


async def _earlier(question: InspectionRequest, commit: str, telling: Callable[[str], None]) -> _Earlier:
    """The checks at the commit; without results, and the reason, when they cannot be run there.

    A commit that someone named must be judged, so for it that is an error.
    """
    toplevel = inspect(question.root).toplevel
    if toplevel is None:
        raise UsageError(f"--against {question.against}: not a git repository", hint="leave it out")
    try:
        with base_checkout(question.root, toplevel, commit, question.sandbox) as place:
            results = await _run(question, place, None, telling)
            unjudged = {check.name: why for check, result in results if (why := _unjudged(result, question, place))}
    except WorkspaceError as error:
        if question.against is not None:
            raise
        return _Earlier(notices=(f"not compared with HEAD: {error}",))
    if question.against is not None and (fault := environment_fault(results)):
        problem = f"the checks cannot be run there ({fault})"
        raise WorkspaceError(question.against, problem, hint="--no-compare judges only the current state")
    why = "a sandbox of Landlock" if question.sandbox.level == "landlock" else "this system"
    mounted = "" if place.mounted else f"judged in a copy, because {why} permits no mounts: paths differ there"
    return _Earlier(results, unjudged, (mounted,) if mounted else ())


def _unjudged(result: CommandResult, question: InspectionRequest, place: BaseCheckout) -> str:
    """Why a check that failed at the commit was not judged there; empty if it was.

    The command names a file that came later, or what it starts is not available there.
    """
    if result.passed:
        return ""
    paths = (word.partition("::")[0] for word in (*judging_files(result.command), *words_of(result.command)))
    installed = tuple(f"{path}/" for path in place.bound)
    own = [path for path in paths if path and not path.startswith(installed)]
    if later := [path for path in own if (question.root / path).exists() and not (place.copy / path).exists()]:
        return f"{later[0]} does not exist there"
    return result.detail.replace("_", " ") if result.detail in ENVIRONMENT_FAULTS else ""


async def _run(
    question: InspectionRequest, place: BaseCheckout | None, before: Verification | None, telling: Callable[[str], None]
) -> Results:
    """Run every check once, in order, and unexpected failures again alone."""
    files, limits, run = place.copy if place else question.root, question.limits, _judge_in(question, place)

    def exists(path: str) -> bool:
        return (files / path).exists()

    results: list[tuple[Check, CommandResult]] = []
    for check in question.checks:
        telling(f"{check.command} (at {question.against or 'HEAD'})" if place else check.command)
        result = await run(check, "")
        tests = unexpected(check, result, before) if limits.reruns else ()
        flaky = await flaky_among(check, tests, times=limits.reruns, run=run, exists=exists, log_name="")
        results.append((check, result.model_copy(update={"flaky": flaky})))
    return results


def _judge_in(question: InspectionRequest, place: BaseCheckout | None) -> Run:
    """A function that runs a check in the workspace, or in a copy of it, in a room of its own."""
    limits = question.limits

    async def run(check: Check, _: str) -> CommandResult:
        with fresh_room(question.sandbox) as sandbox:
            return await run_check(
                check.command,
                root=place.directory if place else question.root,
                env=question.environment,
                timeout=limits.command_timeout,
                idle_timeout=limits.idle_timeout,
                sandbox=place.sandbox(sandbox) if place else sandbox,
            )

    return run


def _inspection(
    question: InspectionRequest,
    results: Results,
    verdict: Verification,
    before: Verification | None,
    *,
    against: str,
    earlier: Results,
    unjudged: Mapping[str, str],
    notices: Sequence[str],
) -> Inspection:
    fault = environment_fault(results)
    known = {check.name: result for check, result in earlier}
    green = verdict.green and verdict.detail in {"", "no_proof_of_work"} and not fault
    exit_code = GREEN if green else NOT_GREEN
    if fault:
        exit_code = CANNOT
    return Inspection(
        green=green,
        exit_code=exit_code,
        detail=fault or ("" if green else _detail(verdict)),
        sandbox=question.sandbox.name,
        network=question.sandbox.network,
        ci=question.environment.get("CI", ""),
        against=against if before else None,
        before=_counts(before) if before else None,
        now=_counts(verdict),
        checks=tuple(
            _checked(question.root, check, result, before, _Then(known.get(check.name), unjudged.get(check.name, "")))
            for check, result in results
        ),
        fixed=verdict.fixed if before else (),
        broken=verdict.broken,
        missing=verdict.missing,
        newly_skipped=verdict.newly_skipped,
        flaky=verdict.flaky,
        notices=tuple(notices),
    )


def _detail(verdict: Verification) -> str:
    """The machine word for why it is red; without a comparison also for a chance failure."""
    red = verdict.red_units
    return "flaky" if verdict.detail == "red" and red and red <= set(verdict.flaky) else verdict.detail


def _counts(verdict: Verification) -> CheckCounts:
    required = [check for check in verdict.checks if not check.advisory]
    counted = [check.executed for check in required if check.executed is not None]
    by_id = all(
        check.evidence in {"report", "lines"}
        for check in required
        if check.role == "test" or check.executed is not None
    )
    found = Counter(counted_tests(verdict.tests).values())
    known = by_id and bool(verdict.tests)
    return CheckCounts(
        checks=len(required),
        checks_passed=sum(check.passed for check in required),
        tests_run=sum(counted) if counted else None,
        passed=found["passed"] + found["xpassed"] + found["xfailed"] if known else None,
        failed=sum(found[status] for status in RED) if known else None,
        skipped=found["skipped"] if known else None,
    )


class _Then(NamedTuple):
    """The result of a check at the commit to compare with."""

    result: CommandResult | None
    unjudged: str
    """Why it was not judged at the commit; empty if it was."""

    def complaints(self, root: Path) -> frozenset[tuple[str, str]]:
        """File and message of each failure without a test; line numbers are left out because they move."""
        failures = failures_of(self.result, root) if self.result else ()
        return frozenset((each.file, each.message) for each in failures if not each.test)


def _checked(root: Path, check: Check, result: CommandResult, before: Verification | None, then: _Then) -> Checked:
    red = before.red_units if before else frozenset()
    failing = then.result.failing if then.result else ()
    complaints = then.complaints(root)
    same = then.result is not None and bool(result.fingerprint) and then.result.fingerprint == result.fingerprint

    def state(failure: ReportedFailure) -> FailureState:
        if before is None or then.unjudged:
            return "failing"
        if failure.test:
            known = failure.test in red or f"{check.name}: {failure.test}" in red or failure.test in failing
            return "still" if known else "new"
        if result.kind == "test_failure" and not failure.file:
            # Tests that no one names: whether those are the ones that failed before cannot be determined.
            return "new" if then.result is None or then.result.passed else "failing"
        return "still" if same or (failure.file, failure.message) in complaints else "new"

    return Checked(
        **result.model_dump(include=set(_SHOWN_OF_RESULT)),
        name=check.name,
        role=check.role,
        required=check.required,
        tests_run=result.tests_executed,
        failed=result.failed,
        tests=result.tests,
        unjudged=then.unjudged,
        seconds=round(result.seconds, 3),
        failures=tuple(
            CheckFailure(**failure._asdict(), state=state(failure), flaky=failure.test in result.flaky)
            for failure in failures_of(result, root)
        ),
    )


def _caches(root: Path) -> set[str]:
    """Directories at the workspace's root that are marked as caches, such as those of pytest, mypy and ruff."""
    folders = [entry.name for entry in list_within(root, most=_MOST) if entry.is_directory]
    return {name for name in folders if os.path.lexists(root / name / "CACHEDIR.TAG")}


def _drop_new_caches(root: Path, before: set[str]) -> None:
    """Delete caches that a check made here; existing ones stay."""
    for name in _caches(root) - before:
        with suppress(OSError):
            remove_within(root, name)
