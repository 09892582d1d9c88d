"""Sentences for guards and limits that acted in a run."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

from kotef.failures.plural import counted
from kotef.runs.events import Line

Level = Literal["note", "warning", "stop"]


@dataclass(frozen=True, slots=True)
class GuardReport:
    """One thing that kotef itself did about the work of a model, a coder or a command."""

    name: str
    text: str
    level: Level = "warning"
    """`stop`: it ended the visit."""


def guard_of(line: Line) -> GuardReport | None:
    """What an event says of a guard; None for every other event, and for one that is not as it should be."""
    say = _GUARDS.get(line["event"])
    try:
        return say(line) if say else None
    except (KeyError, TypeError, ValueError, AttributeError):
        return None  # of another version: the events themselves are beside the report


def _some(texts: list[str], most: int = 8) -> str:
    more = len(texts) - most
    return ", ".join(texts[:most]) + (f" and {more} more" if more > 0 else "")


def _mistakes(line: Line) -> GuardReport:
    kinds = ", ".join(dict.fromkeys(line["failure_kinds"]))
    if line["escalated"]:
        return GuardReport("failed calls", f"calls went on failing ({kinds}): the attempt was stopped", "stop")
    return GuardReport("failed calls", f"several calls in a row failed ({kinds}): it received guidance")


def _repeat(line: Line) -> GuardReport:
    then = "the attempt was stopped" if line["stopped"] else "it was warned"
    return GuardReport(
        "repetition", f"{line['tool']}: {line['what']}; {then}", "stop" if line["stopped"] else "warning"
    )


def _cap(line: Line) -> GuardReport:
    if line["can_continue"]:
        return GuardReport("cap", f"{line['detail']}; going on from a summary")
    return GuardReport("cap", f"{line['detail']}; the attempt ended with a summary", "stop")


def _compacted(line: Line) -> GuardReport:
    left = f"{line['tokens_before']:,} of {line['window']:,} tokens, about {line['tokens_after']:,} were left"
    return GuardReport("compaction", f"the conversation had {left} ({line['how']})", "note")


def _drift(line: Line) -> GuardReport:
    text = f"the request prefix of {line['role']} ({line['model']}) changed: {_some(line['changed'])}"
    return GuardReport("prefix drift", f"{text}; its endpoint could not answer from its cache")


def _verified(line: Line) -> GuardReport | None:
    said = []
    if line["put_back"]:
        said.append(f"put back before judging: {_some(line['put_back'])}")
    if line["left"]:
        said.append(f"not touched, because someone else changed them: {_some(line['left'])}")
    return GuardReport("put back", "; ".join(said)) if said else None


def _reviewed(line: Line) -> GuardReport:
    if line["accepted"]:
        return GuardReport("review", "the review accepted the diff", "note")
    return GuardReport("review", f"the review refused the diff: {line['reason']}", "stop")


def _rerun(line: Line) -> GuardReport:
    if line["flaky"]:
        return GuardReport("rerun", f"failed with the others, passed alone: {_some(line['flaky'])}")
    return GuardReport("rerun", f"run again alone, still failing: {_some(line['tests'], 3)}", "note")


def _empty(line: Line) -> GuardReport:
    then = "it was asked again" if line["asked_again"] else "the attempt ended"
    return GuardReport("empty answer", f"the model answered with nothing; {then}")


_GUARDS: Final[Mapping[str, Callable[[dict[str, Any]], GuardReport | None]]] = {
    "run_resumed": lambda _: GuardReport("resumed", "the run was resumed here", "note"),
    "retry": lambda line: GuardReport("retry", f"{line['what']}: {line['why']}"),
    "rerun": _rerun,
    "verified": _verified,
    "setting_aside": lambda line: GuardReport("set aside", f"judged again without {_some(line['paths'])}"),
    "probed": lambda line: GuardReport("probed", line["line"], "warning" if line["alarm"] else "note"),
    "reviewed": _reviewed,
    "plan_fallback": lambda _: GuardReport("plan by code", "the model gave no readable plan; code made one"),
    "nudge": lambda line: GuardReport("nudge", line["what"]),
    "recalled": lambda line: GuardReport(
        "memory", f"the same failure was seen before, in {_some(line['runs'], 3)}", "note"
    ),
    "model_retry": lambda line: GuardReport("model retry", f"{line['why']}; again after {line['seconds']:.1f} s"),
    "model_fallback": lambda line: GuardReport(
        "stand-in", f"{line['stand_in']} took over for {line['model']}: {line['why']}"
    ),
    "model_cancelled": lambda line: GuardReport("cancelled", f"an answer of {line['model']} was cut off"),
    "declined": lambda line: GuardReport("declined", f"{line['coder']}: {line['why']}", "note"),
    "answered": lambda line: GuardReport(
        "a person", f"was asked: {line['question']} and said: {line['answer']}", "note"
    ),
    "rescued": lambda line: GuardReport("rescued", f"tool calls written as text were read: {_some(line['calls'])}"),
    "mended": lambda line: GuardReport("mended", f"{line['tool']}: arguments repaired: {line['what']}", "note"),
    "empty_answer": _empty,
    "mistake_recovery": _mistakes,
    "repeat": _repeat,
    "cap_reached": _cap,
    "compacted": _compacted,
    "prefix_drift": _drift,
    "in_doubt": lambda line: GuardReport(
        "in doubt", f"{line['tool']} {line['arguments']}: a kill left open if it was done"
    ),
    "withheld": lambda line: GuardReport("withheld", f"the edit is kept as {line['patch']}, not in the tree"),
    "proving": lambda line: GuardReport(
        "proof", f"{counted(len(line['tests']), 'new test')} tried on the code before the run", "note"
    ),
}
