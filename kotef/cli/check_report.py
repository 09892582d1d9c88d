"""Output of `kotef check` for people, scripts and CI jobs."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.text import Text

from kotef.checks.failure_list import failure_line
from kotef.checks.probe import JUDGE_DEAF
from kotef.cli.annotations import annotation
from kotef.cli.screen import console, is_live, one_line, plain
from kotef.failures.plural import counted
from kotef.runs.inspection import CANNOT
from kotef.runs.inspection_result import CheckCounts, Checked, CheckFailure, Inspection

SHOWN: Final = 50
"""Failures shown per check; --json has more."""


@contextmanager
def running_line() -> Iterator[Callable[[str], None]]:
    """Show which command is running while a person watches, and remove the line afterwards."""
    screen = console(stderr=True)
    if not is_live(screen):
        yield lambda _: None
        return
    with screen.status("") as status:
        yield lambda what: status.update(Text(one_line(what, 100)))


def _network(found: Inspection) -> str:
    """Whether commands had the network; if some failed without it, also the flag that allows it."""
    if found.sandbox == "off":
        return ""
    if found.network:
        return ", with network"
    return ", no network" if found.green or found.detail == JUDGE_DEAF else ", no network (--network allows it)"


def show_inspection(found: Inspection) -> None:
    """Print the checks, one line per failure, the counts before and after, and the verdict."""
    screen = console()
    for check in found.checks:
        screen.print(Text(_head(check, found.against), style="green" if check.passed else "red"))
        for failure in check.failures[:SHOWN]:
            if failure.test or failure.message != _own_words(check):
                screen.print(Text(f"    {_line(failure, found.against)}"))
        if more := _all_failures(check) - min(len(check.failures), SHOWN):
            screen.print(f"    … and {more:,} more{'' if check.tests is None else '; see `tests` of --json'}")
        for obstruction in check.obstructions:
            screen.print(Text(f"    sandbox: {plain(obstruction)}", style="yellow"))
    screen.print(f"sandbox: {found.sandbox}{_network(found)}")
    screen.print()
    for line in _table(found):
        screen.print(line)
    for title, tests in (
        ("no longer run", found.missing),
        ("skipped or expected to fail now", found.newly_skipped),
        ("fixed", found.fixed),
    ):
        if tests:
            rest = f" and {len(tests) - 10} more" if len(tests) > 10 else ""  # noqa: PLR2004  a line has an end
            screen.print(f"{title}: {', '.join(plain(test) for test in tests[:10])}{rest}")
    for line in _probed(found):
        screen.print(Text(line))
    for notice in found.notices:
        screen.print(Text(f"note: {plain(notice)}", style="yellow"))
    screen.print()
    screen.print(Text(_verdict(found), style="bold green" if found.green else "bold red"))


def _all_failures(check: Checked) -> int:
    """Number of failures, including those that are not listed."""
    return max(len(check.failures), check.failed or 0)


def _probed(found: Inspection) -> Iterator[str]:
    """The probes; for an alarm also the lines that show it, and the changed files that judge."""
    for probe in found.probes:
        if probe.value == "alarm":
            yield f"judge probed: {probe.told}:"
            yield from (f"    {plain(line)}" for line in probe.evidence)
        elif probe.value == "fine":
            yield f"judge probed: {probe.told}"
        else:
            yield f"judge not probed: {probe.check}: {probe.told}"
    if found.judging:
        more = f" and {len(found.judging) - 10} more" if len(found.judging) > 10 else ""  # noqa: PLR2004  as below
        yield f"changed since {found.against}, and judges: {', '.join(map(plain, found.judging[:10]))}{more}"


def _own_words(check: Checked) -> str:
    """The contradiction that makes a check red although its status does not; empty if there is none."""
    first = check.summary.partition("\n")[0]
    return first if first.startswith("exit status ") and check.detail in {"contradiction", "no_tests"} else ""


def _head(check: Checked, against: str | None) -> str:
    status = "timed out" if check.exit_code is None else f"exit {check.exit_code}"
    status = _own_words(check).replace("exit status", "exit", 1) or status
    uncounted = ", no test counted" if check.role == "test" and check.passed else ""
    ran = uncounted if check.tests_run is None else f", {counted(check.tests_run, 'test')} run"
    ran += " (by the program's own summary)" if check.evidence == "summary" else ""
    advisory = "" if check.required else " (advisory)"
    mark = "✓" if check.passed else "✗"
    before = f" [could not be judged at {against or 'HEAD'}: {one_line(check.unjudged)}]" if check.unjudged else ""
    return f"{mark} {one_line(check.command, 100)}{advisory}: {status}{ran} ({check.seconds:.1f} s){before}"


def _line(failure: CheckFailure, against: str | None) -> str:
    """The test, what is wrong, where, and since when."""
    since = {"new": f"[new since {against}]", "still": f"[at {against} too]", "failing": ""}[failure.state]
    chance = "[flaky: passes alone]" if failure.flaky else ""
    text = plain(failure_line(failure.test, one_line(failure.message, 200), failure.file, failure.line))
    return " ".join(part for part in (text, since, chance) if part)


def _table(found: Inspection) -> Iterator[str]:
    """The counts, before and now."""
    rows: list[tuple[str, Callable[[CheckCounts], int | None]]] = [
        ("tests run", lambda counts: counts.tests_run),
        ("passed", lambda counts: counts.passed),
        ("failed", lambda counts: counts.failed),
        ("skipped", lambda counts: counts.skipped),
        ("checks passed", lambda counts: counts.checks_passed),
    ]
    states = [found.now] if found.before is None else [found.before, found.now]
    width = max(8, len(one_line(found.against or "", 20)) + 4)
    if found.before is not None:
        yield f"{'':16}{'at ' + one_line(found.against or '', 20):>{width}}{'now':>8}"
    for title, of in rows:
        numbers = [of(counts) for counts in states]
        if any(number is not None for number in numbers) and (title != "skipped" or any(numbers)):
            shown = ["?" if number is None else str(number) for number in numbers]
            widths = [8] if found.before is None else [width, 8]
            yield f"{title:16}" + "".join(f"{text:>{wide}}" for text, wide in zip(shown, widths, strict=True))


def _verdict(found: Inspection) -> str:
    counts = found.now
    if found.exit_code == CANNOT:
        return f"cannot be judged: {found.detail.replace('_', ' ')}"
    if found.green:
        uncounted = any(check.role == "test" and check.tests_run is None for check in found.checks if check.required)
        basis = "; by exit status alone where no test was counted" if uncounted else ""
        return f"green: {counts.checks_passed} of {counts.checks} checks passed{basis}"
    reasons = ["the checks can no longer fail"] if found.detail == JUDGE_DEAF else []
    if gone := len(found.missing):
        no_longer = "no longer runs" if gone == 1 else "no longer run"
        reasons.append(f"{counted(gone, 'test')} that ran at {found.against} {no_longer}")
    reasons += [f"{len(found.newly_skipped)} newly skipped"] if found.newly_skipped else []
    if counts.checks_passed < counts.checks:
        reasons.append(f"{counts.checks - counts.checks_passed} of {counts.checks} checks failed")
    if found.broken:
        reasons.append(f"{len(found.broken)} broken since {found.against}")
    elif found.against is not None and not (found.judging or found.missing or found.newly_skipped):
        reasons.append(f"nothing that passed at {found.against} fails now")
    if found.detail == "flaky":
        reasons.append("what failed passes when run alone: it is flaky, or one test affects another")
    return f"red: {'; '.join(reasons)}"


def annotations(found: Inspection, prefix: str = "") -> Iterator[str]:
    """Workflow commands of GitHub Actions, one for each failure; the new ones first, for GitHub shows only ten.

    Paths begin with `prefix`: GitHub counts them from the top of the checkout.
    """
    failures = [(check, failure) for check in found.checks for failure in check.failures[:SHOWN]]
    for check, failure in sorted(failures, key=lambda one: one[1].state != "new"):
        yield annotation(
            "error" if check.required else "warning",
            failure.message or f"failed: {check.command}",
            title=failure.test or check.name,
            file=f"{prefix}{failure.file}" if failure.file else "",
            line=failure.line,
        )
    for what, tests in (("no longer runs", found.missing), ("is skipped now", found.newly_skipped)):
        for test in tests[:SHOWN]:
            file = _file_of(test, found) if "::" in test else ""
            yield annotation("error", f"{test} {what}", title=test, file=f"{prefix}{file}" if file else "")


def _file_of(test: str, found: Inspection) -> str:
    """The file part of a test's key, which begins with the check's name where two checks run a test of that id."""
    names = (f"{check.name}: " for check in found.checks)
    return test.removeprefix(next((name for name in names if test.startswith(name)), "")).partition("::")[0]
