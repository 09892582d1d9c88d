"""Choice of the sandbox for a workspace's commands, and the notices about it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from kotef.errors import SandboxError, UsageError
from kotef.files import granted, state_dir
from kotef.git import run_git
from kotef.runs.config import UserConfig
from kotef.runs.repository import Settings
from kotef.runs.run_settings import SandboxRequest, run_settings
from kotef.sandbox import OFF, Confinement, Sandbox, Wanted, child_environment, choose_level, confine, copy_caches
from kotef.workspace import split_names


@dataclass(frozen=True, slots=True)
class Confined:
    """The sandbox of a run, or why nothing may be run."""

    sandbox: Sandbox
    opened: Sandbox = OFF
    """The same level with the network, where `[setup]` or an MCP server needs it."""
    notices: tuple[str, ...] = ()
    refused: SandboxError | None = None
    """Why the required sandbox is missing; then nothing of the project is run."""

    @property
    def level(self) -> str:
        """The level as shown to people."""
        return "none" if self.refused else self.sandbox.name


def confined_of(root: Path, asked: SandboxRequest, *, opened: bool) -> Confined:
    """The sandbox of a run; where it has to have one and there is none, the run begins all the same, and says so.

    `opened` is whether someone needs the network who is allowed to have it. Raises `UsageError` as `sandbox_of` does.
    """
    try:
        sandbox, notices = sandbox_of(root, asked.wanted, network=asked.network, reads=asked.reads)
    except SandboxError as error:
        return Confined(OFF, refused=error)
    if not opened or sandbox.network:
        return Confined(sandbox, sandbox, notices)
    return Confined(sandbox, replace(sandbox, confinement=_confinement(root, asked.reads, network=True)), notices)


def usual_sandbox(root: Path, *, network: bool, reads: Sequence[str] = ()) -> Sandbox:
    """The best there is for what a person starts by hand, or as KOTEF_SANDBOX says; without any level there is none.

    `reads` are files and folders outside the workspace that it may read.
    Raises `UsageError` for an unknown level, `SandboxError` for a named one that is not available.
    """
    wanted = run_settings({}, UserConfig(), Settings()).sandbox.wanted
    return sandbox_of(root, wanted, network=network, reads=reads, ci=False)[0]


def sandbox_of(
    root: Path, wanted: Wanted, *, network: bool, reads: Sequence[str], ci: bool | None = None
) -> tuple[Sandbox, tuple[str, ...]]:
    """The tested sandbox, and a line for each unexpected fact.

    `reads` are folders outside the workspace that commands may read. Raises `SandboxError` if the requested
    level is not available, `UsageError` for a folder that does not exist. `ci` is whether no one could read a warning;
    None: as the environment says.
    """
    for path in granted(reads):
        if not path.exists():
            raise UsageError(f"--read {path}: no such file or folder", hint="name one that exists")
    if wanted == "off":
        return OFF, ()
    in_ci = bool(os.environ.get("CI")) if ci is None else ci
    confinement = _confinement(root, reads, network=network)
    sandbox, reasons = choose_level(wanted, confinement, child_environment(os.environ), ci=in_ci)
    return sandbox, (reasons,) if reasons else ()


def with_network(root: Path, asked: SandboxRequest, sandbox: Sandbox, *, near: Sequence[Path] = ()) -> Sandbox:
    """The same level with the network and a home of its own, for one program that a person chose to start.

    `near` are folders beside those of PATH whose programs it needs.
    """
    if sandbox.confinement is None:
        return sandbox
    confinement = _confinement(root, asked.reads, network=True, near=near)
    copy_caches(confinement.seed, confinement.cache, writable=True)
    return replace(sandbox, confinement=confinement)


def _confinement(root: Path, reads: Sequence[str], *, network: bool, near: Sequence[Path] = ()) -> Confinement:
    env, place = child_environment(os.environ), state_dir(root) / "sandbox"
    env["PATH"] = os.pathsep.join((env.get("PATH", ""), *map(str, near)))
    return confine(root, place, env, network=network, reads=granted(reads), public=tracked(root))


def tracked(root: Path) -> frozenset[str]:
    """Files that git tracks, which are not secret."""
    if not (root / ".git").exists():
        return frozenset()
    listed = run_git(["ls-files", "-z"], cwd=root)
    return frozenset(split_names(listed.stdout)) if listed.returncode == 0 else frozenset()
