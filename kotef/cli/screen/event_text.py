"""Text and colour of each event on the screen."""

from collections.abc import Sequence
from typing import Final

from kotef.cli.screen.sanitize import flat, one_line
from kotef.events import (
    AnsweredEvent,
    AskedEvent,
    BaselineReusedEvent,
    CapReachedEvent,
    CheckFinishedEvent,
    CoderFinishedEvent,
    CompactedEvent,
    DeclinedEvent,
    DefectEvent,
    EmptyAnswerEvent,
    ExtensionsEvent,
    MendedEvent,
    MistakeRecoveryEvent,
    ModelAdaptedEvent,
    ModelFallbackEvent,
    ModelRetryEvent,
    NoProgressEvent,
    NoticeEvent,
    NudgeEvent,
    PlanFallbackEvent,
    PlannedEvent,
    PrefixDriftEvent,
    ProbedEvent,
    ProbingEvent,
    ProvingEvent,
    RecalledEvent,
    RepeatEvent,
    RerunEvent,
    RestoredEvent,
    RetryEvent,
    ReviewedEvent,
    RunEvent,
    RunResumedEvent,
    RunStartedEvent,
    SettingAsideEvent,
    SetupFinishedEvent,
    SetupStartedEvent,
    SnapshotEvent,
    StoppingEvent,
    VerifiedEvent,
    WithheldEvent,
)
from kotef.failures.plural import counted

WHY: Final = 3
"""Failures of one check that are shown."""
TOLD_BY_CHECKS: Final = frozenset({"red", "regression"})
"""Details of a verdict that the lines of its checks explain."""
QUIET_EVENTS: Final = frozenset(
    [
        "coder_finished",
        "compacted",
        "declined",
        "empty_answer",
        "mended",
        "mistake_recovery",
        "nudge",
        "probing",
        "proving",
        "recalled",
        "repeat",
        "retry",
        "setting_aside",
        "setup_started",
    ]
)
"""What `--quiet` leaves out."""


def _confined(event: RunStartedEvent | RunResumedEvent) -> str:
    """The level, and whether commands have the network."""
    confined = event.sandbox not in {"off", "none"}
    if not confined:
        return f"sandbox: {event.sandbox}"
    return f"sandbox: {event.sandbox}, {'with' if event.network else 'no'} network"


