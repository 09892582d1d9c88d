"""Next step for a person after a run that did not succeed."""

from collections.abc import Sequence
from typing import Final

from kotef.failures.history import MAX_TESTS
from kotef.failures.outcomes import Outcome
from kotef.sdd.issue import IssueFailure, code_span, joined, one_line

AMBIGUOUS: Final = "ambiguous_repair"
"""Reason of a run whose search found several passing edits and asks which is right."""
_SHOWN = 240


def follow_up(outcome: Outcome, sentence: str, entries: Sequence[IssueFailure], *, reason: str = "") -> str:
    """One sentence, concrete where the newest failure allows it. Pure; on one line, whatever the texts hold.

    `sentence` is what the run ended with, `reason` the machine word for it; `entries` are its failures, oldest first.
    """
    why = one_line(sentence, _SHOWN).rstrip(".") or outcome
    newest = entries[-1] if entries else None
    look = _inspect(entries) if newest else ""
    match outcome:
        case "verified":
            return "nothing is left to do"
        case "unverified":
            return "read the diff, because no check judged it; then name a check with `--check` or in `.sdd/kotef.toml`"
        case "bounded_attempts_exceeded" | "stuck" if newest and newest.detail == "review_refused":
            refusal = one_line(joined(newest.summary), _SHOWN).rstrip(".")
            return (
                f"read the diff against the review ({refusal}); then close the ticket by hand, or say what is missing"
            )
        case "bounded_attempts_exceeded" | "stuck":
            return look or f"read the report of the run: {why}"
        case "budget_exceeded":
            return f"resume with a larger limit: {why}" + (f"; or {look}" if look else "")
        case "environment_broken":
            return _repair(next((entry for entry in entries[::-1] if entry.command), None), why)
        case "blocked" if reason == AMBIGUOUS:
            return f"answer the question with an assertion in a test, or keep the edit with `--accept-ambiguous`: {why}"
        case "blocked":
            return f"decide what kotef may not decide: {why}; write the answer into the ticket, then run it again"
        case "model_unavailable" if reason == "login_refused":
            return f"log in to the agent, or hand its login over (`--coder-env`, `--coder-file`), then resume: {why}"
        case "model_unavailable":
            return f"run `kotef doctor`, fix the endpoint ({why}), then resume"
        case "interrupted":
            return f"resume the run, or leave it: {look or 'no check has failed so far'}"
        case "crashed":
            return f"report this defect in kotef, with traceback.txt from the run directory: {why}; then resume"


def advice_alone(advice: str, sentence: str) -> str:
    """This advice without the sentence of the ending, for where that has just been shown."""
    for repeated in (sentence, one_line(sentence, _SHOWN).rstrip(".")):
        if repeated:
            advice = advice.replace(f": {repeated}", "").replace(f" ({repeated})", "")
    return advice


def _inspect(entries: Sequence[IssueFailure]) -> str:
    """Where to look: the first failing test of the newest visit, else its first failing command, else the verdict."""
    failures = [entry for entry in entries if entry.visit == entries[-1].visit]
    ran = next((entry for entry in failures if entry.command), failures[0])
    failure = next((entry for entry in failures if entry.tests), ran)
    named = failure.tests[0] if failure.tests else ""
    summary = one_line(joined(failure.summary.removeprefix(named)), _SHOWN)
    detail = f": {summary}" if summary else ""
    if failure.tests:
        others = len(failure.tests) - 1
        least = "at least " if len(failure.tests) >= MAX_TESTS else ""  # an entry holds no more names
        more = f" (and {least}{others} more)" if others else ""
        return f"inspect {code_span(failure.tests[0])}{more}{detail}"
    if not failure.command:
        return f"fix what the verdict names{detail}"
    return f"run {code_span(failure.command)} and fix what it reports{detail}"


def _repair(failure: IssueFailure | None, why: str) -> str:
    """Advice for an environment in which no attempt can be made."""
    if failure is None:
        return f"make the checks runnable, or name one with `--check` or in a ticket's `## Tests` block: {why}"
    command, summary = code_span(failure.command), one_line(joined(failure.summary), _SHOWN)
    detail = f": {summary}" if summary else ""
    match failure.detail:
        case "command_not_found" | "missing_runner":
            return f"install what {command} needs, check that it starts, then resume{detail}"
        case "missing_plugin":
            return f"install the plug-in that {command} asks for, then resume{detail}"
        case "hidden_program":
            return f"make the program of {command} visible with `--read`, then resume{detail}"
        case "network_denied":
            return f"allow {command} to use the network (`--network`), or make it work without, then resume{detail}"
        case "no_space":
            return f"free disk space for {command}, then resume{detail}"
        case "no_permission" | "not_executable":
            return f"give {command} the permission it lacks, then resume{detail}"
        case "out_of_memory":
            return f"give {command} more memory, or make it use less, then resume{detail}"
        case _:
            return f"get {command} to work by hand, then resume{detail}"
