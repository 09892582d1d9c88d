"""Construction of the report page from the run's directory alone."""

import re
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final

from pydantic import ValidationError

from kotef import __version__
from kotef.checks.verification import Verification
from kotef.errors import UsageError
from kotef.events import ModelAnswerEvent, RecordedEvent, parse_line
from kotef.failures.plural import counted
from kotef.redaction import redactor
from kotef.report.diffs import FileDiff, diff_of
from kotef.report.logs import excerpt
from kotef.report.page import Attempt, ModelUsageRow, Page, Tone, UnsatisfiedCheck, Way
from kotef.report.test_matrix import matrix_of
from kotef.report.timeline import Timeline, VisitRecord, record_of
from kotef.runs.ending_text import killed, title
from kotef.runs.events import read_events
from kotef.runs.result import Result, ResultDone
from kotef.runs.run_history import RunHistory
from kotef.runs.store import RunDir
from kotef.state import Task

MOST_PATCH: Final = 400_000
"""Characters read of one patch."""

_VISIT: Final = re.compile(r"visit-(\d{1,4})\.json")


def page_of(run: RunDir, *, at_work: bool = False) -> Page:
    """Read the directory; what is missing or damaged in it is named, and the rest is shown.

    `at_work` is whether someone is known to work on a run that has no result; else it was killed. UsageError if its
    result cannot be read.
    """
    (task, no_task), result = _task(run), redactor().whole(run.result())
    record = record_of(RunHistory.of(_redacted(run)))
    judged, unread = _judged(run.path)
    attempts = tuple(_attempts(run.path, record, judged, at_work=at_work and result is None))
    outcome, tone, sentence = _headline(result, record, began=bool(task or no_task), at_work=at_work)
    calls = [(visit.visit, call) for visit in record.visits for call in visit.calls]
    notices = (*(result.notices if result else ()), *record.notices)
    usage = result.usage if result else None
    goal = task.goal if task else ""
    ticket = task.ticket.id if task and task.ticket else None
    max_attempts = task.limits.max_attempts if task else 0
    if result:
        goal, ticket, max_attempts = result.goal, result.ticket, result.max_attempts
    return Page(
        run_id=run.run_id,
        tone=tone,
        outcome=outcome,
        sentence=sentence,
        goal=goal,
        ticket=ticket or "",
        checks=tuple(check.command for check in task.checks) if task else (),
        coder=task.coder if task else "",
        model=task.model if task else "",
        extensions=", ".join(each.title for each in task.extensions) if task else "",
        sandbox=_sandbox(result),
        exit_code=result.exit_code if result else None,
        attempts=attempts,
        max_attempts=max_attempts,
        spent=result.failure_history.attempts if result else sum(one.status == "failed" for one in attempts),
        matrix=matrix_of(judged),
        done=_done(task, result),
        asked=_usage_rows(call for _, call in calls),
        drifts=tuple(guard for visit in record.visits for guard in visit.guards if guard.name == "prefix drift"),
        ways=tuple(_ways(run, result, attempts, at_work=at_work, began=bool(task or no_task), can_go_on=not no_task)),
        entry=(result.issue if result else "") or "",
        edit=result.edit if result else None,
        notices=tuple(dict.fromkeys((*notices, *no_task, *unread))),
        seconds=usage.seconds if usage else record.seconds,
        tokens_in=usage.tokens_in if usage else sum(call.tokens_in for _, call in calls),
        tokens_out=usage.tokens_out if usage else sum(call.tokens_out for _, call in calls),
        tokens_cached=usage.tokens_cached if usage else sum(call.tokens_cached for _, call in calls),
        cost=usage.cost if usage else sum(call.cost for _, call in calls) or None,
        estimated=usage.estimated if usage else any(call.estimated for _, call in calls),
        doing=record.doing if at_work and result is None else "",
        began=record.began,
        written=time.time(),
        version=result.kotef_version if result else __version__,
        files=_files(run.path),
    )


def _task(run: RunDir) -> tuple[Task | None, tuple[str, ...]]:
    """The task, and a notice if it exists but cannot be read."""
    try:
        return redactor().whole(run.task()), ()
    except (UsageError, OSError):
        return None, ("task.json cannot be read; its checks and limits are not shown",)


def _judged(place: Path) -> tuple[dict[int, Verification], tuple[str, ...]]:
    """The verification of each visit, and notices about unreadable ones."""
    found, unread = {}, []
    for path in place.glob("visit-*.json"):
        if name := _VISIT.fullmatch(path.name):
            try:
                text = redactor().text(path.read_text(encoding="utf-8", errors="replace"))
                found[int(name[1])] = Verification.model_validate_json(text)
            except (OSError, ValidationError):
                unread.append(f"{path.name} cannot be read; the verdict on its visit is not shown")
    return found, tuple(sorted(unread))


def _headline(result: Result | None, record: Timeline, *, began: bool, at_work: bool) -> tuple[str, Tone, str]:
    """Outcome, tone and title."""
    if result is not None:
        return result.outcome, "good" if result.done else "bad", title(result)
    if at_work:
        return "at work", "working", record.doing or "the run is at work"
    if not began:
        return "killed", "bad", "it crashed before it started"
    return "killed", "bad", f"it was {killed(record.visits[-1].visit if record.visits else 0)}"


