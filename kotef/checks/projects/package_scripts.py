"""Scripts of package.json as commands of npm, for where the project's own package manager is not installed."""

import re
import shutil
from collections.abc import Mapping
from itertools import dropwhile
from pathlib import Path
from typing import Final

_DEEPEST: Final = 3
"""Scripts that call scripts which are followed."""
_MOST: Final = 10
"""Commands of a script that are looked at."""
_ASKS_TO_RUN: Final = frozenset({"run", "run-script", "exec", "-s", "--silent"})
_PLAIN: Final = re.compile(r"[\w ./:=@,+'\"*-]+")


def is_replaced(root: Path, manager: str) -> bool:
    """Whether npm has to start what `manager` would: it is not on the path, and what it installs is there."""
    is_here = manager == "npm" or shutil.which(manager) is not None
    return not is_here and shutil.which("npm") is not None and (root / "node_modules").is_dir()


def npm_command(root: Path, name: str, scripts: Mapping[str, str], manager: str, *, depth: int = 0) -> str:
    """The command that runs a script without `manager`; empty where that needs more than npm can do.

    A script that does not call the manager is started by npm; one that does is taken apart, because npm would find no
    program of that name.
    """
    if not re.search(rf"\b{manager}\b", scripts[name]):
        return "npm test" if name == "test" else f"npm run {name}"
    parts = scripts[name].split("&&")
    if depth == _DEEPEST or len(parts) > _MOST:
        return ""
    commands = [_part(root, part.strip(), scripts, manager, depth) for part in parts]
    return " && ".join(commands) if all(commands) else ""


def _part(root: Path, part: str, scripts: Mapping[str, str], manager: str, depth: int) -> str:
    """One command of a script; empty where it cannot be started without the manager."""
    words = part.split()
    if not words or not _PLAIN.fullmatch(part) or manager in words[1:]:
        return ""
    if words[0] != manager:
        return f"npx --no-install {part}" if _is_installed(root, words[0]) else part
    name, *arguments = [*dropwhile(_ASKS_TO_RUN.__contains__, words[1:]), ""]
    more = " ".join(arguments).rstrip()
    if name not in scripts:
        return f"npx --no-install {name} {more}".rstrip() if _is_installed(root, name) else ""
    command = npm_command(root, name, scripts, manager, depth=depth + 1)
    if not command or not more:
        return command
    return f"{command} -- {more}" if command.startswith("npm ") else f"{command} {more}"


def _is_installed(root: Path, program: str) -> bool:
    return bool(program) and "/" not in program and (root / "node_modules" / ".bin" / program).exists()
