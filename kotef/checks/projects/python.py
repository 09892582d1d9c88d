"""The checks of a Python project, and the environment in which they run."""

import re
import shlex
import shutil
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Any, Final

from kotef.checks.project_config import ini_sections, readable_text, table, text_of, toml_of
from kotef.checks.projects import DetectedCheck
from kotef.checks.projects.declared_commands import Declared, assignments_of, declared, is_bare, module_and_arguments
from kotef.checks.projects.environments import environment_of, environments, lock_of
from kotef.checks.projects.pytest_command import form_in_manual, pytest_line
from kotef.checks.projects.workflows import workflow_commands
from kotef.files import Listed, list_within, resolve_links, walk_within
from kotef.shell import Role

_TEST_DIRECTORIES: Final = ("tests", "test", "src/tests")
_MODULES: Final = ("test_*.py", "*_test.py")
_DEEPEST: Final = 2
"""Levels of folders below a test directory that are searched for test modules."""
_MOST: Final = 5_000
"""Entries of a folder, and folders, that are looked at."""
_CONFIGURED: Final = ("pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml", "conftest.py")
_IMPORTS_PYTEST: Final = re.compile(r"^(?:import|from) pytest\b", re.MULTILINE)
_CASE: Final = re.compile(r"^\s*class \w+\(.*TestCase\b.*\):", re.MULTILINE)
_OF_PYTEST: Final = re.compile(r"^(?:import|from) pytest\b|^(?:async )?def test", re.MULTILINE)
_UNCOLLECTED: Final = re.compile(r"\..*|.*\.egg|_darcs|build|CVS|dist|node_modules|venv|env|site-packages|\{arch\}")
"""Folders into which pytest does not look."""
_READ: Final = 200
"""Test modules that are read."""
_RUN_SCRIPTS: Final = ("runtests.py", "tests/runtests.py", "run_tests.py", "tests/run_tests.py", "test/run_tests.py")
_DJANGO_TESTS: Final = ("test*.py",)
"""What Django's runner looks for."""


def checks(root: Path) -> Iterator[DetectedCheck]:
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
        yield DetectedCheck(name.strip(), _program(root, name.split()[0]) + arguments, role, source)


def missing(root: Path) -> Iterator[tuple[str, str]]:
    """A lock file whose environment is not there and would need the network to be made."""
    lock = lock_of(root)
    if not lock or any(each.directory for each in environments(root)):
        return
    if lock == "poetry.lock" and shutil.which("poetry") is None:
        yield "poetry.lock exists, but neither .venv nor poetry does", "pip install poetry && poetry install"
    elif lock in {"uv.lock", "pdm.lock"}:
        yield f"{lock} exists, but no .venv does", f"{lock.removesuffix('.lock')} sync"


