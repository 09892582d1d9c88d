"""Output of `kotef check` for people, scripts and CI jobs."""

import asyncio
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.checks.probe import JUDGE_DEAF
from kotef.cli.annotations import annotation, deaf, in_actions, in_checkout
from kotef.cli.screen import console, is_live, one_line, plain, say, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.errors import INTERRUPTED, NoChecksError, NoEnvironmentError, UsageError
from kotef.failures.plural import counted
from kotef.redaction import redactor
from kotef.runs.check_trial import tried
from kotef.runs.config import UserConfig, config_path, read_config
from kotef.runs.crash_recovery import put_right
from kotef.runs.elapsed_time import keep_seconds
from kotef.runs.inspection import CANNOT, CheckCounts, Checked, CheckFailure, Inspection, InspectionRequest, inspection
from kotef.runs.prepare import spec_of
from kotef.runs.repository import RepositorySettings, repository_of
from kotef.runs.run_settings import run_settings
from kotef.runs.sandbox_setup import sandbox_of
from kotef.runs.secret_sources import hide
from kotef.runs.store import changed_paths
from kotef.sandbox import child_environment
from kotef.settings import Limits

SHOWN: Final = 50
"""Failures shown of one check; --json has more."""


def check_command(options: dict[str, Any]) -> int:
    """`kotef check`; returns the exit status."""
    if options["as_json"] and options["github"]:
        raise UsageError("--json and --github exclude each other", hint="give one of them")
    github = not options["as_json"] and (in_actions() if options["github"] is None else options["github"])
    try:
        with _watching() as telling:
            found = inspect_workspace(options, telling)
    except KeyboardInterrupt:
        sys.stderr.write("kotef: interrupted; nothing was changed\n")
        return INTERRUPTED
    if options["as_json"]:
        say_json(found)
        return found.exit_code
    with deaf() if github else nullcontext():
        show(found)
    if github:
        say("".join(f"{line}\n" for line in annotations(found, in_checkout(workspace_of(options["root"])))))
    return found.exit_code


def inspect_workspace(options: Mapping[str, Any], telling: Callable[[str], None] = lambda _: None) -> Inspection:
    """Judge the workspace as the options of `kotef check` ask for it; `telling` gets the name of each command.

    Raises what can be wrong with the request, or keeps everything from being judged.
    """
    root = workspace_of(options["root"])
    if any(not command.strip() for command in options["checks"]):
        raise UsageError("--check: an empty command", hint="leave it out to use the checks that are found")
    if options["against"] is not None and not options["compare"]:
        raise UsageError("--against and --no-compare exclude each other", hint="give one of them")

    righted = put_right(root)
    config = read_config(config_path())
    repository = repository_of(root, config, trust=False)
    hide(root, config, passed=repository.settings.passed)
    question, before = _question(options, root, config, repository)
    found = asyncio.run(inspection(question, telling))
    keep_seconds(root, {check.command: check.seconds for check in found.checks if check.exit_code is not None})

    said = (*repository.read_from, *repository.told_ignored("sandbox.", "env."))
    missing = () if found.green else missing_dependencies(root)
    notices = (*righted, *said, *before, *found.notices, *missing)
    return redactor().whole(found.model_copy(update={"notices": notices}))


def _question(
    options: Mapping[str, Any], root: Path, config: UserConfig, repository: RepositorySettings
) -> tuple[InspectionRequest, tuple[str, ...]]:
    """What is to be checked, and notices on it. Raises NoChecksError, NoEnvironmentError."""
    checks = collect_checks(
        root,
        options=options["checks"],
        ticket=(),
        architect=spec_of(root, repository.place).checks,
        settings=repository.place,
        concerning="\n".join(changed_paths(root)),
    )
    if not checks:
        raise NoChecksError(root)
    settings = run_settings(options, config, repository.settings)
    asked, limits = settings.sandbox, settings.limits
    sandbox, unconfined = sandbox_of(root, asked.wanted, network=asked.network, reads=asked.reads)
    environment = child_environment(os.environ, allow=repository.settings.passed)
    trial = tried(checks, root=root, env=environment, sandbox=sandbox)
    if trial.broken:
        raise NoEnvironmentError(trial.broken)
    question = InspectionRequest(
        root=root,
        checks=trial.checks,
        environment=environment,
        sandbox=sandbox,
        against=options["against"],
        compare=options["compare"],
        limits=Limits(reruns=limits.reruns, probes=limits.probes),
    )
    return question, (*unconfined, *trial.notices)


