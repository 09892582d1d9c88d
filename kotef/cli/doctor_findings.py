"""Checks of what a run needs from this machine and this repository."""

import asyncio
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.checks.trial import Trial, required, way_out
from kotef.checks.types import Check
from kotef.cli.extension_table import ExtensionRow, extension_lines, extension_rows
from kotef.cli.model_doctor import model_lines
from kotef.cli.screen import console, one_line, plain
from kotef.coders.chain import WITHOUT_MODEL, parse_chain
from kotef.errors import KotefError
from kotef.extensions import ExtensionSettings
from kotef.git import inspect
from kotef.models.factory import probe, resolve
from kotef.redaction import redactor
from kotef.runs.check_trial import every_trial, other_toolchains, sandbox_to_look
from kotef.runs.config import config_path, read_config
from kotef.runs.elapsed_time import last_seconds
from kotef.runs.extension_setup import checks_of, extensions_of
from kotef.runs.model_selection import NO_MODEL, NO_MODEL_GAIN, with_settings
from kotef.runs.repository import repository_of
from kotef.runs.result import Camel
from kotef.runs.run_settings import RunSettings, run_settings
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
    """One finding."""

    state: State
    text: str


class CheckRow(Camel):
    """One check: its command, and whether it can run."""

    state: State
    check: str
    command: str
    origin: str
    source: str
    """The file that implied it; empty for a check that was named."""
    required: bool
    starts: bool
    version: str
    """The version that its program reports; empty if it was not asked."""
    problem: str
    """Why it does not start; empty when it does."""
    install: str
    last_seconds: float | None
    """Duration of the last run by `kotef check`, or by a run before its first edit; null if there is none."""


class DoctorReport(Camel):
    """The result of `kotef doctor`."""

    schema_version: int = 1
    exit_code: int
    findings: tuple[DoctorLine, ...]
    checks: tuple[CheckRow, ...]
    extensions: tuple[ExtensionRow, ...] = ()
    """Those that are installed beside kotef, active or not."""


def examine(root: Path, *, model: str | None, base_url: str | None, ask: bool = False) -> DoctorReport:
    """A row for each check and a line for each finding; the exit status is 0, or 5 where a run would not work.

    `ask`: the model is asked how it has to be asked, which costs a few hundred tokens.
    """
    extensions, wrong = _extensions(root)
    rows, check_findings = _checks(root)
    coders = [row.name for row in extensions if row.active and row.kind == "coder"]
    endpoint = _endpoint(root, model, base_url, coders, ask=ask)
    findings = [*_git(root), *check_findings, *wrong, *endpoint, *_sandbox(root)]
    of_rows = [*(row.state for row in rows), *(row.state for row in extensions)]
    states = [*(state for state, _ in findings), *of_rows]
    status = BROKEN if "missing" in states else 0
    lines = tuple(DoctorLine(state=state, text=text) for state, text in findings)
    report = DoctorReport(exit_code=status, findings=lines, checks=tuple(rows), extensions=extensions)
    return redactor().whole(report)


def _extensions(root: Path) -> tuple[tuple[ExtensionRow, ...], list[Said]]:
    try:
        rows, problem = extension_rows(root, _settings(root).extensions)
    except KotefError as error:
        return (), [("missing", str(error))]
    return rows, [("missing", problem)] if problem else []


def _settings(root: Path, **given: object) -> RunSettings:
    """The settings of a run here. Raises KotefError for one that cannot be used."""
    config = read_config(config_path())
    return run_settings(given, config, repository_of(root, config, trust=False).settings)


def show_report(found: DoctorReport) -> None:
    """Print the table of checks and the findings."""
    screen = console()
    first, *others = found.findings
    lines = [
        (first.state, first.text),
        *_table(found.checks),
        *extension_lines(found.extensions),
        *((each.state, each.text) for each in others),
    ]
    for state, text in lines:
        style = {"ok": "green", "note": "yellow", "missing": "red"}.get(state, "bold")
        screen.print(f"{state:<7} {plain(text)}".rstrip(), style=style)


def _table(rows: Sequence[CheckRow]) -> Iterator[tuple[str, str]]:
    """State and line of each check, in columns below a header."""
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
    """The sandbox level that a run would use here."""
    try:
        request = _settings(root).sandbox
        sandbox, notices = sandbox_of(root, request.wanted, network=request.network, reads=request.reads)
    except KotefError as error:
        return [("missing", str(error))]
    if sandbox.level == "off":
        return [
            ("note", f"sandbox: off: {notices[0] if notices else 'as requested; commands can do whatever you can do'}")
        ]
    more = (
        "--network allows network access, --read allows reading more files; `kotef doctor --sandbox` tries each level"
    )
    return [("ok", f"sandbox: {sandbox} ({more})")]


def _git(root: Path) -> list[Said]:
    if shutil.which("git") is None:
        return [("missing", "git: not found on PATH; install it: kotef uses it for snapshots")]
    facts = inspect(root)
    if not facts.is_repo:
        return [("note", f"workspace {root}: not a git repository; kotef works here, but only with its own snapshots")]
    state = "uncommitted work, which is kept" if facts.dirty and uncommitted(root) else "clean"
    return [("ok", f"workspace {root}: git, {facts.branch or 'detached HEAD'}, {state}")]


def _checks(root: Path) -> tuple[list[CheckRow], list[Said]]:
    """The table, and other findings about checks and tickets."""
    try:
        spec, folder = read_spec(root), list_tickets(root)
        more = _extension_checks(root)
        checks = collect_checks(root, options=(), ticket=(), architect=spec.checks, more=more)
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


def _extension_checks(root: Path) -> tuple[Check, ...]:
    """The checks of extensions; one that cannot be loaded has a row of its own. Raises KotefError where one fails."""
    rows, _ = extension_rows(root, _settings(root).extensions)
    usable = tuple(row.name for row in rows if row.active and row.kind == "check")
    return checks_of(extensions_of(root, ExtensionSettings(usable), "check"), root) if usable else ()


def _rows(trials: Sequence[Trial], took: Mapping[str, float]) -> list[CheckRow]:
    """A check that does not start is a note if it is not required, and missing if a person named it."""
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


def _endpoint(place: Path, model: str | None, base_url: str | None, coders: Sequence[str], *, ask: bool) -> list[Said]:
    needs_model = True
    try:
        config = read_config(config_path())
        settings = _settings(place, model=model, base_url=base_url, coder=os.environ.get("KOTEF_CODER"))
        endpoint = resolve(os.environ, model=settings.value("model"), base_url=settings.value("base_url"))
        chain = settings.value("coder")
        needs_model = chain is None or any(link.name == "model" for link in parse_chain(chain, extensions=coders))
        if endpoint is None:
            return [_without_model(chain, needs_model=needs_model)]
        endpoint = with_settings(endpoint, config)
        found = asyncio.run(probe(endpoint))
        if ask and found.ok:
            return model_lines(endpoint, config)
    except KotefError as error:
        return [("missing" if needs_model else "note", str(error))]

    if found.doubt or not (found.ok or needs_model):
        return [("note", found.verdict)]
    return [("ok" if found.ok else "missing", found.verdict)]


def _without_model(chain: str | None, *, needs_model: bool) -> Said:
    """Whether a run works without a model: the default chain does, and so does a chain without `model`."""
    if chain is not None and needs_model:
        return "missing", f"{NO_MODEL} (the coder is {chain})"
    without = f"{chain or WITHOUT_MODEL} work without one"
    return "note", f"model: optional; none is configured, and {without}. {NO_MODEL_GAIN[0].upper()}{NO_MODEL_GAIN[1:]}"