def _tests(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> DetectedCheck | None:
    configured = _pytest_configured(root, tools, sections)
    is_python = bool(configured) or _is_python(root, tools)
    commands = [each for each in declared(root) if is_python or each.source.partition(":")[0] in _PYTHON_ONLY]
    suited = [each for each in commands if each.is_suited]
    if configured:
        return _with_configuration(root, suited, configured)
    for each in suited:
        if found := _as_declared(root, each):
            return found
    if found := _suggested(root, is_python=is_python):
        return found
    if (root / "tox.ini").is_file() or (root / "tox.toml").is_file() or "tox" in tools:
        return DetectedCheck("tox", _program(root, "tox"), "test", "tox")
    if (root / "noxfile.py").is_file():
        return DetectedCheck("nox", _program(root, "nox"), "test", "noxfile.py")
    return None


def undeclared(root: Path) -> Iterator[DetectedCheck]:
    """How the tests can be run beside what the repository declares: for where the declared command cannot start."""
    if found := _suggested(root, is_python=_is_python(root, table(toml_of(root, "pyproject.toml"), "tool"))):
        yield found


def _suggested(root: Path, *, is_python: bool) -> DetectedCheck | None:
    """What the files and the CI workflows suggest."""
    if found := _script(root) or _django(root):
        return found
    if is_python and (found := _hinted(root)):
        return found
    if where := _holds_tests(root):
        return _undeclared(root, where)
    return None


def _with_configuration(root: Path, commands: list[Declared], source: str) -> DetectedCheck:
    """Pytest as it is configured, with the arguments, the form and the variables of the first declared command of it.

    Where none is declared the form is that of the CI workflows, else of the manual for contributors.
    """
    own = next((each for each in commands if _runs_pytest(each)), None)
    if own is not None and (found := _as_declared(root, own, configured=True)) is not None:
        return found._replace(source=f"{source}, {own.source}")

    hints = [each for each in workflow_commands(root) if _runs_pytest(each) and not each.folder]
    fronts = {assignments_of(each.runner) for each in hints}
    front = fronts.pop() if len(fronts) == 1 else ""
    bare = is_bare(hints[0].runner) if hints else form_in_manual(root) is True
    if hints and (front or bare):
        source = f"{source}, {hints[0].source}"
    return DetectedCheck("pytest", f"{front}{pytest_line(root, bare=bare, configured=True)}", "test", source)


def _runs_pytest(command: Declared) -> bool:
    return module_and_arguments(command.runner)[0] == "pytest"


def _undeclared(root: Path, where: str) -> DetectedCheck:
    """Pytest on what holds tests, in the form that the manual for contributors names.

    Only the folder of tests is given where pytest alone would also collect what belongs to no package and no folder of
    tests. unittest where the project's environment has no pytest and the tests do not ask for it.
    """
    environment = environment_of(root, "pytest")
    if environment and environment.directory and not environment.has(root, "pytest") and (line := _unittest(root)):
        return DetectedCheck("unittest", f"{environment.python} {line}", "test", where)
    arguments = where.rstrip("/") if where.endswith("/") and _strays(root) else ""
    return DetectedCheck(
        "pytest", pytest_line(root, arguments=arguments, bare=form_in_manual(root) is True), "test", where
    )


def _unittest(root: Path) -> str:
    """The arguments with which unittest finds every test module; empty if some need pytest."""
    paths = _test_modules(root)[:_READ]
    texts = [readable_text(root, path) for path in paths]
    if not any(_CASE.search(text) for text in texts) or any(_OF_PYTEST.search(text) for text in texts):
        return ""
    tops = {path.rpartition("/")[0] for path in paths}
    top = min(tops, key=len)
    packaged = all(not folder or (root / folder / "__init__.py").is_file() for folder in tops)
    place = "" if packaged else f" -s {shlex.quote(top)}"
    usual = all(fnmatchcase(path.rpartition("/")[2], "test*.py") for path in paths)
    return f"-m unittest discover{place}" + ("" if usual else " -p '*_test.py'")


def _strays(root: Path) -> bool:
    """Whether pytest would collect test modules that are in no folder of tests and in no package."""
    for walked in islice(walk_within(root, most=_MOST), _MOST):
        folders = [name for name in walked.folders if not _UNCOLLECTED.fullmatch(name)]
        walked.folders[:] = [name for name in folders if not _is_environment(root / walked.path / name)]
        if walked.path and walked.path.count("/") >= _DEEPEST - 1:
            walked.folders.clear()

        is_among_tests = bool({"tests", "test"} & set(walked.path.split("/")))
        is_package = "__init__.py" in walked.others
        if not walked.path or is_among_tests or is_package:
            continue
        if any(fnmatchcase(name, pattern) for name in walked.others for pattern in _MODULES):
            return True
    return False


def _is_environment(folder: Path) -> bool:
    return any((folder / mark).exists() for mark in ("pyvenv.cfg", "conda-meta"))


_PYTHON_ONLY: Final = frozenset({"tox.ini", "tox.toml", "noxfile.py", "hatch.toml"})


def _is_python(root: Path, tools: dict[str, Any]) -> bool:
    named = ("pyproject.toml", "setup.py", "setup.cfg", "requirements.txt")
    return bool(tools) or any((root / name).is_file() for name in named) or bool(_holds_tests(root))


def _as_declared(root: Path, command: Declared, *, configured: bool = False) -> DetectedCheck | None:
    """The declared command in the project's environment; None if pytest is what its tests need after all."""
    module, arguments = module_and_arguments(command.runner)
    folder = command.folder
    if (module == "unittest" and _imports_pytest(root)) or (folder and not (root / folder).is_dir()):
        return None
    if module == "pytest":
        bare, front = is_bare(command.runner), assignments_of(command.runner)
        line = pytest_line(root, arguments=arguments, folder=folder, bare=bare, configured=configured)
        before, cd, after = line.rpartition(" && ")
        return DetectedCheck(module, f"{before}{cd}{front}{after}", "test", command.source)
    if module:
        line = f"{assignments_of(command.runner)}{_module(root, module, folder)} {arguments}".strip()
        return DetectedCheck(module, f"cd {shlex.quote(folder)} && {line}" if folder else line, "test", command.source)
    if not command.command:
        return None
    return DetectedCheck(command.command, _with_programs(root, command.command), "test", command.source)


def _hinted(root: Path) -> DetectedCheck | None:
    """What the CI workflows run, where they call one of Python's runners in one way.

    Where they call it in several, for parts of the tests, the one at the root without arguments is taken, or none.
    """
    found: dict[tuple[str, str], DetectedCheck] = {}
    for each in workflow_commands(root):
        module, arguments = module_and_arguments(each.runner)
        declared_command = _as_declared(root, each) if module else None
        if declared_command is not None:
            found.setdefault((each.folder, arguments), declared_command)
    return next(iter(found.values())) if len(found) == 1 else found.get(("", ""))


def _script(root: Path) -> DetectedCheck | None:
    """A script of the project's own that runs its tests, as Django and its applications have one."""
    path = next((name for name in _RUN_SCRIPTS if (root / name).is_file()), "")
    if not path or not re.search(r"\b(?:unittest|django|TestRunner|pytest)\b", readable_text(root, path)):
        return None
    return DetectedCheck(path.rpartition("/")[2], f"{_interpreter(root, 'django')} {path}", "test", path)


def _django(root: Path) -> DetectedCheck | None:
    """Django's runner, where the project has its `manage.py` and tests that do not need pytest."""
    if "DJANGO_SETTINGS_MODULE" not in readable_text(root, "manage.py"):
        return None
    tests = [path for path in _modules(root, ".", _DJANGO_TESTS) if not path.startswith((".", "node_modules/"))]
    if not tests or any(_IMPORTS_PYTEST.search(readable_text(root, path)) for path in tests[:_READ]):
        return None
    return DetectedCheck("manage.py test", f"{_interpreter(root, 'django')} manage.py test", "test", "manage.py")


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
        yield "ruff check", f" check .{_excluded(root, _PASSED_BY_RUFF)}", "lint", source
    if source := configured("flake8", ".flake8", ini=("tox.ini",)):
        yield "flake8", _excluded(root, _PASSED_BY_FLAKE8), "lint", source
    if source := configured("mypy", "mypy.ini", ".mypy.ini"):
        yield "mypy", _mypy_target(root, tools), "types", source
    if source := configured("pyright", "pyrightconfig.json"):
        yield "pyright", "", "types", source


_PASSED_BY_RUFF: Final = frozenset({".venv", "venv", ".tox", ".nox", ".pixi", "node_modules", ".direnv", ".hatch"})
_PASSED_BY_FLAKE8: Final = frozenset({".tox", ".nox"})
"""Folders of installed packages that a linter does not walk into by itself."""


def _excluded(root: Path, passed: frozenset[str]) -> str:
    """The option that keeps a linter out of environments: what it finds there is not the project's."""
    folders = sorted(entry.name for entry in _listed(root) if entry.is_directory)
    found = [name for name in folders if name == "node_modules" or _is_environment(root / name)]
    found += [name for name in (".tox", ".nox", ".pixi") if name in folders]
    walked = [name for name in dict.fromkeys(found) if name not in passed and re.fullmatch(r"[\w.+-]+", name)]
    return f" --extend-exclude={','.join(walked)}" if walked else ""


def _pytest_configured(root: Path, tools: dict[str, Any], sections: frozenset[str]) -> str:
    """The file that configures pytest; empty if none does."""
    if "pytest" in tools:
        return "pyproject.toml: tool.pytest"
    if "tool:pytest" in sections:
        return "setup.cfg: tool:pytest"
    if "pytest" in ini_sections(root, "tox.ini"):
        return "tox.ini: pytest"
    return next((name for name in _CONFIGURED if (root / name).is_file()), "")


def _holds_tests(root: Path) -> str:
    """Where there are test modules; empty if there are none."""
    if found := next((entry.name for entry in _listed(root) if fnmatchcase(entry.name, "test_*.py")), ""):
        return found
    return next((f"{name}/" for name in _test_directories(root) if next(_modules(root, name), "")), "")


def _test_directories(root: Path) -> Iterator[str]:
    """Where tests usually lie: at the top, else in the packages of the project."""
    yield from _TEST_DIRECTORIES
    for top in (".", "src"):
        for entry in _listed(root, top):
            package = entry.name if top == "." else f"{top}/{entry.name}"
            if entry.is_directory and (root / package / "__init__.py").is_file():
                yield from (f"{package}/{name}" for name in ("tests", "test"))


def _test_modules(root: Path) -> list[str]:
    paths = [entry.name for entry in _listed(root) if fnmatchcase(entry.name, "test_*.py")]
    for name in _test_directories(root):
        paths += islice(_modules(root, name), _READ)
    return paths


def _imports_pytest(root: Path) -> bool:
    return any(_IMPORTS_PYTEST.search(readable_text(root, path)) for path in _test_modules(root)[:_READ])


def _listed(root: Path, directory: str = ".") -> list[Listed]:
    try:
        return list_within(root, directory, most=_MOST)
    except OSError:
        return []


def _modules(root: Path, directory: str, patterns: tuple[str, ...] = _MODULES) -> Iterator[str]:
    """The test modules in a directory, and up to two below it, from the root."""
    try:
        place = resolve_links(root, directory)
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


def _module(root: Path, name: str, folder: str = "") -> str:
    """`python -m name`, which also finds modules where it is started, unless only a program of that name exists."""
    environment = environment_of(root, name)
    if folder and environment and environment.directory and not environment.directory.startswith("/"):
        up = "../" * (folder.count("/") + 1)
        return f"{shlex.quote(f'{up}{environment.directory}/python')} -m {name}"
    interpreter = _interpreter(root, name)
    return f"{interpreter} -m {name}" if interpreter else name


def _interpreter(root: Path, module: str) -> str:
    """The interpreter of the environment that holds the module, else of PATH; empty if there is none."""
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
