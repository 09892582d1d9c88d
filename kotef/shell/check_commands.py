"""Facts about the command line of a check: what it runs and how it ends."""

import re
import shlex
from collections.abc import Iterator
from itertools import pairwise, zip_longest
from pathlib import PurePosixPath
from typing import Final, Literal

from kotef.shell.command_links import SHELL_NAME, line_for_shell, links, shell_input
from kotef.shell.command_wrappers import Purpose, unwrap

Role = Literal["test", "lint", "types", "build", "other"]
"""What a check is for; a command that only runs or reads something is `other`."""

ROLES: Final[dict[Purpose, Role]] = {
    "test": "test",
    "lint": "lint",
    "format": "lint",
    "types": "types",
    "build": "build",
    "run": "other",
    "read": "other",
    "other": "other",
}

_INTERPRETER: Final = re.compile(r"(?:python|pypy)[\d.]*|node|ruby|perl|php|bun|deno")
_JUDGING_NAME: Final = re.compile(
    r"(?:^|[^a-z])(?:tests?|run_?tests?|checks?|verify|lint|ci|specs?|scripts?|tools?)(?:[^a-z]|$)"
)
"""A script given to an interpreter is a judge by its name only: `python scripts/check.py`, not `python src/app.py`."""
_COMPARERS: Final = frozenset({"diff", "cmp", "comm", "grep", "egrep", "fgrep"})
"""Programs that judge what another one prints; that one is the product then."""
_CONFIGURATION: Final = frozenset({".toml", ".ini", ".cfg", ".yaml", ".yml", ".mk", ".json", ".rc", ".conf"})
_INSTALLED: Final = frozenset({".venv", "venv", "env", ".tox", ".nox", "node_modules"})
"""Directories of the workspace that an installation fills, not a task."""
_WATCHERS: Final = frozenset({"jest", "vitest", "mocha", "tsc"})
_VITEST_MODES: Final = frozenset({"run", "watch", "dev", "related", "bench", "typecheck", "list", "init", "complete"})


def role_of(command: str) -> Role:
    """What the command is for: tests, where any link of a chain runs them; else by the first program that tells."""
    invocation = unwrap(command)
    return "test" if "test" in invocation.purposes else ROLES[invocation.purpose]


def status_of_failing_tests(command: str) -> frozenset[int]:
    """The exit statuses that say "the tests ran and some failed"; empty when the status may be another command's.

    pytest documents 1, GNU make passes any failure of a recipe on as 2, tox and nox and npm pass 1 on. In a chain of
    commands the status is the test runner's only if the runner comes last and only `&&` is before it.
    """
    chain = [link for link in links(command) if not link.substituted]
    if not chain or any(link.after not in {"", "&&"} for link in chain):
        return frozenset()
    last = shlex.join(chain[-1].words)
    if len(chain) > 1 and role_of(last) != "test":
        return frozenset()
    return frozenset({1, 2}) if set(unwrap(last).tools) & {"make", "gmake"} else frozenset({1})


_MAKE_VARIABLE: Final = re.compile(r"\$\(([A-Z][A-Z0-9_]*)\)")
_IN_FRONT: Final = re.compile(rf"\w+=|(?:env|exec|time|{_MAKE_VARIABLE.pattern})\Z")


def programs_of(command: str) -> tuple[str, ...]:
    """The first word of each simple command in it, assignments and the like in front taken off.

    A variable names no program that is known here; that of make, `$(CURDIR)`, is not a command that the shell puts in.
    """
    words = (_bare(link.words) for link in links(_MAKE_VARIABLE.sub(r"$\1", command)))
    return tuple(dict.fromkeys(found[0] for found in words if found and not found[0].startswith("$")))


def judging_files(command: str) -> tuple[str, ...]:
    """Workspace paths of the scripts and configuration files the command is made of, normalised, without repetition.

    Not the paths it is applied to: `mypy -c ci.ini src/app.py` is made of `ci.ini`, `bash x/test.sh` of the script.
    """
    return tuple(dict.fromkeys(path for path in _files(command, depth=2) if path))


