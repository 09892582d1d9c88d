"""Changes that an attempt made to the checks, as before → after."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from rich.box import SIMPLE_HEAD
from rich.table import Table
from rich.text import Text

from kotef.cli.screen.sanitize import one_line, plain, some

if TYPE_CHECKING:
    from kotef.checks.verification import CheckVerdict, Verification


TABLE: Final = 60
"""Least columns for a table; on a narrower screen lines are easier to read."""


class VerdictRow(NamedTuple):
    """One check."""

    check: str
    before: str
    after: str
    ran: str
    """Tests that ran, before → after."""
    failing: str
    """Tests that failed, before → after."""
    satisfied: bool
    advisory: bool


@dataclass(frozen=True, slots=True)
class Verdict:
    """Both states side by side."""

    rows: tuple[VerdictRow, ...]
    units: tuple[tuple[str, tuple[str, ...]], ...]
    """Title → tests and checks, those that are not empty: fixed, broken, new, …"""


def verdict_of(before: "Verification", after: "Verification") -> Verdict:
    """The change of each check since the state before the run."""
    was = {check.name: check for check in before.checks}
    proved = set(after.proved)
    new = tuple(f"{test} (fails on the code before the run)" if test in proved else test for test in after.new_tests)
    units = {
        "fixed": after.fixed,
        "broken": after.broken,
        "missing": after.missing,
        "skipped now": after.newly_skipped,
        "new": new,
    }
    rows = tuple(_row(was.get(check.name), check) for check in after.checks)
    return Verdict(rows, tuple((title, tests) for title, tests in units.items() if tests))


def table_of(verdict: Verdict) -> Table:
    """The table for a terminal; its title is printed before it."""
    table = Table(box=SIMPLE_HEAD, show_edge=False)
    table.add_column("check", overflow="fold")
    for name in ("before", "after"):
        table.add_column(name, no_wrap=True)
    for name in ("tests run", "failing"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in verdict.rows:
        shown = Text(f"{plain(row.check)} (advisory)" if row.advisory else plain(row.check))
        style = "yellow" if row.advisory else "red"
        if row.satisfied:
            style = "green"
        table.add_row(shown, row.before, Text(row.after, style=style), row.ran, row.failing)
    return table


def verdict_lines(verdict: Verdict, title: str) -> Iterator[tuple[str, str]]:
    """The same as lines, each with its style."""
    yield f"  {title}", ""
    for row in verdict.rows:
        tests = ", ".join(part for part in (_count_text("ran", row.ran), _count_text("failing", row.failing)) if part)
        about = f" ({tests})" if tests else ""
        name = f"{one_line(row.check)}, advisory" if row.advisory else one_line(row.check)
        yield f"    {name}: {row.before} → {row.after}{about}", "green" if row.satisfied else "red"


_UNIT_STYLES: Final = {"broken": "red", "missing": "red", "skipped now": "red", "fixed": "green"}


def unit_lines(verdict: Verdict) -> Iterator[tuple[str, str]]:
    """A line each for fixed, broken and new tests."""
    for title, tests in verdict.units:
        yield f"    {title}: {some(tests)}", _UNIT_STYLES.get(title, "")


def _row(before: "CheckVerdict | None", after: "CheckVerdict") -> VerdictRow:
    return VerdictRow(
        after.name,
        _state(before) if before else "not run",
        _state(after),
        _change(before.executed if before else None, after.executed),
        _change(_failing(before) if before else None, _failing(after)),
        after.satisfied,
        after.advisory,
    )


def _state(check: "CheckVerdict") -> str:
    if check.timed_out or check.exit_code is None:
        return "timed out"
    if check.partial:
        return "red, the rest not run"
    state = "passed" if check.passed else f"exit {check.exit_code}"
    return f"{state}, accepted" if check.satisfied and not check.passed else state


def _failing(check: "CheckVerdict") -> int | None:
    """Number of failing tests; None if the output neither names nor counts tests."""
    if check.failed is not None and check.evidence in {"report", "lines"}:
        return check.failed
    number = max(check.failed or 0, len(check.red), len(check.failing))
    return number if number or check.executed is not None else None


def _change(before: int | None, after: int | None) -> str:
    """`4 → 5`, or `4` where both are; empty if neither is known."""
    was, now = ("?" if number is None else f"{number:,}" for number in (before, after))
    if (was, now) == ("?", "?"):
        return ""
    return now if was == now else f"{was} → {now}"


def _count_text(what: str, change: str) -> str:
    return f"{change} {what}" if change else ""
