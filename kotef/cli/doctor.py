"""Checks of what a run needs from this machine and this repository."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.checks.trial import Trial, required, way_out
from kotef.cli.screen import console, one_line, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.errors import KotefError
from kotef.git import inspect
from kotef.models.factory import probe, resolve
from kotef.redaction import redactor
from kotef.runs.check_trial import every_trial, other_toolchains, sandbox_to_look
from kotef.runs.config import config_path, read_config
from kotef.runs.elapsed_time import last_seconds
from kotef.runs.model_selection import NO_MODEL
from kotef.runs.repository import repository_of
from kotef.runs.result import Camel
from kotef.runs.run_settings import run_settings
from kotef.runs.sandbox_setup import sandbox_of
from kotef.runs.store import uncommitted
from kotef.sandbox import child_environment
from kotef.sdd.spec import read_spec
from kotef.sdd.tickets import list_tickets

BROKEN: Final = 5
_HEAD: Final = ("check", "command", "from", "starts", "last run")
_LONGEST: Final = 300
"""Characters of a command that are shown."""
_WIDEST: Final = 70
"""Characters of a column that others are aligned to."""

State = Literal["ok", "note", "missing"]
Said = tuple[State, str]


class DoctorLine(Camel):
    """One line of what is here."""

    state: State
    text: str


class CheckRow(Camel):
    """One check: what would be run, and whether it can be."""

    state: State
    check: str
    command: str
    origin: str
    source: str
    """The file that implied it; empty for a check that was named."""
    required: bool
    starts: bool
    version: str
    """What its program says of itself; empty if it was not asked."""
    problem: str
    """Why it does not start; empty when it does."""
    install: str
    last_seconds: float | None
    """What it took when `kotef check`, or a run before its first edit, last ran it; null when none did."""


class DoctorReport(Camel):
    """What `kotef doctor` found."""

    schema_version: int = 1
    exit_code: int
    findings: tuple[DoctorLine, ...]
    checks: tuple[CheckRow, ...]


def doctor_command(root: str | None, *, model: str | None, base_url: str | None, as_json: bool = False) -> int:
    """`kotef doctor`: a table of checks and a line a finding, `ok` or what to do; 0, or 5 when a run would not work."""
    place = workspace_of(root)
    rows, told = _checks(place)
    findings = [*_git(place), *told, *_endpoint(place, model, base_url), *_sandbox(place)]
    states = [*(state for state, _ in findings), *(row.state for row in rows)]
    status = BROKEN if "missing" in states else 0
    lines = tuple(DoctorLine(state=state, text=text) for state, text in findings)
    found = redactor().whole(DoctorReport(exit_code=status, findings=lines, checks=tuple(rows)))
    if as_json:
        say_json(found)
    else:
        _show(found)
    return status


def _show(found: DoctorReport) -> None:
    screen = console()
    first, *others = found.findings
    lines = [(first.state, first.text), *_table(found.checks), *((each.state, each.text) for each in others)]
    for state, text in lines:
        style = {"ok": "green", "note": "yellow", "missing": "red"}.get(state, "bold")
        screen.print(f"{state:<7} {plain(text)}".rstrip(), style=style, soft_wrap=True)


def _table(rows: Sequence[CheckRow]) -> Iterator[tuple[str, str]]:
    """State and line of each check, in columns under a head."""
    if not rows:
        return
    cells = [_HEAD]
    cells += [_cells(row) for row in rows]
    wide = [max(len(cell[at]) for cell in cells if len(cell[at]) <= _WIDEST) for at in range(4)]
    for state, cell in zip(("", *(row.state for row in rows)), cells, strict=True):
        columns = [f"{text:<{width}}" for text, width in zip(cell, wide, strict=False)]
        yield state, "  ".join((*columns, cell[4])).rstrip()


def _cells(row: CheckRow) -> tuple[str, str, str, str, str]:
    return row.check, one_line(row.command, _LONGEST), row.source or row.origin, _starts(row), _took(row)


def _starts(row: CheckRow) -> str:
    if row.starts:
        return row.version or "yes"
    return f"not installed: {row.problem}; {way_out(row.install)}"


def _took(row: CheckRow) -> str:
    return "" if row.last_seconds is None else f"{row.last_seconds:.1f} s"


def _sandbox(root: Path) -> list[Said]:
    """What a run would take here, by the settings in effect."""
    try:
        config = read_config(config_path())
        asked = run_settings({}, config, repository_of(root, config, trust=False).settings).sandbox
        sandbox, said = sandbox_of(root, asked.wanted, network=asked.network, reads=asked.reads)
    except KotefError as error:
        return [("missing", str(error))]
    if sandbox.level == "off":
        return [("note", f"sandbox: off: {said[0] if said else 'as requested; commands may do everything you may do'}")]
    more = (
        "--network gives commands the network, --read shows them more files; `kotef doctor --sandbox` tries each level"
    )
    return [("ok", f"sandbox: {sandbox} ({more})")]


def _git(root: Path) -> list[Said]:
    if shutil.which("git") is None:
        return [("missing", "git: not found on PATH; install it: kotef keeps its snapshots with it")]
    facts = inspect(root)
    if not facts.is_repo:
        return [("note", f"workspace {root}: not a git repository; it works, with kotef's own snapshots only")]
    state = "uncommitted work, which is kept" if facts.dirty and uncommitted(root) else "clean"
    return [("ok", f"workspace {root}: git, {facts.branch or 'detached HEAD'}, {state}")]


def _checks(root: Path) -> tuple[list[CheckRow], list[Said]]:
    """The table, and what else is to be said of checks and tickets."""
    try:
        spec, folder = read_spec(root), list_tickets(root)
        checks = collect_checks(root, options=(), ticket=(), architect=spec.checks)
        sandbox, starts = sandbox_to_look(root)
    except KotefError as error:
        return [], [("missing", str(error))]
    environment = child_environment(os.environ)
    trials = every_trial(checks, root=root, env=environment, sandbox=sandbox, start=starts)
    rows = _rows(trials, last_seconds(root))
    found: list[Said] = []
    if not checks:
        found.append(("missing", "no check found: name one in .sdd/architect.md, .sdd/kotef.toml or with --check"))
    if broken := required(trials).broken:
        found.append(("missing", broken))
    if starts:
        found.extend(("note", text) for text in other_toolchains(root, env=environment, sandbox=sandbox))
    if checks and not starts:
        found.append(("note", "no sandbox here, so the programs of the checks were looked up but not started"))
    problems = (*spec.problems, *folder.problems, *(problem for ticket in folder.open for problem in ticket.problems))
    found.extend(("note", f"{problem.path}:{problem.line}: {problem.text}") for problem in dict.fromkeys(problems))
    found.extend(("note", text) for text in missing_dependencies(root))
    return rows, [*found, ("ok", f"open tickets: {len(folder.open) or 'none'}")]


def _rows(trials: Sequence[Trial], took: Mapping[str, float]) -> list[CheckRow]:
    """A check that does not start is a note where it is not required, and missing where someone named it."""
    rows = []
    for trial in trials:
        check = trial.check
        named = check.origin != "detected"
        state: State = "ok" if trial.starts else "note"
        if not trial.starts and named and check.required:
            state = "missing"
        row = CheckRow(
            state=state,
            check=check.name,
            command=check.command,
            origin=check.origin,
            source=check.source,
            required=check.required and (named or trial.starts),
            starts=trial.starts,
            version=trial.version,
            problem=trial.why,
            install=trial.install,
            last_seconds=took.get(check.command),
        )
        rows.append(row)
    return rows


def _endpoint(place: Path, model: str | None, base_url: str | None) -> list[Said]:
    try:
        config = read_config(config_path())
        given = {"model": model, "base_url": base_url}
        settings = run_settings(given, config, repository_of(place, config, trust=False).settings)
        endpoint = resolve(os.environ, model=settings.value("model"), base_url=settings.value("base_url"))
        if endpoint is None:
            return [("note", NO_MODEL)]
        found = asyncio.run(probe(endpoint))
    except KotefError as error:
        return [("missing", str(error))]
    return [("note" if found.doubt else "ok" if found.ok else "missing", found.verdict)]
