"""Advice to a person on how to help the next run."""

import shlex
from collections.abc import Sequence

from kotef.checks.failure_entries import product_among
from kotef.coders.chain import SEARCH_SECONDS, Link, longer, parse_chain
from kotef.nodes.confirm_green import SPEAKS
from kotef.nodes.decide import REPORTED, Ending
from kotef.nodes.expectation_conflicts import CONTRADICTING
from kotef.nodes.runner_fallback import other_runner
from kotef.sdd.follow_up import follow_up
from kotef.sdd.issue import IssueFailure
from kotef.state import AgentState, Task
from kotef.workspace import Snapshots


def way_out(state: AgentState, ending: Ending, failures: Sequence[IssueFailure], snapshots: Snapshots) -> str:
    """One sentence for the issue entry: first what kotef offers, then what to look at."""
    task, judged = state["task"], state.get("test_results")
    advice = follow_up(ending.outcome, ending.sentence, failures, reason=ending.reason)
    if ending.reason == "no_sandbox":
        return f"install bubblewrap, or pass `--sandbox off` where the job itself is isolated: {ending.sentence}"
    if ending.reason in {"workspace", "no_space", "setup_failed"}:
        return f"fix this first: {ending.sentence}"
    if ending.reason == "search_time_over":
        return f"give the search more time ({longer_search(task)}), or name a model (`--model`); or {advice}"
    if ending.reason == CONTRADICTING:
        return (
            "change the line that is wrong, or let kotef change it (`allow test edits:` in the ticket, or "
            f"`--allow-edits` with its file), then run it again: {ending.sentence}"
        )
    if ending.reason == REPORTED:
        return f"state what is right, in the ticket or in the test, then run it again: {ending.sentence}"
    if ending.reason == "none_is_right":
        return f"add an assertion that says what is right to a test, then run it again: {ending.sentence}"
    green = judged is not None and judged.green
    if ending.reason == "nothing_left_to_try" and green and not task.model:
        return (
            "every check is already green, and without a model only failures can be worked on: name a model "
            "(`--model`), or write a test that fails until the goal is reached"
        )
    opened = product_among(judged.put_back) if judged is not None and judged.detail != SPEAKS else ()
    if opened and ending.outcome in {"bounded_attempts_exceeded", "stuck", "budget_exceeded"}:
        path = opened[0]
        return f"if {path} is product code, run again with `--allow-edits {shlex.quote(path)}`; or {advice}"
    if ending.outcome in {"bounded_attempts_exceeded", "stuck"} and _is_without_model(task):
        return f"{advice}; or let a model try (`--model`)"
    hint = other_runner(judged, snapshots) if judged is not None and ending.reason == judged.environment else ""
    return f"{hint}; or {advice}" if hint else advice


def _is_without_model(task: Task) -> bool:
    """Whether only coders that find small edits by code were asked."""
    links = parse_chain(task.coder, extensions=None)
    return not task.model and all(link.name in ("fixers", "search") for link in links)


def longer_search(task: Task) -> str:
    """The chain with a longer search, and the run time that it needs."""
    links = parse_chain(task.coder, extensions=None)
    search_seconds = next((link.seconds for link in links if link.name == "search" and link.seconds), SEARCH_SECONDS)
    seconds = longer(search_seconds)
    chain = ",".join(_spelled(link, seconds if link.name == "search" else link.seconds) for link in links)
    more = f" --max-time {2 * seconds:g}" if task.limits.max_time < 2 * seconds else ""
    return f"`--coder {chain}{more}`"


def _spelled(link: Link, seconds: float | None) -> str:
    word = link.command or link.name
    return f"{word}:{seconds:g}s" if seconds else word
