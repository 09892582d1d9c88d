"""Output of `kotef stats`: totals over all runs."""

from collections.abc import Iterator, Mapping

from kotef.cli.screen import console, one_line
from kotef.failures.plural import counted
from kotef.runs.statistics import ByModel, Statistics

SHOWN = 12
"""Rows of one table; --json has all."""


def show_statistics(found: Statistics) -> None:
    """Print the tables, and the runs that could not be included."""
    screen = console()
    for line in _lines(found):
        screen.print(line)
    for run, why in found.unreadable.items():
        screen.print(f"note: run {run} is not included: {one_line(why, 200)}", style="yellow")


def _lines(found: Statistics) -> Iterator[str]:
    yield counted(found.runs, "run")
    yield from _table("", found.outcomes)
    if found.attempts_to_green:
        yield "verified at attempt"
        yield from _table("", {str(attempt): runs for attempt, runs in found.attempts_to_green.items()})
    if found.failures:
        yield "failed checks of attempts, by kind and detail"
        yield from _table("", found.failures)
    if found.nodes:
        yield "what went wrong, by node"
        for node, counts in found.nodes.items():
            yield from _table(f"{node}: ", counts)
    if found.tools:
        yield "failed tool calls                                   before, after compaction"
        for row in found.tools[:SHOWN]:
            what = f"{one_line(row.tool, 30)}: {one_line(row.category, 20)}"
            yield f"  {what:<50}{row.before_compaction:>6}{row.after_compaction:>7}"
        yield from _more(len(found.tools))
    yield "by model"
    for model in found.models[:SHOWN]:
        yield f"  {one_line(model.model, 40)}: {_of_model(model)}"
    yield from _more(len(found.models))
    spent = found.spent
    cached = f" ({spent.tokens_cached:,} from a cache)" if spent.tokens_cached else ""
    cost = f", {spent.cost:.4f} spent" if spent.cost else ""
    unpriced = f" ({counted(spent.unpriced, 'run')} without a price)" if spent.unpriced else ""
    yield (
        f"used: {spent.tokens_in:,} tokens in{cached}, {spent.tokens_out:,} out, {counted(spent.calls, 'model call')}"
        f"{cost}{unpriced}, {_time(spent.seconds)}"
    )
    if found.compactions:
        yield f"conversations were compacted {counted(found.compactions, 'time')}"


def _of_model(model: ByModel) -> str:
    parts = [f"{model.verified} of {counted(model.runs, 'run')} verified"]
    parts += [f"{count} × {what}" for what, count in list(model.failures.items())[:3]]
    if model.tool_failures:
        parts.append(counted(model.tool_failures, "failed tool call"))
    if model.tokens:
        parts.append(counted(model.tokens, "token"))
    return ", ".join(parts)


def _table(before: str, counts: Mapping[str, int]) -> Iterator[str]:
    for name, count in list(counts.items())[:SHOWN]:
        yield f"  {before + one_line(name, 45):<50}{count:>6}"
    yield from _more(len(counts))


def _more(rows: int) -> Iterator[str]:
    if rows > SHOWN:
        yield f"  and {rows - SHOWN} more (--json has all)"


def _time(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 60 else f"{minutes} min {rest} s"  # noqa: PLR2004
