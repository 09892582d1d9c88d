"""Files and services that the sandbox kept from a failed command, and the option that allows each.

A sandbox that hides a file makes it look missing. Without these sentences a person would install what is installed, or
look for a bug that is not there.
"""

import os
import re
import shutil
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.types import CommandResult
from kotef.failures.history import MAX_SUMMARY
from kotef.files import read_within
from kotef.sandbox import Confinement, Sandbox
from kotef.shell import programs_of

NO_NETWORK: Final = "commands have no network in the sandbox; --network allows it"
HIDDEN_PROGRAM: Final = "hidden_program"
"""Detail of a failure whose program is installed, but hidden by the sandbox."""
MOST: Final = 5
"""Obstructions named of one command."""

_ABOUT_NETWORK: Final = re.compile(
    r"Network is unreachable|name resolution|Name or service not known|Could not resolve host|Connection refused"
    r"|\b(?:ENETUNREACH|EAI_AGAIN|ENOTFOUND|ECONNREFUSED)\b"
)
"""Messages of failures that may be caused by a missing network, or a service outside the sandbox."""
_NOT_FOUND: Final = re.compile(
    r"(?:^|: )['\"`]?(?P<shell>[^:\n'\"`]{1,300})['\"`]?: "
    r"(?:(?:command )?not found|No such file or directory|Permission denied)\s*$"
    r"|No such file or directory: ['\"](?P<python>[^'\"]+)['\"]"
    r"|spawn (?P<node>\S+) (?:ENOENT|EACCES)"
    r"|exec: \"(?P<go>[^\"]+)\": (?:executable file not found|stat)",
    re.MULTILINE,
)
"""How shells, Python, Node and Go name a program that they cannot start."""
_FAILED_ACCESS: Final = re.compile(
    r"no such file|not found|permission denied|cannot (?:open|access|find|stat|read)|can't open|does not exist"
    r"|unable to (?:open|read|access|find)|\bENOENT\b|\bEACCES\b|FileNotFoundError|PermissionError",
    re.IGNORECASE,
)
_ABSOLUTE: Final = re.compile(r"(?<![\w./~-])/[^\s'\"`:,;()\[\]{}<>|*?]+")
_READ_ONLY: Final = re.compile(r"Read-only file system|\bEROFS\b")
_FILE_NAME: Final = re.compile(r"[\w.-]*\w")
_IDENTIFIER: Final = re.compile(r"[A-Za-z_]\w*")
_VARIABLE: Final = re.compile(r"^\s*(?:export\s+)?([A-Za-z_]\w*)\s*=", re.MULTILINE)
_MOST_SETTINGS: Final = 64 * 1024
"""Bytes of an environment file whose variables are looked up."""
_MOST_PATHS: Final = 200
"""Paths of an output that are looked up."""
_HEAD: Final = 160
"""Characters of a summary's first line that are before the way out."""


class _Obstruction(NamedTuple):
    text: str
    in_summary: bool
    """Whether a model may read it: not what shows which files a person has outside the workspace."""
    detail: str = ""
    """The detail of the failure that it explains; empty: it explains no more than a part."""


def with_obstructions(result: CommandResult, env: Mapping[str, str], sandbox: Sandbox) -> CommandResult:
    """The result with what the sandbox kept from the command; unchanged if it passed or ran without a sandbox.

    `env` is the environment of the command before the sandbox changed it.
    """
    if result.passed or sandbox.confinement is None:
        return result
    found = list(islice(_found(result, env, sandbox, sandbox.confinement), MOST))
    if not found:
        return result
    summary = result.summary
    if hint := next((one.text for one in found if one.in_summary), ""):
        summary = _with_way_out(summary, hint)
    detail = next((one.detail for one in found if one.detail), result.detail)
    texts = tuple(dict.fromkeys(one.text for one in found))
    return result.model_copy(update={"summary": summary, "detail": detail, "obstructions": texts})


