"""Guards and limits that acted, each said in one sentence."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from kotef.events import (
    AnsweredEvent,
    CapReachedEvent,
    CompactedEvent,
    DeclinedEvent,
    DefectEvent,
    EmptyAnswerEvent,
    InDoubtEvent,
    MendedEvent,
    MistakeRecoveryEvent,
    ModelAdaptedEvent,
    ModelCancelledEvent,
    ModelFallbackEvent,
    ModelRetryEvent,
    NoProgressEvent,
    NudgeEvent,
    PlanFallbackEvent,
    PrefixDriftEvent,
    ProbedEvent,
    ProvingEvent,
    RecalledEvent,
    RepeatEvent,
    RerunEvent,
    RescuedEvent,
    RetryEvent,
    ReviewedEvent,
    RunEvent,
    RunResumedEvent,
    SettingAsideEvent,
    VerifiedEvent,
    WithheldEvent,
)
from kotef.failures.plural import counted

Level = Literal["note", "warning", "stop"]


@dataclass(frozen=True, slots=True)
class GuardReport:
    """One intervention of kotef in the work of a model, a coder or a command."""

    name: str
    text: str
    level: Level = "warning"
    """`stop`: it ended the visit."""


def guard_of(event: RunEvent) -> GuardReport | None:
    """The report of a guard's event; None for other events."""
    say = _GUARDS.get(type(event))
    return say(event) if say else None


def _some(texts: Sequence[str], most: int = 8) -> str:
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def _mistakes(event: MistakeRecoveryEvent) -> GuardReport:
    kinds = ", ".join(dict.fromkeys(event.failure_kinds))
    if event.escalated:
        return GuardReport("failed calls", f"calls kept failing ({kinds}): the attempt was stopped", "stop")
    return GuardReport("failed calls", f"several calls failed in a row ({kinds}): the model was given guidance")


def _repeat(event: RepeatEvent) -> GuardReport:
    then = "the attempt was stopped" if event.stopped else "it was warned"
    return GuardReport("repetition", f"{event.tool}: {event.what}; {then}", "stop" if event.stopped else "warning")


def _no_progress(event: NoProgressEvent) -> GuardReport:
    then = "the attempt was stopped" if event.stopped else "the model was notified"
    return GuardReport("no progress", f"{event.what}; {then}", "stop" if event.stopped else "warning")


def _cap(event: CapReachedEvent) -> GuardReport:
    if event.can_continue:
        return GuardReport("cap", f"{event.detail}; continuing from a summary")
    return GuardReport("cap", f"{event.detail}; the attempt ended with a summary", "stop")


def _compacted(event: CompactedEvent) -> GuardReport:
    left = f"{event.tokens_before:,} of {event.window:,} tokens, about {event.tokens_after:,} remained"
    return GuardReport("compaction", f"the conversation had {left} ({event.how})", "note")


def _drift(event: PrefixDriftEvent) -> GuardReport:
    text = f"the request prefix of {event.role} ({event.model}) changed: {_some(event.changed)}"
    return GuardReport("prefix drift", f"{text}; the endpoint could not use its cache")


def _verified(event: VerifiedEvent) -> GuardReport | None:
    parts = []
    if event.put_back:
        parts.append(f"put back before judging: {_some(event.put_back)}")
    if event.left:
        parts.append(f"not touched, because someone else changed them: {_some(event.left)}")
    return GuardReport("put back", "; ".join(parts)) if parts else None


def _reviewed(event: ReviewedEvent) -> GuardReport:
    if event.accepted:
        return GuardReport("review", "the review accepted the diff", "note")
    return GuardReport("review", f"the review refused the diff: {event.reason}", "stop")


def _rerun(event: RerunEvent) -> GuardReport:
    if event.flaky:
        return GuardReport("rerun", f"failed with the others, passed alone: {_some(event.flaky)}")
    return GuardReport("rerun", f"run again alone, still failing: {_some(event.tests, 3)}", "note")


def _defect(event: DefectEvent) -> GuardReport:
    where = f"during a call of {event.tool}" if event.tool else "while reading the model's answer"
    return GuardReport("defect", f"kotef failed {where}: {event.error}; the traceback is {event.log}")


def _empty(event: EmptyAnswerEvent) -> GuardReport:
    then = "it was asked again" if event.asked_again else "the attempt ended"
    return GuardReport("empty answer", f"the model returned an empty answer; {then}")


_GUARDS: Final[Mapping[type[RunEvent], Callable[[Any], GuardReport | None]]] = {
    RunResumedEvent: lambda _: GuardReport("resumed", "the run was resumed here", "note"),
    RetryEvent: lambda event: GuardReport("retry", f"{event.what}: {event.why}"),
    RerunEvent: _rerun,
    VerifiedEvent: _verified,
    SettingAsideEvent: lambda event: GuardReport("set aside", f"judged again without {_some(event.paths)}"),
    ProbedEvent: lambda event: GuardReport("probed", event.line, "warning" if event.alarm else "note"),
    ReviewedEvent: _reviewed,
    PlanFallbackEvent: lambda event: GuardReport(
        "plan by code", f"the model made no usable plan, so code made one: {_some(event.problems[-1:])}"
    ),
    NudgeEvent: lambda event: GuardReport("nudge", event.what),
    RecalledEvent: lambda event: GuardReport(
        "memory", f"the same failure was seen before, in {_some(event.runs, 3)}", "note"
    ),
    ModelRetryEvent: lambda event: GuardReport("model retry", f"{event.why}; again after {event.seconds:.1f} s"),
    ModelFallbackEvent: lambda event: GuardReport(
        "stand-in", f"{event.stand_in} took over for {event.model}: {event.why}"
    ),
    ModelAdaptedEvent: lambda event: GuardReport("adapted", f"{event.model}: {event.what}", "note"),
    ModelCancelledEvent: lambda event: GuardReport("cancelled", f"an answer of {event.model} was cut off"),
    DeclinedEvent: lambda event: GuardReport("declined", f"{event.coder}: {event.why}", "note"),
    AnsweredEvent: lambda event: GuardReport("a person", f"question: {event.question}; answer: {event.answer}", "note"),
    RescuedEvent: lambda event: GuardReport("rescued", f"tool calls written as text were read: {_some(event.calls)}"),
    MendedEvent: lambda event: GuardReport("mended", f"{event.tool}: arguments repaired: {event.what}", "note"),
    EmptyAnswerEvent: _empty,
    DefectEvent: _defect,
    MistakeRecoveryEvent: _mistakes,
    RepeatEvent: _repeat,
    NoProgressEvent: _no_progress,
    CapReachedEvent: _cap,
    CompactedEvent: _compacted,
    PrefixDriftEvent: _drift,
    InDoubtEvent: lambda event: GuardReport(
        "in doubt", f"{event.tool} {event.arguments}: a kill left it unclear whether it was done"
    ),
    WithheldEvent: lambda event: GuardReport("withheld", f"the edit is kept as {event.patch}, not in the tree"),
    ProvingEvent: lambda event: GuardReport(
        "proof", f"{counted(len(event.tests), 'new test')} tried on the code before the run", "note"
    ),
}
