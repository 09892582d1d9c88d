"""Does this machine and this repository have what a run needs?"""

import asyncio
import os
import shutil
from pathlib import Path

from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.cli.casting import NO_MODEL
from kotef.cli.place import workspace_of
from kotef.cli.screen import console, plain
from kotef.errors import KotefError
from kotef.models.factory import probe, resolve
from kotef.runs.config import config_path, read_config
from kotef.runs.confined import asked_of, named_level, sandbox_of
from kotef.runs.repository import Settings
from kotef.sdd.spec import read_spec
from kotef.sdd.tickets import list_tickets
from kotef.workspace.git import inspect

BROKEN = 5


def doctor_command(root: str | None, *, model: str | None, base_url: str | None) -> int:
    """`kotef doctor`: one line a finding, `ok` or what to do; 0, or 5 when a run would not work."""
    screen = console()
    place = workspace_of(root)
    findings = [
        *_git(place),
        *_checks(place),
        *_endpoint(model, base_url),
        *_sandbox(place),
    ]
    for state, text in findings:
        screen.print(f"{state:<7} {plain(text)}", style={"ok": "green", "note": "yellow", "missing": "red"}[state])
    return BROKEN if any(state == "missing" for state, _ in findings) else 0


def _sandbox(root: Path) -> list[tuple[str, str]]:
    """What a run would take here: `auto`, or what the environment or the user's configuration asks for."""
    try:
        config = read_config(config_path())
        asked = asked_of(named_level(), network=False, reads=(), config=config, settings=Settings())
        sandbox, said = sandbox_of(root, asked.wanted, network=asked.network, reads=asked.reads)
    except KotefError as error:
        return [("missing", str(error))]
    if sandbox.level == "off":
        return [("note", f"sandbox: off: {said[0] if said else 'as asked for, commands may do what you may do'}")]
    more = "--network gives commands the network, --read more to read; `kotef doctor --sandbox` tries each level"
    return [("ok", f"sandbox: {sandbox} ({more})")]


def _git(root: Path) -> list[tuple[str, str]]:
    if shutil.which("git") is None:
        return [("missing", "git: not found on PATH; install it, for kotef keeps its snapshots with it")]
    facts = inspect(root)
    if not facts.is_repo:
        return [("note", f"workspace {root}: not a git repository; it works, with kotef's own snapshots only")]
    state = "uncommitted work, which is kept" if facts.dirty else "clean"
    return [("ok", f"workspace {root}: git, {facts.branch or 'detached HEAD'}, {state}")]


def _checks(root: Path) -> list[tuple[str, str]]:
    try:
        spec, folder = read_spec(root), list_tickets(root)
        checks = collect_checks(root, options=(), ticket=(), architect=spec.checks)
    except KotefError as error:
        return [("missing", str(error))]
    found = [("ok", f"check {check.name}: `{check.command}` ({check.origin})") for check in checks]
    if not checks:
        found = [("missing", "no check found: name one in .sdd/architect.md, .sdd/kotef.toml or with --check")]
    problems = (*spec.problems, *folder.problems, *(problem for ticket in folder.open for problem in ticket.problems))
    found += [("note", f"{problem.path}:{problem.line}: {problem.text}") for problem in dict.fromkeys(problems)]
    found += [("note", text) for text in missing_dependencies(root)]
    return [*found, ("ok", f"open tickets: {len(folder.open) or 'none'}")]


def _endpoint(model: str | None, base_url: str | None) -> list[tuple[str, str]]:
    try:
        config = read_config(config_path())
        endpoint = resolve(os.environ, model=model or config.model, base_url=base_url or config.base_url)
        if endpoint is None:
            return [("missing", NO_MODEL)]
        found = asyncio.run(probe(endpoint))
    except KotefError as error:
        return [("missing", str(error))]
    return [("note" if found.doubt else "ok" if found.ok else "missing", found.verdict)]
