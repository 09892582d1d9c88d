"""Text of a run's result on the screen."""

from kotef.cli.screen import Screen, console, one_line, plain
from kotef.runs.ending_text import headline
from kotef.runs.result import Result, ResultDone
from kotef.sdd.follow_up import advice_alone

NEXT_STEP = 500
"""Characters of the advice; the issue entry has all of it."""


def say_result(result: Result, *, where: bool = True, live: Screen | None = None) -> None:
    """The ending in a few lines: outcome, what changed and, unless not `where`, where to read on and how to go on.

    What `live` has just shown of the last attempt is not repeated.
    """
    screen = console()
    screen.print(plain(headline(result)), style="bold green" if result.done else "bold red")
    for title, items in (("fixed", result.fixed), ("changed", result.changed)):
        if items and result.tree_visit and not (live and live.has_shown(title, items)):
            screen.print(f"  {title}: {', '.join(plain(item) for item in items[:10])}")
    for attempt in result.attempts:
        if attempt.why_stopped and attempt.why_stopped not in headline(result):
            screen.print(f"  attempt {attempt.visit} stopped by: {one_line(attempt.why_stopped, 300)}", style="yellow")
            if attempt.said:
                screen.print(f"    its coder's last words (a claim): {one_line(' '.join(attempt.said.split()), 400)}")
    if result.new_tests and result.tree_visit:
        screen.print(f"  {_new_tests(result)}")
    if result.edit:
        screen.print(f"  edit: {one_line(result.edit.rationale, 300)}")
        for line in result.edit.evidence:
            screen.print(f"    {one_line(line, 200)}")
    if result.preexisting:
        some = ", ".join(plain(test) for test in result.preexisting[:5])
        screen.print(f"  red before the run, not part of the task: {some}")
    done_lines = result.definition_of_done
    unproved = [_unproved(line) for line in done_lines if not line.proved]
    if unproved and result.done:
        screen.print(
            f"  nothing proves {len(unproved)} of {len(done_lines)} lines of the ticket; a person should check:",
            style="yellow",
        )
        for text in unproved:
            screen.print(f"    {one_line(text, 240)}", style="yellow")
    if not where:
        return
    if result.branch and result.branch.commit:
        screen.print(f"  branch: {plain(result.branch.name)} ({result.branch.commit[:12]})")
    screen.print(f"  report: .sdd/runs/{result.run_id}/report.html  (`kotef report --open`)")
    if result.outcome == "crashed":
        screen.print(f"  traceback: .sdd/runs/{result.run_id}/traceback.txt")
    if result.issue:
        screen.print(f"  issue:  {result.issue}")
    if result.next_step:
        screen.print(f"  next:   {one_line(advice_alone(result.next_step, result.sentence), NEXT_STEP)}")
    if result.resume:
        screen.print(f"  resume: {result.resume}")


def _unproved(line: ResultDone) -> str:
    """A line of the Definition of Done with its label and, if it is in another file, its place."""
    named = " ".join(part for part in (line.label, one_line(line.text)) if part)
    where = [part for part in (f"{line.path}:{line.line}" if line.path else "", line.why) if part]
    return f"{named} ({'; '.join(where)})" if where else named


def _new_tests(result: Result) -> str:
    """The number of tests that the run added, and which of them prove something."""
    text = f"new tests: {len(result.new_tests)}"
    if result.unproved is None:
        return f"{text}, not tried on the code before the run"
    fail = "fails" if len(result.proved) == 1 else "fail"
    text = f"{text}, {len(result.proved)} of them {fail} on the code before the run"
    some = ", ".join(plain(test) for test in result.unproved[:10])
    return f"{text}; prove nothing: {some}" if some else text
