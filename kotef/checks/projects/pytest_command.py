"""The command line that runs pytest: its form, its declared arguments and its folder."""

import re
import shlex
import shutil
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final

from kotef.checks.project_config import readable_text
from kotef.checks.projects.environments import Environment, environment_of
from kotef.files import list_within, read_regular
from kotef.shell import words_of

_ENDS_EARLY: Final = re.compile(
    r"-x|--exitfirst|--maxfail=\S*|--lf|--last-failed|--ff|--failed-first|--nf|--sw|--stepwise|--pdb"
)
"""Options with which not every test is run, or a person is asked."""
_WRITTEN: Final = re.compile(
    r"^\s*(?:[$>%] )?(?:\$\([A-Z]+\) |[\w./]*)?(python[\d.]* -m )?(?:pytest|py\.test)(?: [\w./ -]*)?$", re.MULTILINE
)
"""A line of a manual on which the tests are run."""
_MANUALS: Final = re.compile(r"(?:CONTRIBUTING|HACKING|DEVELOP\w*|README\w*)(?:\.\w+)?", re.IGNORECASE)
_MOST: Final = 400
"""Files that are searched for an option, and entries of a folder that are looked at."""
_LARGEST: Final = 512 * 1024


def pytest_line(
    root: Path, *, arguments: str = "", folder: str = "", bare: bool = False, configured: bool = False
) -> str:
    """The command, from the root: `python -m pytest`, or `pytest` alone where that is declared and works here.

    The two differ in whether the folder they are started in is importable. `bare` is what the repository declares; it
    is followed where the program is in the project's environment and the project is installed there, or has nothing
    to install. `configured` says that a file at the root configures pytest, which makes the root the start of ids.
    """
    environment = environment_of(root, "pytest")
    words = [*_program(root, environment, folder, bare=bare), *_arguments(root, environment, arguments)]
    if not any(word.startswith("--rootdir") for word in words):
        words += _root_directory(root, folder, words, configured=configured)

    line = shlex.join(words)
    return f"cd {shlex.quote(folder)} && {line}" if folder else line


def _root_directory(root: Path, folder: str, words: Sequence[str], *, configured: bool) -> list[str]:
    """The option that makes the root the start of ids, where pytest would take another folder for it."""
    if folder:
        return [f"--rootdir={'/'.join('..' for _ in folder.split('/'))}"]
    places = [word for word in words if not word.startswith("-") and "/bin/" not in word]
    names_folder = any((root / place).is_dir() for place in places)
    return ["--rootdir=."] if names_folder and not configured else []


def form_in_manual(root: Path) -> bool | None:
    """Whether the manual for contributors runs `pytest` bare; None if it runs it in neither form, or in both."""
    try:
        names = sorted(entry.name for entry in list_within(root, most=_MOST) if _MANUALS.fullmatch(entry.name))
    except OSError:
        return None
    for name in names:
        found = {not match[1] for match in _WRITTEN.finditer(readable_text(root, name)[:_LARGEST])}
        if len(found) == 1:
            return found.pop()
    return None


def _program(root: Path, environment: Environment | None, folder: str, *, bare: bool) -> list[str]:
    if environment is None:
        return [next((each for each in ("python3", "python") if shutil.which(each)), ""), "-m", "pytest"]
    up = "../" * (folder.count("/") + 1) if folder and not environment.directory.startswith("/") else ""
    if not environment.directory:
        return [*words_of(environment.runner), *(["pytest"] if bare else [environment.interpreter, "-m", "pytest"])]
    place = f"{up}{environment.directory}"
    if bare and (root / environment.directory / "pytest").exists() and _is_importable(root, environment):
        return [f"{place}/pytest"]
    return [f"{place}/python", "-m", "pytest"]


def _is_importable(root: Path, environment: Environment) -> bool:
    """Whether tests find the project without the root on their path: it is installed, or nothing is to be installed."""
    marks = (("setup.py", ""), ("setup.cfg", "[metadata]"), ("pyproject.toml", "[build-system]"))
    to_install = any((root / name).is_file() and mark in readable_text(root, name) for name, mark in marks)
    return not to_install or environment.holds_project(root)


def _arguments(root: Path, environment: Environment | None, arguments: str) -> Iterator[str]:
    """The declared arguments; without options that end early, and those of plug-ins that are not installed."""
    words = [word for word in words_of(arguments) if not _ENDS_EARLY.fullmatch(word)]
    places: list[Path] = []
    if environment is not None and environment.has(root, "pytest"):
        places = environment.packages(root)

    dropped = False
    for word in words:
        is_place = (root / word.partition("::")[0]).exists()
        is_value = dropped and not word.startswith("-") and not is_place
        is_option = re.fullmatch(r"--[a-z][\w-]*(?:=.*)?", word) is not None
        dropped = bool(places) and is_option and not _is_known(root, places, word.partition("=")[0])
        if dropped or is_value:
            dropped = dropped and "=" not in word
            continue
        yield word


def _is_known(root: Path, places: list[Path], option: str) -> bool:
    """Whether pytest, an installed plug-in or a conftest of the project defines the option."""
    pattern = re.compile(rf"""["']{re.escape(option)}["']""")
    conftests = (readable_text(root, name) for name in ("conftest.py", "tests/conftest.py", "test/conftest.py"))
    return any(map(pattern.search, conftests)) or any(
        pattern.search(_text(file)) for place in places for file in islice(_defining(place), _MOST)
    )


def _defining(place: Path) -> Iterator[Path]:
    """The modules of pytest and of the plug-ins that are installed in a folder."""
    yield from sorted(place.glob("_pytest/**/*.py"))
    for entry in sorted(place.glob("*.dist-info/entry_points.txt")):
        section = _text(entry).partition("[pytest11]")[2].partition("\n[")[0]
        for package in dict.fromkeys(re.findall(r"= *(\w+)", section)):
            yield from (place / f"{package}.py", *sorted(place.glob(f"{package}/**/*.py")))


def _text(file: Path) -> str:
    try:
        return read_regular(file, largest=_LARGEST).decode("utf-8", "replace")
    except OSError:
        return ""
