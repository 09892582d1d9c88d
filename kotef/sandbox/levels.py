"""Probe of the sandbox level that this machine supports."""

import json
import os
import pwd
import secrets
import socket
import stat
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.errors import SandboxError
from kotef.sandbox import landlock, seccomp
from kotef.sandbox.bwrap import bubblewrap
from kotef.sandbox.confinement import Confinement
from kotef.sandbox.limits import SandboxLimits
from kotef.sandbox.sandbox import OFF, Level, Sandbox, Wanted

SANDBOX_LEVELS: Final[tuple[Level, ...]] = ("bwrap", "landlock")
"""Best first."""

_TRIAL: Final = Path(__file__).with_name("level_trial.py")
_SECONDS: Final = 10.0
_FORBIDDEN: Final = {
    "escape": "it writes a file outside the workspace",
    "connect": "it reaches a port of this machine",
    "peek": "it reads kotef's environment",
    "stop": "it can signal kotef",
    "tune": "it can change how the kernel works",
}
_METADATA: Final = "commands can change the mode, the owner and the times of your files outside the workspace"
"""Some containers and hardened kernels prevent kotef from refusing this; the level is useful all the same."""
_MODE: Final = 0o600
_STAYS_INSIDE: Final = "changes there stay inside"
_INSTALL: Final = "install bubblewrap (apt-get install bubblewrap)"


_OWNED: Final = "and commands do not get root's right to write files of other users"
_OWN: Final = "run kotef as the owner of the workspace, or make {user} its owner with chown -R"


@dataclass(frozen=True, slots=True)
class Probed:
    """The result of testing one level."""

    level: Level
    why_not: str
    """Why it is not available, one clause; empty when it holds."""
    deeds: Mapping[str, str]
    """Action → the system's refusal; empty if it succeeded. See `trial`; empty when nothing ran."""
    way_out: str = ""
    """What a person can do about it, if known."""

    @property
    def holds(self) -> bool:
        """Whether it refuses what it must, and commands can work in it."""
        return not self.why_not

    @property
    def weaker(self) -> str:
        """What the level should refuse but cannot on this machine; empty if it refuses everything."""
        return _METADATA if self.deeds and not self.deeds["change"] else ""


def probe_level(
    level: Level, confinement: Confinement, env: Mapping[str, str], *, limits: SandboxLimits | None = None
) -> Probed:
    """Try a level with a process that does what must be refused; nothing outside of kotef's own folder is at stake."""
    if missing := _missing(level):
        return Probed(level, missing, {}, _INSTALL if level == "bwrap" and not bubblewrap() else "")
    sandbox = Sandbox(level, confinement, limits)
    canary = confinement.room / f"canary-{secrets.token_hex(4)}"
    canary.write_text("untouched", encoding="utf-8")
    canary.chmod(_MODE)
    try:
        with socket.create_server(("127.0.0.1", 0)) as server, socket.socket(socket.AF_UNIX) as local:
            abstract = f"kotef-{secrets.token_hex(8)}"
            if sys.platform == "linux":  # on other systems this name would be a file
                local.bind(f"\0{abstract}")
                local.listen()
            arguments = [str(os.getpid()), str(canary), str(server.getsockname()[1]), abstract, str(confinement.root)]
            done, error_text = _run(sandbox, arguments, env)
        if not done:
            return Probed(level, f"no program starts inside it: {error_text}", {})
        deeds: dict[str, str] = json.loads(error_text)
        if canary.read_text(encoding="utf-8") == "untouched":
            deeds["escape"] = deeds["escape"] or _STAYS_INSIDE
        if stat.S_IMODE(canary.stat().st_mode) == _MODE:
            deeds["change"] = deeds["change"] or _STAYS_INSIDE
    except OSError as error:
        return Probed(level, f"it cannot be set up: {error.strerror or error}", {})
    finally:
        with suppress(OSError):
            canary.unlink()
    if deeds["write"] and (owner := _owner(confinement.root)):
        return Probed(level, f"{owner}, {_OWNED}", deeds, _OWN.format(user=_name(os.geteuid())))
    return Probed(level, _failing(deeds, network=confinement.network), deeds)


def _owner(root: Path) -> str:
    """Whose the workspace is, where it is someone else's; else empty."""
    uid = root.stat().st_uid
    return f"the workspace belongs to {_name(uid)}" if uid != os.geteuid() else ""


def _name(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _missing(level: Level) -> str:
    """The missing requirement of a level; empty if it can be tested."""
    if sys.platform != "linux":
        return "not available on this system"
    if level == "bwrap":
        return "" if bubblewrap() else "bwrap is not installed"
    if not seccomp.supported():
        return "the system calls of this architecture are not known"
    if (found := landlock.abi()) < landlock.NEEDED_ABI:
        return (
            f"the kernel has Landlock {found}, but kotef needs {landlock.NEEDED_ABI} (Linux 6.2)"
            if found
            else ("the kernel has no Landlock, or a container blocks it")
        )
    return ""


def _run(sandbox: Sandbox, arguments: list[str], env: Mapping[str, str]) -> tuple[bool, str]:
    """Whether the trial ran to its end, and what it printed, or the last line of why not."""
    assert sandbox.confinement is not None  # noqa: S101  only real levels are probed
    root = sandbox.confinement.root
    words = sandbox.within([sys.executable, "-I", "-S", "-B", str(_TRIAL), *arguments], cwd=root)

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            words,
            cwd=root,
            env=sandbox.environment(env),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    with sandbox.started(start) as process:
        try:
            out, err = process.communicate(timeout=_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            return False, f"no answer within {_SECONDS:g} s"
    if process.returncode:
        lines = err.decode("utf-8", "replace").strip().splitlines()
        return False, lines[-1] if lines else f"exit status {process.returncode}"
    return True, out.decode()


def _failing(deeds: Mapping[str, str], *, network: bool) -> str:
    """Why a level is unusable: a forbidden action succeeded, or a needed one was refused."""
    if deeds["write"]:
        return f"the workspace cannot be written in it: {deeds['write'].lower()}"
    done = [why for name, why in _FORBIDDEN.items() if not deeds[name] and not (network and name == "connect")]
    return "; ".join(done)


def choose_level(wanted: Wanted, confinement: Confinement, env: Mapping[str, str], *, ci: bool) -> tuple[Sandbox, str]:
    """The sandbox of a run, and what the person should know of it in one line (empty for nothing).

    Raises `SandboxError` when the requested level is not available; in CI `auto` is not an exception.
    """
    if wanted == "off":
        return OFF, ""
    tried = []
    limits = SandboxLimits() if wanted == "strict" else None
    for level in _candidates(wanted):
        probed = probe_level(level, confinement, env, limits=limits)
        if probed.holds:
            notes = (limits.in_words() if limits else "", probed.weaker)
            return Sandbox(level, confinement, limits), "; ".join(filter(None, notes))
        tried.append(probed)
    alone = len(tried) == 1
    reasons = "; ".join(probed.why_not if alone else f"{probed.level}: {probed.why_not}" for probed in tried)
    way_out = next((probed.way_out for probed in tried if probed.way_out), _INSTALL)
    if wanted == "auto" and not ci:
        return OFF, f"no sandbox, so commands can do whatever you can do ({reasons}); {way_out}, or pass --sandbox off"
    raise SandboxError(wanted, reasons, hint=f"{way_out}, or pass --sandbox off where the job itself is isolated")


def _candidates(wanted: Wanted) -> tuple[Level, ...]:
    match wanted:
        case "bwrap" | "landlock":
            return (wanted,)
        case "strict":
            return ("bwrap",)
        case _:
            return SANDBOX_LEVELS