@contextmanager
def _watching() -> Iterator[Callable[[str], None]]:
    """Where a person watches, a line that shows which command is running; it is gone afterwards."""
    screen = console(stderr=True)
    if not is_live(screen):
        yield lambda _: None
        return
    with screen.status("") as status:
        yield lambda what: status.update(Text(one_line(what, 100)))


def _network(found: Inspection) -> str:
    """Whether commands had it; where some failed without, the flag as well."""
    if found.sandbox == "off":
        return ""
    if found.network:
        return ", with network"
    return ", no network" if found.green or found.detail == JUDGE_DEAF else ", no network (--network opens it)"


def show(found: Inspection) -> None:
    """What ran, one line per failure, the counts before and after, and the verdict."""
    screen = console()
    for check in found.checks:
        screen.print(Text(_head(check, found.against), style="green" if check.passed else "red"))
        for failure in check.failures[:SHOWN]:
            if failure.test or failure.message != _own_words(check):
                screen.print(Text(f"    {_line(failure, found.against)}"))
        if more := _all_failures(check) - min(len(check.failures), SHOWN):
            screen.print(f"    … and {more:,} more{'' if check.tests is None else '; --json has them'}")
        for obstruction in check.obstructions:
            screen.print(Text(f"    sandbox: {plain(obstruction)}", style="yellow"))
    screen.print(f"sandbox: {found.sandbox}{_network(found)}")
    screen.print()
    for line in _table(found):
        screen.print(line)
    for title, tests in (
        ("not run any more", found.missing),
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
    """How many failures there are, those that are not listed too."""
    return max(len(check.failures), check.failed or 0)


def _probed(found: Inspection) -> Iterator[str]:
    """What was tried on the judge; of an alarm the lines that show it, and what judges and was changed."""
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
    """Why a check is red whose status alone does not say: what contradicts it; else empty."""
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
    at = f"{failure.file}:{failure.line}" if failure.line else failure.file
    place = f"({at})" if at and failure.test and not (failure.line is None and failure.test.startswith(at)) else ""
    name = failure.test or at
    message = one_line(failure.message, 200)
    since = {"new": f"[new since {against}]", "still": f"[at {against} too]", "failing": ""}[failure.state]
    chance = "[flaky: passes alone]" if failure.flaky else ""
    said = ": ".join(part for part in (plain(name), message) if part)
    return " ".join(part for part in (said, place, since, chance) if part)


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
        basis = "; by the exit status alone where no test is counted" if uncounted else ""
        return f"green: {counts.checks_passed} of {counts.checks} checks passed{basis}"
    reasons = ["the judge cannot say no"] if found.detail == JUDGE_DEAF else []
    if gone := len(found.missing):
        is_not = "is not" if gone == 1 else "are not"
        reasons.append(f"{counted(gone, 'test')} that ran at {found.against} {is_not} run any more")
    reasons += [f"{len(found.newly_skipped)} newly skipped"] if found.newly_skipped else []
    if counts.checks_passed < counts.checks:
        reasons.append(f"{counts.checks - counts.checks_passed} of {counts.checks} checks failed")
    if found.broken:
        reasons.append(f"{len(found.broken)} broken since {found.against}")
    elif found.against is not None and not (found.judging or found.missing or found.newly_skipped):
        reasons.append(f"nothing that passed at {found.against} fails now")
    if found.detail == "flaky":
        reasons.append("what fails passes alone: flaky, or one test leaks into another")
    return f"red: {'; '.join(reasons)}"


def annotations(found: Inspection, prefix: str = "") -> Iterator[str]:
    """Workflow commands of GitHub Actions, one for each failure; the new ones first, for GitHub shows only ten.

    Paths begin with `prefix`: GitHub counts them from the top of the checkout.
    """
    told = [(check, failure) for check in found.checks for failure in check.failures[:SHOWN]]
    for check, failure in sorted(told, key=lambda one: one[1].state != "new"):
        yield annotation(
            "error" if check.required else "warning",
            failure.message or f"failed: {check.command}",
            title=failure.test or check.name,
            file=f"{prefix}{failure.file}" if failure.file else "",
            line=failure.line,
        )
    for what, tests in (("is not run any more", found.missing), ("is skipped now", found.newly_skipped)):
        for test in tests[:SHOWN]:
            file = _file_of(test, found) if "::" in test else ""
            yield annotation("error", f"{test} {what}", title=test, file=f"{prefix}{file}" if file else "")


def _file_of(test: str, found: Inspection) -> str:
    """The file part of a test's key, which begins with the check's name where two checks run a test of that id."""
    names = (f"{check.name}: " for check in found.checks)
    return test.removeprefix(next((name for name in names if test.startswith(name)), "")).partition("::")[0]
