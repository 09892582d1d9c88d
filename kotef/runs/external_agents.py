"""Permissions of external agents on this machine, and the notices about them."""

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from kotef.coders.chain import parse_chain
from kotef.coders.command.line import AgentCommand, command_of
from kotef.coders.command.presets import Preset, names_passed
from kotef.errors import UsageError
from kotef.files import at_home, home_relative
from kotef.runs.config import UserConfig, config_path
from kotef.runs.logins import LARGEST, secrets_in
from kotef.runs.run_settings import SandboxRequest
from kotef.runs.sandbox_setup import Confined, with_network
from kotef.sandbox import OFF, PROXIES, Confinement, Sandbox
from kotef.settings import Price


@dataclass(frozen=True, slots=True)
class AgentGrant:
    """The grants of one program."""

    command: AgentCommand
    sandbox: Sandbox = OFF
    names: tuple[str, ...] = ()
    """Environment variables in addition to those of every command."""
    price: Price | None = None
    search: str = ""
    """PATH, and the workspace for relative names."""
    root: Path = Path()

    def scratch(self, run_dir: Path) -> Path:
        """A writable folder outside the workspace's own files."""
        place = self.sandbox.temporary or run_dir / "coder"
        place.mkdir(parents=True, exist_ok=True)
        return place

    def is_there(self, program: str) -> bool:
        """Whether a program can be started by this word."""
        return _found(program, self.root, self.search) is not None


@dataclass(frozen=True, slots=True)
class Hired:
    """The grants of the programs of a chain."""

    given: Mapping[str, AgentGrant] = field(default_factory=dict)
    """By the name of the coder."""
    notices: tuple[str, ...] = ()
    logins: Mapping[str, str] = field(default_factory=dict)
    """Login secrets of the programs, which are redacted from now on."""

    @property
    def names(self) -> tuple[str, ...]:
        """Variables that any of the programs gets."""
        return tuple(dict.fromkeys(name for one in self.given.values() for name in one.names))


NOBODY: Final = Hired()


def commands_in(chain: str) -> dict[str, AgentCommand]:
    """The command lines of a chain, by the name of their coder."""
    links = [link for link in parse_chain(chain, extensions=None) if link.command]
    return {link.name: command for link in links if (command := command_of(link.command))}


def must_be_hireable(
    chain: str,
    root: Path,
    *,
    more: Sequence[str],
    files: Sequence[str] = (),
    max_cost: float | None,
    prices: Mapping[str, Price],
    env: Mapping[str, str] = os.environ,
) -> None:
    """UsageError if a chain of programs could not begin: none is installed, or a variable, file or price is missing."""
    commands = commands_in(chain)
    if more and not commands:
        hint = "use it with --coder 'PROGRAM {brief}'"
        raise UsageError("--coder-env: no coder of this run is a program", hint=hint)
    for name in more:
        if name not in env:
            raise UsageError(f"--coder-env {name}: no such variable", hint="set it, or leave it out")
    if files and not commands:
        hint = "use it with --coder 'PROGRAM {brief}'"
        raise UsageError("--coder-file: no coder of this run is a program", hint=hint)
    for name in files:
        _must_be_handed(name)
    for name, command in commands.items() if max_cost is not None else ():
        tells = command.preset.tells if command.preset else "nothing"
        if tells == "nothing":
            raise UsageError(f"--max-cost: {name} does not report its cost", hint="limit it with --max-time instead")
        if tells == "tokens" and name not in prices:
            hint = f'add [prices."{name}"] input = 2.0, output = 8.0 (per million tokens) to {config_path()}'
            raise UsageError(f"--max-cost: {name} reports its tokens, but their price is unknown", hint=hint)
    path = env.get("PATH", "")
    missing = [one.program for one in commands.values() if one.program and _found(one.program, root, path) is None]
    if missing and len(missing) == len(parse_chain(chain, extensions=None)):
        hint = "install it, or name its path; `kotef coders` lists those kotef knows"
        raise UsageError(f"--coder: {' and '.join(missing)} cannot be found", hint=hint)