def event_line(
    event: RunEvent, max_attempts: int, *, elsewhere: bool = False, full: bool = False
) -> tuple[str, str] | None:
    """The line for one event and its style; None if only the status line shows it, or if it is folded.

    `elsewhere`: who reads it sits beside the run, and not at its terminal. `full`: nothing is folded.
    """
    match event:
        case RunStartedEvent():
            checks = "".join(f"\n  check: {command}" for command in event.checks)
            model = f"  model: {event.model}" if event.model else ""
            who = f"coder: {event.coder}{model}"
            return f"run {event.run}  {_confined(event)}\n  {who}{checks}", "bold"
        case RunResumedEvent():
            where = f" at attempt {event.attempt} of {max_attempts}" if event.attempt else ""
            return f"run {event.run} continues{where}  {_confined(event)}", "bold"
        case SetupStartedEvent():
            return f"setup: {event.command}", "dim"
        case SetupFinishedEvent() if not event.passed:
            return f"setup failed: {event.summary}", "red"
        case ExtensionsEvent():
            return f"  extensions: {', '.join(event.active)}", ""
        case NoticeEvent():
            return f"note: {event.text}", "yellow"
        case SnapshotEvent() if event.left_out:
            some = ", ".join(event.left_out[:5])
            return f"note: not in the snapshot (too large, or another repository): {some}", "yellow"
        case CheckFinishedEvent():
            return _check_line(event, full=full)
        case BaselineReusedEvent():
            return f"  baseline reused from {event.run}, judged {event.judged_at} (--no-cache judges again)", "dim"
        case RerunEvent():
            some = ", ".join(one_line(test, 100) for test in event.flaky[:5])
            return f"  {event.check}: failed with the others, passed alone: {some}", "yellow"
        case PlannedEvent():
            return _plan_lines(event, max_attempts), "bold"
        case PlanFallbackEvent():
            return f"  the model made no usable plan, so code made one: {one_line(_why(event.problems), 200)}", "yellow"
        case RecalledEvent() if event.runs:
            return f"note: the same failure was seen before; `kotef show {event.runs[0]}` shows what was tried", ""
        case CoderFinishedEvent() if event.stopped_by not in {"exhausted", "search_time"}:  # each coder has said why
            changed = ", ".join(event.changed[:8]) or "nothing"
            why = "" if event.stopped_by == "finished" else f"; stopped by {event.stopped_by}: {one_line(event.detail)}"
            idle = f" ({one_line(event.idle)})" if event.idle else ""
            return f"  changed: {changed}{idle}{why}", ""
        case DeclinedEvent():
            return f"  {event.coder}: {one_line(event.why, 200)}", "dim"
        case AskedEvent() if elsewhere:
            return f"  question to a person: {one_line(event.question)}", "bold"
        case AnsweredEvent():
            return f"  {'the answer' if elsewhere else 'you said'}: {one_line(event.answer)}", ""
        case StoppingEvent():
            return "stopping after the current step; Ctrl-C again stops at once", "bold yellow"
        case ProvingEvent():
            return "  running the new tests on the old code", ""
        case SettingAsideEvent():
            return f"  judging again without {', '.join(event.paths[:8])}", ""
        case ProbingEvent():
            return "  probing the judge: can the checks still fail?", "dim"
        case ProbedEvent():
            return f"  {event.line}", "red" if event.alarm else ""
        case VerifiedEvent():
            return _verdict_lines(event)
        case ReviewedEvent():
            return f"  review: {'accepted' if event.accepted else 'refused: ' + one_line(event.reason)}", ""
        case WithheldEvent():
            return f"the edit of attempt {event.visit} is kept as {event.patch}, not in the tree", ""
        case RestoredEvent() if event.put_back or event.left or event.differs:
            return _restored_line(event), ""
        case _:
            return _line_in_a_visit(event)


def _why(problems: Sequence[str]) -> str:
    """The last problem, without the form of the question in front (`json_schema: …`)."""
    form, _, problem = problems[-1].partition(": ") if problems else ("", "", "")
    if problem and " " not in form:
        return problem
    return problems[-1] if problems else "its answer could not be read"


def _line_in_a_visit(event: RunEvent) -> tuple[str, str] | None:
    """Like `event_line`, for a coder at work: its model, its tools, and their guards."""
    match event:
        case RetryEvent():
            return f"  {event.what}: {event.why}", "yellow"
        case ModelRetryEvent() if event.level != "quiet":
            style = "bold red" if event.level == "loud" else "yellow"
            return f"  model: {one_line(event.why)}; again in {event.seconds:.0f} s", style
        case ModelFallbackEvent():
            return f"  {event.stand_in} takes over for {event.model}: {one_line(event.why)}", "yellow"
        case ModelAdaptedEvent():
            return f"  {event.model}: {one_line(event.what)}", "dim"
        case MendedEvent():
            return f"  {event.tool}: its arguments were repaired: {one_line(event.what)}", "dim"
        case EmptyAnswerEvent():
            then = "asking again" if event.asked_again else "the attempt ends"
            return f"  the model returned an empty answer; {then}", "yellow"
        case DefectEvent():
            where = f"during {event.tool}" if event.tool else "while reading the model's answer"
            return f"  kotef itself failed {where} ({one_line(event.error)}); the traceback is {event.log}", "bold red"
        case NudgeEvent():
            return f"  nudge: {event.what}", "yellow"
        case MistakeRecoveryEvent():
            kinds = ", ".join(dict.fromkeys(event.failure_kinds))
            if event.escalated:
                return f"  calls kept failing ({kinds}); the attempt was stopped", "red"
            return f"  several calls failed in a row ({kinds}); the model was given guidance", "yellow"
        case RepeatEvent():
            then = "the attempt was stopped" if event.stopped else "warned, continuing"
            return f"  {event.tool}: {one_line(event.what)}; {then}", "red" if event.stopped else "yellow"
        case NoProgressEvent():
            then = "the attempt was stopped" if event.stopped else "the model was notified and continues"
            return f"  no progress: {one_line(event.what)}; {then}", "red" if event.stopped else "yellow"
        case CompactedEvent() | PrefixDriftEvent():
            return _context_line(event)
        case CapReachedEvent():
            then = "continuing from a summary" if event.can_continue else "the attempt ends with a summary"
            return f"  {one_line(event.detail)}; {then}", "yellow"
        case _:
            return None


