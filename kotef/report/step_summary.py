"""The step summary of a run in GitHub Actions."""

from collections.abc import Iterator, Sequence
from typing import Final

from kotef.failures.plural import counted
from kotef.report.failure_locations import Located
from kotef.runs.ending_text import title
from kotef.runs.result import Result
from kotef.sdd.export import inert
from kotef.sdd.issue import code_span

SHOWN: Final = 30


def step_summary_text(result: Result, failures: Sequence[Located]) -> str:
    """Markdown: the outcome in a sentence, what still fails and where, what it took, and how to continue."""
    mark = "✅" if result.done else "❌"
    lines = [f"## {mark} kotef: {result.outcome}", "", inert(title(result), 800), ""]
    lines += [*_facts(result), *_failing(failures), *_unproved(result)]
    return "\n".join(lines) + "\n"


def _facts(result: Result) -> Iterator[str]:
    usage = result.usage
    cost = "unknown" if usage.cost is None else f"{usage.cost:.4f}"
    branch = result.branch
    made = ""
    if branch:
        made = code_span(branch.name) if branch.commit else f"none: {_cell(branch.refused, 300)}"
    facts = {
        "goal": _cell(result.goal.partition("\n")[0], 200),
        "ticket": code_span(result.ticket or "", 80),
        "exit status": str(result.exit_code),
        "failed attempts": f"{result.failure_history.attempts} of {result.max_attempts}",
        "changed": ", ".join(_cell(code_span(path)) for path in result.changed[:10]),
        "branch": made,
        "coder, model": f"{code_span(result.coder)}, {code_span(result.model) or 'none'}",
        "tokens, cost": f"{usage.tokens_in + usage.tokens_out:,}, {cost}" if usage.calls else "",
        "seconds": f"{usage.seconds:.1f}",
        "sandbox": code_span(result.sandbox),
        "extensions": ", ".join(code_span(f"{each.kind} {each.name}") for each in result.extensions),
        "run": code_span(result.run_id),
        "next step": _cell(result.next_step or "", 500),
        "continue with": code_span(result.resume or ""),
    }
    yield "| | |"
    yield "| --- | --- |"
    yield from (f"| {name} | {value} |" for name, value in facts.items() if value)
    yield ""


def _failing(failures: Sequence[Located]) -> Iterator[str]:
    for heading, some in (
        ("What still fails", [one for one in failures if one.blocks]),
        ("Red before the run, not part of the task", [one for one in failures if not one.blocks]),
    ):
        if some:
            yield f"### {heading}"
            yield ""
            yield from (_line(one) for one in some[:SHOWN])
            if len(some) > SHOWN:
                yield f"- … and {counted(len(some) - SHOWN, 'other')}"
            yield ""


def _line(one: Located) -> str:
    place = f"{one.file}:{one.line}" if one.line else one.file
    at = f" at {code_span(place)}" if one.file else ""
    return f"- {code_span(one.title)}{at}: {code_span(one.message, 300)}"


def _unproved(result: Result) -> Iterator[str]:
    lines = [line for line in result.definition_of_done if not line.proved] if result.done else []
    if lines:
        yield "### Nothing proves these lines of the ticket; a person must check"
        yield ""
        yield from (f"- {inert(line.text, 300)}" for line in lines[:SHOWN])
        yield ""


def _cell(text: str, limit: int = 200) -> str:
    return inert(text, limit).replace("|", "\\|")