def hired_of(
    chain: str,
    root: Path,
    asked: SandboxRequest,
    confined: Confined,
    *,
    more: Sequence[str],
    files: Sequence[str] = (),
    config: UserConfig,
    env: Mapping[str, str] = os.environ,
) -> Hired:
    """The grants of each program of the chain, with its home prepared, and a line about each."""
    given, notices, logins = dict[str, AgentGrant](), list[str](), dict[str, str]()
    for name, command in commands_in(chain).items():
        names = names_passed(command.preset, more, env)
        sandbox = confined.sandbox
        if not confined.refused:
            sandbox = with_network(root, asked, sandbox, near=list(_near(command, root, env)))
        got: list[str] = []
        if sandbox.confinement is not None:
            confinement = _settled(sandbox.confinement, command, env, got)
            confinement = _handed(confinement, [at_home(name) for name in files], env, got)
            sandbox = replace(sandbox, confinement=confinement)
        given[name] = AgentGrant(
            _told_where(command, sandbox), sandbox, names, config.prices.get(name), env.get("PATH", ""), root
        )
        notices.append(_notice(name, sandbox, names, got))
        logins |= _logins(command.preset, env)
    logins |= _named_secrets("coder_file", (at_home(name) for name in files))
    return Hired(given, tuple(notices), logins)


def _told_where(command: AgentCommand, sandbox: Sandbox) -> AgentCommand:
    """The command, with its program informed about the confinement if it is confined and needs to know."""
    preset = command.preset
    if preset is None or not preset.confined or sandbox.level != "bwrap":
        return command
    return command._replace(preset=replace(preset, sets={**preset.sets, **preset.confined}))


def _found(program: str, root: Path, path: str) -> Path | None:
    if "/" in program:
        place = _file(program, root)
        return place if place and os.access(place, os.X_OK) else None
    found = shutil.which(program, path=path)
    return Path(found) if found else None


def _file(word: str, root: Path) -> Path | None:
    """The file that a word of a command line names; None if there is none."""
    try:
        place = root / at_home(word)
        return place if place.is_file() else None
    except OSError:
        return None


def _near(command: AgentCommand, root: Path, env: Mapping[str, str]) -> Iterator[Path]:
    """Folders of its program, including the target of a link."""
    program = _found(command.program, root, env.get("PATH", "")) if command.program else None
    if program is None:
        return
    yield program.parent
    real = Path(os.path.realpath(program))
    yield real.parent
    if "node_modules" in real.parts:
        yield Path(*real.parts[: real.parts.index("node_modules") + 1])


def _settled(confinement: Confinement, command: AgentCommand, env: Mapping[str, str], got: list[str]) -> Confinement:
    """Its private home with what its row lists; `got` receives the actual value, as a person would write it."""
    home, place = Path(env.get("HOME") or "/nonexistent"), confinement.room / "home"
    preset = command.preset
    shared: list[Path] = []
    for name in preset.copied if preset else ():
        source = _real(name, home, env)
        if source.is_file() and source.stat().st_size <= LARGEST:
            _room_for(place / name)
            shutil.copyfile(source, place / name)
            got.append(f"~/{name} (a copy)")
    for name in preset.shared if preset else ():
        source = Path(os.path.realpath(_real(name, home, env)))
        if source.is_file():
            _room_for(place / name)
            (place / name).symlink_to(source)
            shared.append(source)
            got.append(f"~/{name} (shared)")
    folders = [home / name for name in (preset.folders if preset else ())]
    readable = [Path(os.path.realpath(path)) for path in (*folders, *_named_files(command, confinement.root))]
    hidden = [path for path in readable if path.exists() and _is_below(path, confinement.hidden)]
    for name in preset.folders if preset else ():
        if (home / name).is_dir() and not os.path.lexists(place / name):
            _room_for(place / name)
            (place / name).symlink_to(home / name)
    return replace(confinement, readable=(*confinement.readable, *hidden), shared=tuple(shared))