def plan_steps(event: PlannedEvent) -> tuple[str, ...]:
    """The steps of a plan; long ones are cut."""
    return tuple(one_line(flat(step)) for step in event.steps)


def _plan_lines(event: PlannedEvent, max_attempts: int) -> str:
    steps = "".join(f"\n    {number}. {step}" for number, step in enumerate(plan_steps(event), 1))
    if event.source == "person":
        return f"  plan as edited:{steps}"
    why = f" ({one_line(event.hypothesis).rstrip('.')})" if event.hypothesis else ""
    return f"attempt {event.visit} of {max_attempts}\n  plan by {event.source}{why}:{steps}"


def _context_line(event: CompactedEvent | PrefixDriftEvent) -> tuple[str, str]:
    """The line about a compacted conversation or a changed prefix."""
    if isinstance(event, PrefixDriftEvent):
        return f"  warning: the request prefix changed: {', '.join(event.changed)}", "yellow"
    left = f"{event.tokens_before:,} of {event.window:,} tokens, about {event.tokens_after:,} remain"
    return f"  the conversation had {left} ({event.how})", ""


def _check_line(event: CheckFinishedEvent, *, full: bool) -> tuple[str, str]:
    """The result of a check and, if it failed, why: the same lines as in `kotef check` and the reports."""
    status = "timed out" if event.exit_code is None else f"exit {event.exit_code}"
    ran = f", {counted(event.executed, 'test')} ran" if event.executed is not None else ""
    failing = f", {event.failing} failed" if event.failing else ""
    head = "baseline" if event.visit == 0 else "verifier"
    lines = [f"  {head}: {event.check}: {status}{ran}{failing} ({event.seconds:.1f} s)"]
    if not event.passed:
        lines.extend(_why_lines(event, full=full))
    if event.partial:
        lines.append("    the rest was not run: these tests were red before and must pass first")
    unsaid = [text for text in event.obstructions if text not in event.summary]
    lines.extend(f"    sandbox: {one_line(text, 200)}" for text in unsaid)
    return "\n".join(lines), "green" if event.passed else "red"


def _why_lines(event: CheckFinishedEvent, *, full: bool) -> list[str]:
    """A line for each of the first failures; the summary if a check names none."""
    kind = event.kind or "unknown"
    if not event.failures:
        return [f"    {kind}: {one_line(event.summary)}"]
    shown = event.failures if full else event.failures[:WHY]
    about = "" if kind == "test_failure" else f"{kind}: "
    lines = [f"    ✗ {about}{one_line(failure, 300)}" for failure in shown]
    hidden = max(event.failing, len(event.failures)) - len(shown)
    return [*lines, f"      and {hidden:,} more (`kotef report` has them)"] if hidden > 0 else lines


def _restored_line(event: RestoredEvent) -> str:
    left = f"; left as they are, because they changed since: {', '.join(event.left[:8])}" if event.left else ""
    if event.visit:
        return f"the workspace was left at attempt {event.visit}, the best one{left}"
    undone = "so all edits are undone"
    if differs := event.differs:
        undone = f"so the edits are undone, except for the paths above ({counted(len(differs), 'path')})"
    return f"no attempt is better than the state before the run, {undone}; visit-N.patch has each{left}"


def _verdict_lines(event: VerifiedEvent) -> tuple[str, str] | None:
    lines = []
    if event.put_back:
        lines.append(f"  put back before judging: {', '.join(event.put_back[:8])}")
    if event.left:
        lines.append(f"  not touched, because someone else changed them: {', '.join(event.left[:8])}")
    if event.visit and not event.passed and event.detail not in TOLD_BY_CHECKS:
        lines.append(f"  not verified: {one_line(event.summary, 300)}")
    elif event.steering:
        lines.append(f"  {one_line(event.steering, 300)}")
    if not lines:
        return None
    return "\n".join(lines), "green" if event.passed else "red"
