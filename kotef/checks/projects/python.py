"""The checks of a Python project, and the environment in which they run."""

import re
import shlex
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from kotef.checks.files import ini_sections, readable_text, table, text_of, toml_of
from kotef.checks.model import Role
from kotef.checks.projects import Found
from kotef.checks.projects.declared import Declared, assignments_of, declared, module_and_arguments
from kotef.checks.projects.environments import environment_of, environments, lock_of
from kotef.checks.projects.workflows import workflow_commands
from kotef.workspace.safe_open import Listed, inside, list_within, walk_within

_TEST_DIRECTORIES: Final = ("tests", "test", "src/tests")
_MODULES: Final = ("test_*.py", "*_test.py")
_DEEPEST: Final = 2
"""Levels of folders below a test directory that are searched for test modules."""
_MOST: Final = 5_000
"""Entries of a folder, and folders, that are looked at."""
_CONFIGURED: Final = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "conftest.py")
_IMPORTS_PYTEST: Final = re.compile(r"^(?:import|from) pytest\b", re.MULTILINE)
_READ: Final = 200
"""Test modules that are read."""
_RUN_SCRIPTS: Final = ("runtests.py", "tests/runtests.py", "run_tests.py", "tests/run_tests.py", "test/run_tests.py")
_DJANGO_TESTS: Final = ("test*.py",)
"""What Django's runner looks for."""


def checks(root: Path) -> Iterator[Found]:
    """How the tests are run, then ruff, flake8, mypy and pyright where they are configured.

    pytest where it is configured; else what the repository declares as its test command, if it needs no more than this
    workspace; else a script or Django's runner; else what its CI workflows run; else pytest where there are tests; else
    what is declared all the same, tox and nox among it.
    """
    pyproject = toml_of(root, "pyproject.toml")
    tools = table(pyproject, "tool")
    sections = ini_sections(root, "setup.cfg")
    if found := _tests(root, tools, sections):
        yield found
    for name, arguments, role, source in _linters(root, tools, sections):
        yield Found(name.strip(), _program(root, name.split()[0]) + arguments, role, source)


def missing(root: Path) -> Iterator[tuple[str, str]]:
    """A lock file whose environment is not there and would need the network to be made."""
    lock = lock_of(root)
    if not lock or any(each.directory for each in environments(root)):
        return
    if lock == "poetry.lock" and shutil.which("poetry") is None:
        yield "poetry.lock is here, but neither .venv nor poetry", "pip install poetry && poetry install"
    elif lock in {"uv.lock", "pdm.lock"}:
        yield f"{lock} is here, but no .venv", f"{lock.removesuffix('.lock')} sync"