def _found(
    result: CommandResult, env: Mapping[str, str], sandbox: Sandbox, confinement: Confinement
) -> Iterator[_Obstruction]:
    output = f"{result.stdout}\n{result.stderr}"
    if not sandbox.network and (result.detail == "network_denied" or _ABOUT_NETWORK.search(result.summary)):
        yield _Obstruction(NO_NETWORK, in_summary=True)
    programs = list(_hidden_programs(result, output, env, confinement))
    yield from programs
    if sandbox.level == "bwrap":
        yield from _empty_files(f"{result.command}\n{output}", confinement)
    if not programs:
        yield from _hidden_files(output, confinement)
    if _READ_ONLY.search(output):
        text = "commands may write only in the workspace and in temporary folders; --sandbox off removes this limit"
        yield _Obstruction(text, in_summary=True)


def _hidden_programs(
    result: CommandResult, output: str, env: Mapping[str, str], confinement: Confinement
) -> Iterator[_Obstruction]:
    """Programs that could not be started although they are installed."""
    if result.detail not in {"command_not_found", "not_executable", "no_permission", "path_not_found"}:
        return
    named = [next(filter(None, match.groups()), "") for match in _NOT_FOUND.finditer(output)]
    for name in dict.fromkeys((*programs_of(result.command), *named[:MOST])):
        path = shutil.which(os.path.expanduser(name), path=env.get("PATH", os.defpath))  # noqa: PTH111  may be no path
        if path and confinement.hides(Path(os.path.realpath(path))):
            folder = Path(os.path.realpath(path)).parent
            text = f"{name} is installed, but hidden by the sandbox; --read {folder} makes it visible to commands"
            yield _Obstruction(text, in_summary=True, detail=HIDDEN_PROGRAM)


def _empty_files(text: str, confinement: Confinement) -> Iterator[_Obstruction]:
    """Files of the workspace that looked empty, where the command or its output speaks of them or of what they set."""
    inside = [path for path in confinement.masks.current() if path.is_relative_to(confinement.root)]
    words = {*_FILE_NAME.findall(text), *_IDENTIFIER.findall(text)}
    masked = [path for path in inside if path.name in words or not words.isdisjoint(_set_in(path, confinement.root))]
    if not masked:
        return
    shown = [path.relative_to(confinement.root).as_posix() for path in masked[:3]]
    others = f" and {len(masked) - len(shown)} more" if len(masked) > len(shown) else ""
    verb = "looks" if len(masked) == 1 else "look"
    text = f"{', '.join(shown)}{others} {verb} empty to commands; --read {shown[0]} shows the content"
    yield _Obstruction(text, in_summary=True)


def _set_in(path: Path, root: Path) -> frozenset[str]:
    """Names of the variables that an environment file sets."""
    try:
        content = read_within(root, path.relative_to(root).as_posix(), largest=_MOST_SETTINGS)
    except OSError:
        return frozenset()
    return frozenset(_VARIABLE.findall(content.decode("utf-8", "replace")))


def _hidden_files(output: str, confinement: Confinement) -> Iterator[_Obstruction]:
    """Files outside the workspace that a line of the output calls missing although they exist."""
    lines = (line for line in output.splitlines() if _FAILED_ACCESS.search(line))
    paths = (found[0].rstrip(".") for line in lines for found in _ABSOLUTE.finditer(line))
    for path in dict.fromkeys(islice(paths, _MOST_PATHS)):
        if os.path.exists(path) and confinement.hides(Path(os.path.realpath(path))):  # noqa: PTH110  of any text
            text = f"{path} exists, but is hidden by the sandbox; --read {path} makes it visible to commands"
            yield _Obstruction(text, in_summary=False)


def _with_way_out(summary: str, hint: str) -> str:
    """The summary with the sentence in its first line: the ends of summaries are cut."""
    first, *others = summary.splitlines() or [""]
    head = first if len(first) <= _HEAD else f"{first[: _HEAD - 1]}…"
    return "\n".join((f"{head} ({hint})", *others))[:MAX_SUMMARY]
