"""Trial of the detected checks, under the sandbox in use."""

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path

from kotef.checks.detect import detect_undeclared
from kotef.checks.trial import Trial, TrialResult, required, toolchain_notes, try_checks
from kotef.checks.types import Check
from kotef.errors import SandboxError
from kotef.runs.config import config_path, read_config
from kotef.runs.repository import repository_of
from kotef.runs.run_settings import run_settings
from kotef.runs.sandbox_setup import sandbox_of
from kotef.sandbox import OFF, Sandbox


def tried(
    checks: Sequence[Check], *, root: Path, env: Mapping[str, str], sandbox: Sandbox, start: bool = True
) -> TrialResult:
    """The checks that are required here; only detected ones are tried, because the others are always required."""
    detected = [check for check in checks if check.origin == "detected"]
    if not detected:
        return TrialResult(tuple(checks))
    trials = every_trial(detected, root=root, env=env, sandbox=sandbox, start=start)
    left_out = required(trials).left_out
    gone = {trial.check.command for trial in left_out}
    added = [trial.check for trial in trials[len(detected) :]]
    return TrialResult(tuple(check for check in (*checks, *added) if check.command not in gone), left_out)


def every_trial(
    checks: Sequence[Check], *, root: Path, env: Mapping[str, str], sandbox: Sandbox, start: bool = True
) -> tuple[Trial, ...]:
    """Each check with the result of its trial, including named ones.

    Where no detected test can start, those that the files suggest beside the declared ones come last, if they start.
    """
    trials = asyncio.run(try_checks(checks, root=root, env=env, sandbox=sandbox, start=start))
    if not required(trials).broken:
        return trials
    known = {check.command for check in checks}
    others = [check for check in detect_undeclared(root) if check.command not in known]
    more = asyncio.run(try_checks(others, root=root, env=env, sandbox=sandbox, start=start))
    return (*trials, *(trial for trial in more if trial.starts))


def other_toolchains(root: Path, *, env: Mapping[str, str], sandbox: Sandbox) -> tuple[str, ...]:
    """A sentence for each toolchain whose version differs from the one the repository asks for."""
    return asyncio.run(toolchain_notes(root, env=env, sandbox=sandbox))


def sandbox_to_look(root: Path) -> tuple[Sandbox, bool]:
    """The sandbox for a command that only inspects, and whether programs may be started in it.

    Where nothing confines them and no one asked for that, nothing a repository brings is started.

    Raises `KotefError` for an unknown level.
    """
    config = read_config(config_path())
    request = run_settings({}, config, repository_of(root, config, trust=False).settings).sandbox
    try:
        sandbox, _ = sandbox_of(root, request.wanted, network=request.network, reads=request.reads, ci=False)
    except SandboxError:
        return OFF, False
    return sandbox, sandbox.level != "off" or request.wanted == "off"