def _must_be_handed(name: str) -> None:
    """UsageError for a file of `--coder-file` that is missing, no file, or too large to look for secrets in it."""
    path = at_home(name)
    try:
        size = path.stat().st_size if path.is_file() else None
    except OSError:
        size = None
    if size is None:
        raise UsageError(f"--coder-file {name}: no such file", hint="name a file; `--read` lets commands read folders")
    if size > LARGEST:
        raise UsageError(f"--coder-file {name}: it is larger than {LARGEST:,} bytes", hint="name a smaller file")


def _handed(confinement: Confinement, files: Sequence[Path], env: Mapping[str, str], got: list[str]) -> Confinement:
    """The same with files that a person hands over: readable, and in the private home where they are in the real one.

    They take the place of what the program's row gives it there. The home of the program is its own, so a program can
    replace the link, and with it only its own view.
    """
    home, place = Path(env.get("HOME") or "/nonexistent"), confinement.room / "home"
    real = [Path(os.path.realpath(path)) for path in files]
    for path, source in zip(files, real, strict=True):
        name = _name_at_home(path.absolute(), home, env)
        if name is not None:
            _room_for(place / name)
            (place / name).unlink(missing_ok=True)
            (place / name).symlink_to(source)
        got.append(f"{home_relative(str(path))} (read-only)")
    hidden = [path for path in real if _is_below(path, confinement.hidden)]
    shared = tuple(path for path in confinement.shared if path not in real)
    return replace(confinement, readable=(*confinement.readable, *hidden), shared=shared)


def _name_at_home(path: Path, home: Path, env: Mapping[str, str]) -> Path | None:
    """The place of a file below the home of a program, which looks for settings in `.config`; None if it has none."""
    moved = env.get("XDG_CONFIG_HOME")
    if moved and path.is_relative_to(moved):
        return Path(".config", path.relative_to(moved))
    return path.relative_to(home) if path.is_relative_to(home) else None


def _room_for(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)


def _is_below(path: Path, folders: Iterable[Path]) -> bool:
    return any(path.is_relative_to(folder) for folder in folders)


def _real(name: str, home: Path, env: Mapping[str, str]) -> Path:
    """Path of a file of the home; some are moved by environment variables."""
    moved = env.get("XDG_CONFIG_HOME")
    return Path(moved, name.removeprefix(".config/")) if moved and name.startswith(".config/") else home / name


def _named_files(command: AgentCommand, root: Path) -> Iterator[Path]:
    """Files outside the workspace that the command line names by their whole path: a script of the person's."""
    with suppress(ValueError):  # a quotation that does not end is the shell's to complain of
        for word in shlex.split(command.template):
            path = _file(word, root) if word.startswith(("/", "~")) else None
            if path is not None and not path.is_relative_to(root):
                yield path


def _notice(name: str, sandbox: Sandbox, names: Sequence[str], got: Sequence[str]) -> str:
    """Its grants and its confinement, in one line."""
    shown = [one for one in names if one not in PROXIES]
    has = ["the network", *got, *([f"variables {', '.join(shown)}"] if shown else [])]
    holds = {
        "bwrap": ".git and .sdd are read-only, the rest of the home is hidden",
        "landlock": "the rest of the home is hidden; .env files can be read; what it changes in .git is put back",
        "off": "no sandbox, so it may do everything you may do; what it changes in .git is put back",
    }[sandbox.level]
    return f"coder {name} gets {'; '.join(has)} ({holds})"


def _logins(preset: Preset | None, env: Mapping[str, str]) -> dict[str, str]:
    """The secrets in its files of the home, by a name that tells what they are for."""
    if preset is None:
        return {}
    home = Path(env.get("HOME") or "/nonexistent")
    files = (_real(name, home, env) for name in (*preset.copied, *preset.shared))
    return _named_secrets(f"{preset.name}_login", files)


def _named_secrets(name: str, files: Iterable[Path]) -> dict[str, str]:
    found = dict.fromkeys(secret for path in files for secret in secrets_in(path))
    return {f"{name}_{number}": secret for number, secret in enumerate(found)}
