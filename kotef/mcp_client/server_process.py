"""The process of an MCP server that is a program: its environment, its room, and whether the sandbox shows it."""

import hashlib
import json
import os
import shutil
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Final

from kotef.files import at_home, home_relative, read_regular, state_dir
from kotef.mcp_client.servers import Server
from kotef.sandbox import PROXIES, Confinement, Sandbox, child_environment, downloading_room

_FOLDER: Final = "mcp-downloads"
_LINKS: Final = 40
"""Links that lead from one to the next; the kernel follows no more."""
_FIRST_LINE: Final = 256
"""Bytes of a script's first line that the kernel reads, execve(2)."""
_BIN: Final = frozenset({"bin", "sbin"})


class StartError(Exception):
    """Why the program of a server cannot be started, in one line."""


def environment_of(server: Server, sandbox: Sandbox) -> dict[str, str]:
    """The environment of the program: no secrets except the server's own, and the proxies, since it has the network."""
    return sandbox.environment({**child_environment(os.environ, allow=PROXIES), **server.env})


@contextmanager
def server_room(server: Server, root: Path, sandbox: Sandbox) -> Iterator[Sandbox]:
    """The sandbox with a room for this server alone; what its package manager downloads is found at its next start.

    Raises OSError where the folder of the downloads cannot be used.
    """
    if sandbox.confinement is None:
        yield sandbox
        return
    downloads = downloads_of(server, root)
    downloads.mkdir(mode=0o700, parents=True, exist_ok=True)
    with downloading_room(sandbox, Path(os.path.realpath(downloads))) as own:
        yield own


@asynccontextmanager
async def start_turn(server: Server, root: Path, sandbox: Sandbox) -> AsyncIterator[None]:
    """Within the block no other kotef starts a server with the same downloads: `npx` breaks if two fill one folder."""
    if sandbox.confinement is None:
        yield
        return
    from filelock import AsyncFileLock

    downloads = downloads_of(server, root)
    downloads.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with AsyncFileLock(downloads.with_suffix(".lock"), mode=0o600):
        yield


def downloads_of(server: Server, root: Path) -> Path:
    """Where the downloads of a server are: one folder for each workspace and command line.

    They are not shared by workspaces, because code of a workspace can change them: `npx` follows its `.npmrc`.
    """
    named = [server.shown or " ".join((server.command, *server.args)), os.path.realpath(root)]
    name = hashlib.sha256(json.dumps(named).encode("utf-8", "surrogateescape")).hexdigest()[:16]
    return state_dir(root).parent / _FOLDER / name


def must_be_startable(server: Server, root: Path, environment: dict[str, str], sandbox: Sandbox) -> None:
    """StartError if the program is not installed, or if the sandbox hides it or its interpreter."""
    found = _program(server.command, root, environment.get("PATH", ""))
    if found is None:
        where = f"there is no program {server.command}" if "/" in server.command else f"{server.command} is not on PATH"
        raise StartError(f"{where}; install it, or name it by its whole path")
    if not _confines(sandbox):
        return
    assert sandbox.confinement is not None  # noqa: S101  `_confines` has looked
    for path, what in ((found, "the program"), (_interpreter(found), "the interpreter of its program")):
        hidden = path and _hidden_step(path, sandbox.confinement)
        if hidden:
            raise StartError(f"the sandbox hides {home_relative(str(hidden))}, {what}; add --read {_grant(hidden)}")


def hidden_arguments(server: Server, sandbox: Sandbox) -> str:
    """The existing files that the arguments name and the sandbox hides, with the way out; empty if there are none."""
    if not _confines(sandbox):
        return ""
    assert sandbox.confinement is not None  # noqa: S101  `_confines` has looked
    named = (word.rpartition("=")[2] for word in server.args)
    paths = [at_home(word) for word in named if word.startswith(("/", "~"))]
    real = [Path(os.path.realpath(path)) for path in paths if os.path.lexists(path)]
    hidden = [home_relative(str(path)) for path in real if sandbox.confinement.hides(path)]
    return f"the sandbox hides {' and '.join(hidden)}; add --read {' --read '.join(hidden)}" if hidden else ""


def _confines(sandbox: Sandbox) -> bool:
    """Whether the program really runs within the confinement: only a level that is a command line of its own."""
    return sandbox.level == "bwrap" and sandbox.confinement is not None


def _program(command: str, root: Path, path: str) -> Path | None:
    found = shutil.which(root / command if "/" in command else command, path=path)
    return Path(found) if found else None


def _interpreter(program: Path) -> Path | None:
    """The interpreter that a script names in its first line; None for any other program."""
    try:
        first = read_regular(program, largest=_FIRST_LINE, cut=True).partition(b"\n")[0]
    except OSError:
        return None
    words = os.fsdecode(first.removeprefix(b"#!")).split() if first.startswith(b"#!") else []
    return Path(words[0]) if words and words[0].startswith("/") else None


def _hidden_step(path: Path, confinement: Confinement) -> Path | None:
    """The first hidden path on the way from a name to its file; None if a command can follow all of it."""
    for _ in range(_LINKS):
        here = Path(os.path.realpath(path.parent), path.name)
        if confinement.hides(here):
            return here
        if not here.is_symlink():
            return None
        path = here.parent / here.readlink()
    return None


def _grant(path: Path) -> str:
    """What to grant so that a program can be read with what lies beside it."""
    around = path.parent.parent if path.parent.name in _BIN else path.parent
    home = Path.home()
    return home_relative(str(path if home.is_relative_to(around) else around))