def _tests(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> Found | None:
    if source := _pytest_configured(root, tools, sections):
        return Found("pytest", _module(root, "pytest"), "test", source)
    is_python = _is_python(root, tools)
    commands = [each for each in declared(root) if is_python or each.source.partition(":")[0] in _PYTHON_ONLY]
    for each in commands:
        if each.is_suited and (found := _as_declared(root, each)):
            return found
    if found := _script(root) or _django(root):
        return found
    if is_python and (found := _hinted(root)):
        return found
    if where := _holds_tests(root):
        return Found("pytest", _module(root, "pytest"), "test", where)
    if (root / "tox.ini").is_file() or (root / "tox.toml").is_file() or "tox" in tools:
        return Found("tox", _program(root, "tox"), "test", "tox")
    if (root / "noxfile.py").is_file():
        return Found("nox", _program(root, "nox"), "test", "noxfile.py")
    return None


_PYTHON_ONLY: Final = frozenset({"tox.ini", "tox.toml", "noxfile.py"})


def _is_python(root: Path, tools: dict[str, Any]) -> bool:
    named = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    return bool(tools) or any((root / name).is_file() for name in named) or bool(_holds_tests(root))


def _as_declared(root: Path, command: Declared) -> Found | None:
    """The declared command in the project's environment; None where pytest is what its tests need after all."""
    module, arguments = module_and_arguments(command.runner)
    if module == "unittest" and _imports_pytest(root):
        return None
    if module:
        line = f"{assignments_of(command.runner)}{_module(root, module)} {arguments}".strip()
        return Found(module, line, "test", command.source)
    if not command.command:
        return None
    return Found(command.command, _with_programs(root, command.command), "test", command.source)


def _hinted(root: Path) -> Found | None:
    """What the CI workflows run, where they call one of Python's runners in one way.

    Where they call it in several, for parts of the tests, the one without arguments is taken, or none.
    """
    found: dict[str, Found] = {}
    for each in workflow_commands(root):
        module, arguments = module_and_arguments(each.runner)
        told = _as_declared(root, each) if module else None
        if told is not None:
            found.setdefault(arguments, told)
    return next(iter(found.values())) if len(found) == 1 else found.get("")


def _script(root: Path) -> Found | None:
    """A script of the project's own that runs its tests, as Django and its applications have one."""
    path = next((name for name in _RUN_SCRIPTS if (root / name).is_file()), "")
    if not path or not re.search(r"\b(?:unittest|django|TestRunner|pytest)\b", readable_text(root, path)):
        return None
    return Found(path.rpartition("/")[2], f"{_interpreter(root, 'django')} {path}", "test", path)


def _django(root: Path) -> Found | None:
    """Django's runner, where the project has its `manage.py` and tests that do not need pytest."""
    if "DJANGO_SETTINGS_MODULE" not in readable_text(root, "manage.py"):
        return None
    tests = [path for path in _modules(root, ".", _DJANGO_TESTS) if not path.startswith((".", "node_modules/"))]
    if not tests or any(_IMPORTS_PYTEST.search(readable_text(root, path)) for path in tests[:_READ]):
        return None
    return Found("manage.py test", f"{_interpreter(root, 'django')} manage.py test", "test", "manage.py")


def _linters(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> Iterator[tuple[str, str, Role, str]]:
    """Name, arguments, role and source of each tool that is configured."""

    def configured(tool: str, *files: str, ini: tuple[str, ...] = ()) -> str:
        if tool in tools:
            return f"pyproject.toml: tool.{tool}"
        if file := next((name for name in files if (root / name).is_file()), ""):
            return file
        if tool in sections:
            return f"setup.cfg: {tool}"
        return next((f"{name}: {tool}" for name in ini if tool in ini_sections(root, name)), "")

    if source := configured("ruff", "ruff.toml", ".ruff.toml"):
        yield "ruff check", " check .", "lint", source
    if source := configured("flake8", ".flake8", ini=("tox.ini",)):
        yield "flake8", "", "lint", source
    if source := configured("mypy", "mypy.ini", ".mypy.ini"):
        yield "mypy", _mypy_target(root, tools), "types", source
    if source := configured("pyright", "pyrightconfig.json"):
        yield "pyright", "", "types", source


def _pytest_configured(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> str:
    """The file that configures pytest; empty where none does."""
    if "pytest" in tools:
        return "pyproject.toml: tool.pytest"
    if "tool:pytest" in sections:
        return "setup.cfg: tool:pytest"
    if "pytest" in ini_sections(root, "tox.ini"):
        return "tox.ini: pytest"
    return next((name for name in _CONFIGURED if (root / name).is_file()), "")


def _holds_tests(root: Path) -> str:
    """Where there are test modules; empty where there are none."""
    if found := next((entry.name for entry in _listed(root) if fnmatchcase(entry.name, "test_*.py")), ""):
        return found
    return next((f"{name}/" for name in _TEST_DIRECTORIES if next(_modules(root, name), "")), "")


def _imports_pytest(root: Path) -> bool:
    paths = [entry.name for entry in _listed(root) if fnmatchcase(entry.name, "test_*.py")]
    for name in _TEST_DIRECTORIES:
        paths += islice(_modules(root, name), _READ)
    return any(_IMPORTS_PYTEST.search(readable_text(root, path)) for path in paths[:_READ])


def _listed(root: Path) -> list[Listed]:
    try:
        return list_within(root, most=_MOST)
    except OSError:
        return []


def _modules(root: Path, directory: str, patterns: tuple[str, ...] = _MODULES) -> Iterator[str]:
    """The test modules in a directory, and up to two below it, from the root."""
    try:
        place = inside(root, directory)
    except OSError:
        return
    for walked in islice(walk_within(root / place, most=_MOST), _MOST):
        for name in walked.others:
            if any(fnmatchcase(name, pattern) for pattern in patterns):
                yield "/".join(part for part in (directory, walked.path, name) if part not in {"", "."})
        if walked.path.count("/") >= _DEEPEST - 1 and walked.path:
            walked.folders.clear()


def _mypy_target(root: Path, tools: dict[str, Any]) -> str:
    """Nothing where the configuration says what to check, else the whole project."""
    named = {"files", "packages", "modules"}.intersection(table(tools, "mypy"))
    ini = "\n".join(text_of(root, name) for name in ("mypy.ini", ".mypy.ini", "setup.cfg"))
    return "" if named or re.search(r"^(?:files|packages|modules)\s*=", ini, re.MULTILINE) else " ."


def _module(root: Path, name: str) -> str:
    """`python -m name`, which also finds modules in the project's root, unless only a program of that name exists."""
    interpreter = _interpreter(root, name)
    return f"{interpreter} -m {name}" if interpreter else name


def _interpreter(root: Path, module: str) -> str:
    """The interpreter of the environment that holds the module, else of PATH; empty where there is none."""
    if environment := environment_of(root, module):
        return environment.python
    return next((python for python in ("python3", "python") if shutil.which(python)), "")


def _program(root: Path, name: str) -> str:
    """The program of that name: an environment's where one has it."""
    found = list(environments(root))
    for environment in found:
        if environment.directory and (root / environment.directory / name).exists():
            return shlex.quote(f"{environment.directory}/{name}")
    return f"{found[0].runner}{name}" if found else name


def _with_programs(root: Path, command: str) -> str:
    """The command with the programs of the project's environment first, as where a person has activated it."""
    environment = environment_of(root, "pytest")
    if environment is None:
        return command
    if environment.runner:
        return f"{environment.runner}{command}"
    start = "" if environment.directory.startswith("/") else "$PWD/"
    return f'PATH="{start}{environment.directory}:$PATH" {command}'
