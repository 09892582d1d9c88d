"""The pull request text for the work of a run."""

from collections.abc import Iterator, Sequence

from kotef.failures.plural import counted
from kotef.runs.ending_text import title
from kotef.runs.result import Result
from kotef.sdd.export import inert
from kotef.sdd.issue import code_span

SHOWN = 30


def pull_request_text(result: Result) -> str:
    """Markdown for the body of a pull request: what was done, how it was judged, and what no code can see.

    Outside text in it mentions no one, refers to no issue and begins no link, image or tag.
    """
    parts = [*_what(result), *_judged(result), *_done(result), *_to_look_at(result), *_origin(result)]
    return "\n".join(parts) + "\n"


def _what(result: Result) -> Iterator[str]:
    goal = inert(result.goal, 300) or "Make the checks pass"
    yield f"**{goal}**" + (f" (ticket {code_span(result.ticket, 80)})" if result.ticket else "")
    yield ""
    if not result.done:
        yield f"> This is not done: {code_span(result.outcome)}. {inert(title(result), 600)}"
        yield ""
    if result.edit and result.edit.rationale:
        yield inert(result.edit.rationale, 400)
        yield ""
    yield from _list("Files changed", result.changed)


def _judged(result: Result) -> Iterator[str]:
    yield "### How it was judged"
    yield ""
    yield (
        "By the project's own checks, run by code; no model decided that it is done."
        if result.done
        else "By the project's own checks, run by code; they do not prove it."
    )
    yield ""
    if result.checks:
        yield "| check | satisfied | exit | tests run |"
        yield "| --- | --- | --- | --- |"
    for check in result.checks:
        status = "timeout" if check.exit_code is None else str(check.exit_code)
        ran = "?" if check.executed is None else str(check.executed)
        command = code_span(check.command.replace("|", "\\|"), 160)
        yield f"| {command} | {'yes' if check.satisfied else '**no**'} | {status} | {ran} |"
    if result.checks:
        yield ""
    used = f"{counted(result.failure_history.attempts, 'failed attempt')} of {result.max_attempts} allowed"
    yield f"{used}; confined by {code_span(result.sandbox)}{' with the network' if result.network else ''}."
    yield ""
    yield from _list("Red before, green now", result.fixed)
    yield from _list("New tests that fail on the old code", result.proved)
    yield from _list("Broken", result.broken)
    yield from _list(
        "Probes of the judge",
        [f"{probe.name}: {probe.told}" for probe in result.probes if probe.value != "not_probed"],
    )
    yield from _list(
        "Not probed", [f"{probe.name}: {probe.told}" for probe in result.probes if probe.value == "not_probed"]
    )
    yield from _list("Edited by the run and put back before judging", result.put_back)


def _done(result: Result) -> Iterator[str]:
    if not result.definition_of_done:
        return
    yield "### Definition of done"
    yield ""
    for line in result.definition_of_done:
        proof = ", ".join(code_span(test, 160) for test in line.tests[:5])
        why = "nothing proves this"
        if line.proved:
            why = f"{inert(line.why, 300)}: {proof}" if proof else inert(line.why, 300)
        yield f"- [{'x' if line.proved else ' '}] {inert(line.text, 300)} — {why}"
    yield ""


def _to_look_at(result: Result) -> Iterator[str]:
    """The checklist: what only a reader of the diff can check."""
    yield "### For a person to check"
    yield ""
    yield "- [ ] The diff does what the task asks for, and not only what the tests check"
    yield "- [ ] Nothing in it works only for the tested values"
    if result.edit and result.edit.question:
        yield f"- [ ] Which is intended? {inert(result.edit.question, 400)}"
    elif result.winner == "search":
        yield "- [ ] The edit was found by search: passing tests does not make it right"
    for test in (result.unproved or ())[:SHOWN]:
        yield f"- [ ] {code_span(test)} also passes on the old code and proves nothing"
    if result.unproved is None and result.new_tests:
        yield "- [ ] The new tests were not run on the old code"
    for test in result.preexisting[:SHOWN]:
        yield f"- [ ] {code_span(test)} was red before and still is; it is not part of the task"
    for path in result.left[:SHOWN]:
        yield f"- [ ] {code_span(path)} was changed by someone else during the run"
    if any(check.partial for check in result.checks):
        yield "- [ ] Not every test was run after the last edit"
    if result.sandbox == "off":
        yield "- [ ] Commands ran without a sandbox: nothing outside the workspace was protected"
    yield ""


def _origin(result: Result) -> Iterator[str]:
    model = code_span(result.model) or "no model"
    if result.winner:
        model += f" (the edit is by {code_span(result.winner)})"
    usage = result.usage
    cost = "" if usage.cost is None or not usage.calls else f", {usage.cost:.4f} spent"
    tokens = f", {counted(usage.tokens_in + usage.tokens_out, 'token')}" if usage.calls else ""
    yield f"Run {code_span(result.run_id)} of kotef {result.kotef_version}, {model}{tokens}{cost}."
    if result.next_step:
        yield f"Next: {inert(result.next_step, 500)}."
    if result.resume:
        yield f"Continue with {code_span(result.resume)}."


def _list(title: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        more = f" and {len(items) - SHOWN} more" if len(items) > SHOWN else ""
        yield f"{title}: {', '.join(code_span(item, 200) for item in items[:SHOWN])}{more}"
        yield ""