def _sandbox(result: Result | None) -> str:
    if result is None:
        return ""
    return f"{result.sandbox}, {'with' if result.network else 'no'} network"


def _attempts(place: Path, record: Timeline, judged: Mapping[int, Verification], *, at_work: bool) -> Iterator[Attempt]:
    records = {visit.visit: visit for visit in record.visits}
    newest = max(records, default=0)
    for number in sorted({*records, *judged}):
        visit_record = records.get(number, VisitRecord(number))
        verification = judged.get(number)
        patch = place / f"visit-{number}.patch"
        yield Attempt(
            visit=number,
            record=visit_record,
            judged=verification,
            status=_status(visit_record, verification, working=at_work and number == newest),
            failed=tuple(_failed(place, verification)) if verification else (),
            diff=_diff(patch),
            patch=patch.name if patch.exists() else "",
            put_back=_diff(place / f"visit-{number}.put-back.patch"),
        )


def _status(record: VisitRecord, judged: Verification | None, *, working: bool) -> str:
    passed = record.passed
    if passed is None and judged:
        passed = judged.passed
    if passed is None:
        return "at work" if working else "not judged"
    if record.visit == 0:
        return "green" if passed else "red"
    return "verified" if passed else "failed"


def _failed(place: Path, judged: Verification) -> Iterator[UnsatisfiedCheck]:
    for check in judged.checks:
        if not check.passed:
            _, *error = check.summary.splitlines() or [""]
            needles = [line for line in error if not line.startswith("and ")]
            log = excerpt(place, check.log, needles) if check.log else ""
            yield UnsatisfiedCheck(check, redactor().text(log))


def _diff(patch: Path) -> tuple[FileDiff, ...]:
    try:
        with patch.open(encoding="utf-8", errors="replace", newline="") as file:
            text = file.read(MOST_PATCH)
            return diff_of(redactor().text(text), torn=file.read(1) != "")
    except OSError:
        return ()


def _done(task: Task | None, result: Result | None) -> tuple[ResultDone, ...]:
    """The Definition of Done; while the run is at work nothing of it is proved yet."""
    if result is not None:
        return result.definition_of_done
    lines = task.ticket.done if task and task.ticket else ()
    return tuple(
        ResultDone(line=line.line, text=line.text, proved_by="person", why="not judged yet", tests=(), files=())
        for line in lines
    )


def _redacted(run: RunDir) -> Iterator[RecordedEvent]:
    """The recorded events, without secrets that became known later."""
    for recorded in read_events(run.events):
        if (redacted := parse_line(redactor().whole(recorded.line()))) is not None:
            yield redacted


def _usage_rows(calls: Iterable[ModelAnswerEvent]) -> tuple[ModelUsageRow, ...]:
    """By model and role, in the order of their first answers."""
    found: dict[tuple[str, str], list[ModelAnswerEvent]] = defaultdict(list)
    for call in calls:
        found[call.model, call.node].append(call)
    return tuple(
        ModelUsageRow(
            node,
            model,
            len(made),
            sum(call.tokens_in for call in made),
            sum(call.tokens_out for call in made),
            sum(call.tokens_cached for call in made),
            sum(call.cost for call in made),
            sum(call.seconds or 0.0 for call in made) if any(call.seconds is not None for call in made) else None,
        )
        for (model, node), made in found.items()
    )


def _ways(
    run: RunDir, result: Result | None, attempts: Iterable[Attempt], *, at_work: bool, began: bool, can_go_on: bool
) -> Iterator[Way]:
    """The next steps; `can_go_on` is false if the task cannot be read, because a resume needs it."""
    if result is None and at_work:
        yield Way("Stop it: Ctrl-C where it runs. Its state is kept; to continue:", f"kotef resume {run.run_id}")
        return
    if result is None and not began:
        yield Way("It crashed before it started. Start it again:", "kotef run")
        return
    if can_go_on and (resume := (result.resume if result else f"kotef resume {run.run_id}")):
        yield Way("Continue from here:", resume)
    best = result.tree_visit if result and result.changed else 0
    tried = [attempt.visit for attempt in attempts if attempt.patch and attempt.diff]
    if result is not None and result.done and best:
        yield Way("The change is in your tree, uncommitted. Look at it:", f"kotef diff {run.run_id}")
    elif tried:
        stands = f"attempt {best} is in your tree" if best else "no attempt is in your tree"
        yield Way(f"Apply an attempt ({stands}):", f"kotef apply {run.run_id} --attempt {tried[-1]}")
    if best:
        yield Way("Undo everything the run changed:", f"kotef undo {run.run_id}")
    if result is not None and result.issue:
        yield Way(f"Read its entry in {result.issue}:", "kotef issues")


def _files(place: Path) -> tuple[str, ...]:
    """Names of the files worth reading there."""
    names = {path.name for path in place.iterdir() if path.is_file()} if place.is_dir() else set()
    shown = [name for name in ("report.md", "result.json", "events.jsonl", "traceback.txt") if name in names]
    patches = sum(name.endswith(".patch") for name in names)
    logs = len(list((place / "logs").glob("*")))
    counts = ((patches, counted(patches, "patch", "patches")), (logs, f"logs/ ({counted(logs, 'file')})"))
    return (*shown, *(text for number, text in counts if number))
