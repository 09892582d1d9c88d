"""How is a Python project tested, linted and type-checked, and in which environment?"""

import re
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from kotef.checks.files import ini_sections, table, text_of, toml_of
from kotef.checks.projects import Found
from kotef.workspace.safe_open import Listed, inside, list_within, walk_within

_TEST_DIRECTORIES: Final = ("tests", "test", "src/tests")
_MODULES: Final = ("test_*.py", "*_test.py")
_DEEPEST: Final = 2
"""Levels of folders below a test directory that are searched for test modules."""
_MOST: Final = 5_000
"""Entries of one folder, and folders, that are read."""
_ENVIRONMENTS: Final = (".venv", "venv")


def checks(root: Path) -> Iterator[Found]:
    """Run pytest where it is configured or tests exist (else tox or nox); ruff, mypy and pyright where configured."""
    pyproject = toml_of(root, "pyproject.toml")
    tools = table(pyproject, "tool")
    sections = ini_sections(root, "setup.cfg")
    if _uses_pytest(root, tools, sections):
        yield "pytest", _module(root, "pytest"), "test"
    elif (root / "tox.ini").is_file() or (root / "tox.toml").is_file() or "tox" in tools:
        yield "tox", _program(root, "tox"), "test"
    elif (root / "noxfile.py").is_file():
        yield "nox", _program(root, "nox"), "test"
    if "ruff" in tools or (root / "ruff.toml").is_file() or (root / ".ruff.toml").is_file():
        yield "ruff check", _program(root, "ruff") + " check .", "lint"
    if "flake8" in sections or (root / ".flake8").is_file() or "flake8" in ini_sections(root, "tox.ini"):
        yield "flake8", _program(root, "flake8"), "lint"
    if "mypy" in tools or "mypy" in sections or (root / "mypy.ini").is_file() or (root / ".mypy.ini").is_file():
        yield "mypy", _program(root, "mypy") + _mypy_target(root, tools), "types"
    if "pyright" in tools or (root / "pyrightconfig.json").is_file():
        yield "pyright", _program(root, "pyright"), "types"


def missing(root: Path) -> Iterator[tuple[str, str]]:
    """A lock file whose environment is not there and would need the network to be made."""
    if any((root / name).is_dir() for name in _ENVIRONMENTS):
        return
    if (root / "uv.lock").is_file():
        yield "uv.lock is here, but no .venv", "uv sync"
    elif (root / "poetry.lock").is_file() and shutil.which("poetry") is None:
        yield "poetry.lock is here, but neither .venv nor poetry", "pip install poetry && poetry install"
    elif (root / "pdm.lock").is_file():
        yield "pdm.lock is here, but no .venv", "pdm sync"


def _uses_pytest(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> bool:
    configured = (
        "pytest" in tools
        or "tool:pytest" in sections
        or any((root / name).is_file() for name in ("pytest.ini", ".pytest.ini", "pytest.toml", "conftest.py"))
        or "pytest" in ini_sections(root, "tox.ini")
    )
    if configured or any(fnmatchcase(entry.name, "test_*.py") for entry in _listed(root)):
        return True
    return any(_has_tests(root, name) for name in _TEST_DIRECTORIES)


def _listed(root: Path) -> list[Listed]:
    try:
        return list_within(root, most=_MOST)
    except OSError:
        return []


def _has_tests(root: Path, directory: str) -> bool:
    """Whether a directory contains test modules, directly or up to two levels below."""
    try:
        within = root / inside(root, directory)
    except OSError:
        return False
    for walked in islice(walk_within(within, most=_MOST), _MOST):
        if any(fnmatchcase(name, pattern) for name in walked.others for pattern in _MODULES):
            return True
        if walked.path.count("/") >= _DEEPEST - 1 and walked.path:
            walked.folders.clear()
    return False


def _mypy_target(root: Path, tools: dict[str, Any]) -> str:
    """Nothing where the configuration says what to check, else the whole project."""
    named = {"files", "packages", "modules"}.intersection(table(tools, "mypy"))
    ini = "\n".join(text_of(root, name) for name in ("mypy.ini", ".mypy.ini", "setup.cfg"))
    return "" if named or re.search(r"^(?:files|packages|modules)\s*=", ini, re.MULTILINE) else " ."


def _environment(root: Path) -> str:
    """The directory of the project's own programs, from the root; empty when it has none."""
    return next((f"{name}/bin" for name in _ENVIRONMENTS if (root / name / "bin" / "python").exists()), "")


def _runner(root: Path) -> str:
    """The tool that runs programs in the environment of the lock file, if it is installed."""
    for lock, tool in (("uv.lock", "uv"), ("poetry.lock", "poetry"), ("pdm.lock", "pdm"), ("Pipfile.lock", "pipenv")):
        if (root / lock).is_file() and shutil.which(tool):
            return f"{tool} run "
    return ""


def _module(root: Path, name: str) -> str:
    """`python -m name`, which also finds modules in the project's root, unless only a program of that name exists."""
    if directory := _environment(root):
        return f"{directory}/python -m {name}"
    if runner := _runner(root):
        return f"{runner}python -m {name}"
    interpreter = next((python for python in ("python3", "python") if shutil.which(python)), "")
    return f"{interpreter} -m {name}" if interpreter else name


def _program(root: Path, name: str) -> str:
    """The program of that name: the environment's where it has one."""
    directory = _environment(root)
    if directory and (root / directory / name).exists():
        return f"{directory}/{name}"
    return name if directory else f"{_runner(root)}{name}"
