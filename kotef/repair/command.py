"""The interpreter and the pytest arguments that a check command means."""

import os
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from kotef.files import read_regular
from kotef.shell import CommandLink, links

_PYTHON: Final = re.compile(r"(?:python|pypy)[\d.]*")
_DROPPED: Final = re.compile(
    r"-x|--exitfirst|--maxfail.*|--lf|--last-failed|--ff|--failed-first|--sw|--stepwise|--junit-?xml.*|--cov.*|-n.*|--pdb|--durations.*"
)
_ENVIRONMENTS: Final = (".venv", "venv", "env")


@dataclass(frozen=True, slots=True)
class Invocation:
    """What a command line says about its run of the tests."""

    arguments: tuple[str, ...]
    """Arguments for pytest; those that end a run early, count coverage or write reports are left out."""
    variables: Mapping[str, str]
    """Assignments in front of the command."""
    folder_on_path: bool = True
    """Whether Python finds modules in the current folder, as with `python -m pytest` and not with `pytest`."""


def invocation(command: str) -> Invocation:
    """The last run of tests in a command line; no arguments if it reaches them by way of others only."""
    for link in reversed(links(command, shells=True)):
        words = list(link.words)
        variables = {}
        while words and re.match(r"\w+=", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        for place, word in enumerate(words):
            name = PurePosixPath(word).name
            if name in {"pytest", "py.test"}:
                module = place > 0 and words[place - 1] == "-m"
                return Invocation(tuple(_kept(words[place + 1 :])), variables, folder_on_path=module)
            if name == "unittest":
                return Invocation(("-o", "python_files=test*.py"), variables)
            if name == "doctest":
                files = [file for file in words[place + 1 :] if file.endswith(".py")]
                return Invocation(("--doctest-modules", *files), variables)
    return Invocation((), {})


def interpreter_of(command: str, root: Path, env: Mapping[str, str]) -> str:
    """The Python that the command would use: named in it, of its script's first line, the project's, or on PATH.

    `python3` as a last resort, so that starting it says what is missing.
    """
    for link in reversed(links(command, shells=True)):
        for word in link.words:
            name = PurePosixPath(word).name
            if _PYTHON.fullmatch(name):
                return _found(word, root, env) or word
            if name in {"pytest", "py.test"} and not _through_tool(link):
                script = _found(word, root, env)
                python = _first_line(Path(script)) if script else ""
                if python:
                    return python

    own = (str(root / name / "bin" / "python") for name in _ENVIRONMENTS)
    for python in own:
        if os.access(python, os.X_OK):
            return python
    return _found("python", root, env) or _found("python3", root, env) or "python3"


def _through_tool(link: CommandLink) -> bool:
    """`uv run pytest` uses the project's environment, not the pytest on PATH."""
    return bool(re.search(r"\b(?:uv|poetry|pdm|hatch|pipenv|rye)\s+run\b", link.source))


def _kept(words: list[str]) -> list[str]:
    kept: list[str] = []
    skip = False
    for word in words:
        if skip or _DROPPED.fullmatch(word):
            skip = not skip and word in {"-n", "--maxfail", "--durations", "--junitxml", "--junit-xml", "--cov"}
        else:
            kept.append(word)
    return kept


def _found(word: str, root: Path, env: Mapping[str, str]) -> str:
    if "/" in word:
        return str(root / word) if os.access(root / word, os.X_OK) else ""
    return shutil.which(word, path=env.get("PATH", os.defpath)) or ""


def _first_line(script: Path) -> str:
    try:
        line = read_regular(script, largest=300, cut=True).partition(b"\n")[0]
    except OSError:  # not readable: it could not be run either
        return ""
    words = line[2:].decode("utf-8", "replace").split() if line.startswith(b"#!") else []
    python = words[0] if words else ""
    return python if _PYTHON.fullmatch(PurePosixPath(python).name) and os.access(python, os.X_OK) else ""