def created_by_the_task(command: str, output: str) -> bool:
    """Whether the command failed because a script of the workspace that it names does not exist (yet).

    The shell ends such a line with `PATH: ` and a phrase in the user's language; a message of the script itself has
    more colons (`./t.sh: line 3: foo: command not found`).
    """
    return any(
        not _INSTALLED.intersection(PurePosixPath(script).parts[:1])
        and re.search(rf"{re.escape(script)}: [^:\n]{{1,80}}$", output, re.MULTILINE)
        for link in links(command)
        if (script := _script(link.words)) and not script.startswith("/")
    )


def without_watch(command: str) -> str:
    """The command with the watch mode of jest, vitest, mocha and tsc off, where it is typed plainly; else unchanged."""
    words = command.split(" ")
    tools = unwrap(command).tools[:1]
    runner = next((word for word in words if PurePosixPath(word).name in _WATCHERS.intersection(tools)), None)
    if runner is None or any(mark in command for mark in "'\"`$\\|&;<>()\n"):
        return command
    kept = [word for word in words if word not in {"--watch", "--watchAll"}]
    at = kept.index(runner) + 1
    if PurePosixPath(runner).name == "vitest":
        if kept[at : at + 1] in (["watch"], ["dev"]):
            kept[at] = "run"
        elif not _VITEST_MODES.intersection(kept[at : at + 1]):
            kept.insert(at, "run")
    return " ".join(kept)


def _files(command: str, depth: int) -> Iterator[str]:
    directory = PurePosixPath()
    chain = sorted(links(command), key=lambda link: link.substituted)
    for link, later in zip_longest(chain, chain[1:]):
        words = _bare(link.words)
        if words[:1] == ("cd",) and len(words) > 1:
            directory /= words[1]
            continue
        inner = line_for_shell(words)
        if inner and depth:
            yield from _files(f"cd {shlex.quote(str(directory))} && {inner}", depth - 1)
            continue
        is_data = link.substituted or (later is not None and later.after == "|" and later.words[0] in _COMPARERS)
        script = "" if is_data and not _is_named_as_judge(words) else _script(words)
        for path in (script, *_configurations(words), *_doctests(words)):
            yield _inside(directory / path) if path else ""


def _is_named_as_judge(words: tuple[str, ...]) -> bool:
    """Whether a program judges by its name, although another one compares its output."""
    return bool(words) and _JUDGING_NAME.search(words[0].lower()) is not None


def _bare(words: tuple[str, ...]) -> tuple[str, ...]:
    """Without assignments, `env`-like words that take none, and variables of make in front: `$(PYTHON) x/check.py`."""
    start = next((at for at, word in enumerate(words) if not _IN_FRONT.match(word)), len(words))
    return words[start:]


def _script(words: tuple[str, ...]) -> str:
    """The script a simple command runs, as written; empty for an installed program or an interpreter's product code."""
    words = _bare(words)
    if not words:
        return ""
    name = PurePosixPath(words[0]).name
    is_interpreter = _INTERPRETER.fullmatch(name) is not None
    if "/" in words[0] and not is_interpreter:
        return words[0]
    if SHELL_NAME.fullmatch(name) or words[0] in {".", "source"}:
        return shell_input(words[1:]).file

    argument = next((word for word in words[1:] if not word.startswith("-")), "")
    is_script = is_interpreter and not {"-m", "-c", "-e"}.intersection(words)
    return argument if is_script and _JUDGING_NAME.search(argument.lower()) else ""


def _configurations(words: tuple[str, ...]) -> Iterator[str]:
    """Values of options that look like configuration files."""
    for before, word in pairwise(words):
        name, _, joined = word.partition("=")
        value = ""
        if name.startswith("-"):
            value = joined
        elif before.startswith("-") and "=" not in before:
            value = word
        if value and PurePosixPath(value).suffix in _CONFIGURATION:
            yield value


def _doctests(words: tuple[str, ...]) -> Iterator[str]:
    """Texts whose examples `python -m doctest` runs; a module that it is applied to is product with tests inside."""
    at = next((at for at, pair in enumerate(pairwise(words)) if pair == ("-m", "doctest")), None)
    if at is None:
        return
    for before, word in pairwise(words[at + 1 :]):
        if before != "-o" and not word.startswith("-") and not word.endswith(".py"):
            yield word


def _inside(path: PurePosixPath) -> str:
    """The path from the workspace root without `.` and `..`; empty when it is not in the workspace."""
    parts: list[str] = []
    for part in path.parts:
        if part == "..":
            if not parts:
                return ""
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "" if path.is_absolute() else "/".join(parts)
