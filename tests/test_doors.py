"""Each engine has one door: what its `__init__` exports. Nobody outside of the package imports past it.

The tests of a package may: they stand in the folder of `tests/` that has its name.
"""

import ast
import importlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest
from support.source_trees import product_nodes

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "kotef"
CLOSED: tuple[str, ...] = (
    "classification",
    "extensions",
    "files",
    "fixers",
    "git",
    "importers",
    "integrity",
    "mcp_client",
    "redaction",
    "repair",
    "replay",
    "report",
    "sandbox",
    "shell",
    "source",
    "telemetry",
    "web",
    "workspace",
)
"""The packages that are closed."""

FOR_PACKAGES = {"extensions": "kotef.extensions.seam"}
"""Doors that packages of others use: door → the module whose names are for them."""

PART = "takes a part of the engine by itself, in a whole run"
BROKEN = "takes away what the engine finds on the machine"
WHITE_BOX: dict[str, str] = {
    "tests/browser/test_report_in_chromium.py": PART,
    "tests/cli/test_check_command.py": BROKEN,
    "tests/cli/test_demo.py": PART,
    "tests/cli/test_sandbox_doctor.py": BROKEN,
    "tests/loop/test_bad_input.py": BROKEN,
    "tests/loop/test_confined_runs.py": BROKEN,
    "tests/loop/test_langsmith.py": PART,
    "tests/loop/test_outside.py": BROKEN,
    "tests/loop/test_replay.py": PART,
    "tests/loop/test_report_runs.py": PART,
    "tests/loop/test_telemetry.py": PART,
    "tests/sandbox/test_process.py": "asks which processes are left",
    "tests/support/extension_packages.py": "puts a folder in the place of the folders of kotef's environment",
    "tests/support/isolation.py": "takes the plugins of this machine out of the environment of every check",
    "tests/support/mending.py": "is the scaffold of `tests/fixers/` and `tests/repair/`",
    "tests/test_studio.py": BROKEN,
}
"""Tests outside of the package's own folder that look behind a door, each with its reason."""

MOST_LINES = 30
"""Of a README: what it does, what it needs, what it promises, where to start."""


Import = tuple[int, str, str]
"""Line, module and name; the name is empty for `import module`."""


@cache
def _imports_of_files() -> dict[str, tuple[Import, ...]]:
    """The imports of every file that has some of ours, read once."""
    found = {}
    for folder in ("kotef", "tests", "benchmarks"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text("utf-8")
            if "import" in text and "kotef" in text and not path.is_relative_to(ROOT / "tests" / "support" / "worlds"):
                nodes = product_nodes().get(path) or ast.walk(ast.parse(text))
                own = (each for each in _imports(nodes) if each[1].startswith("kotef"))
                found[path.relative_to(ROOT).as_posix()] = tuple(own)
    return found


def _imports(nodes: Iterable[ast.AST]) -> Iterator[Import]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                yield node.lineno, node.module or "", alias.name
        elif isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, ""


@cache
def _door(package: str) -> ast.Module:
    return ast.parse((PACKAGE / package / "__init__.py").read_text("utf-8"))


def _is_inside(file: str, package: str) -> bool:
    return file.startswith((f"kotef/{package}/", f"tests/{package}/"))


def _is_behind(module: str, name: str, package: str) -> bool:
    door = f"kotef.{package}"
    return module.startswith(f"{door}.") or (module == door and name not in _exports(package))


@cache
def _exports(package: str) -> list[str]:
    return list(importlib.import_module(f"kotef.{package}").__all__)


@pytest.mark.parametrize("package", CLOSED)
def test_nobody_imports_past_the_door(package: str) -> None:
    found = [
        f"{file}:{line}: {module} {name}"
        for file, imports in _imports_of_files().items()
        if not _is_inside(file, package) and file not in WHITE_BOX
        for line, module, name in imports
        if _is_behind(module, name, package)
    ]
    assert not found, "\n".join([f"import it from kotef.{package}, or export it there:", *found])


@pytest.mark.parametrize("package", CLOSED)
def test_what_a_door_exports_is_used_outside(package: str) -> None:
    """A name that nobody asks for is none of the door's."""
    asked = {
        name
        for file, imports in _imports_of_files().items()
        if not _is_inside(file, package) and file.startswith(("kotef/", "benchmarks/"))
        for _, module, name in imports
        if module == f"kotef.{package}"
    }
    module = FOR_PACKAGES.get(package)
    public = importlib.import_module(module).__all__ if module else ()
    assert {*_exports(package)} <= {*asked, *public}


@pytest.mark.parametrize("package", CLOSED)
def test_type_checkers_and_programs_see_the_same_exports(package: str) -> None:
    tree = _door(package)
    typed = {
        name: module.removeprefix(f"kotef.{package}.")
        for node in tree.body
        if isinstance(node, ast.If)
        for _, module, name in _imports(ast.walk(node))
    }
    table = next(node for node in ast.walk(tree) if isinstance(node, ast.Dict))
    lazy = {name: module for module, names in ast.literal_eval(table).items() for name in names.split()}
    exported = _exports(package)
    assert typed == lazy
    assert sorted(typed) == sorted(exported)
    for name in exported:
        assert getattr(importlib.import_module(f"kotef.{package}"), name) is not None


@pytest.mark.parametrize("package", CLOSED)
def test_an_export_does_not_share_its_name_with_a_module(package: str) -> None:
    """Once the module is imported, the package would answer with it."""
    modules = {path.stem for path in (PACKAGE / package).iterdir()}
    assert not modules & {*_exports(package)}


@pytest.mark.parametrize("package", CLOSED)
def test_opening_a_door_imports_nothing_behind_it(package: str) -> None:
    tree = _door(package)
    top = {
        name
        for node in tree.body
        if isinstance(node, ast.ImportFrom | ast.Import)
        for _, name, _ in _imports(ast.walk(node))
    }
    assert top == {"typing", "kotef.lazy_exports"}


@pytest.mark.parametrize("package", CLOSED)
def test_a_readme_of_one_screen_says_where_to_start(package: str) -> None:
    lines = (PACKAGE / package / "README.md").read_text("utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    for heading in ("Needs", "Promises", "Start"):
        assert any(line.startswith(f"**{heading}") for line in lines), heading


def test_every_exception_is_in_use() -> None:
    behind = {
        file
        for package in CLOSED
        for file, imports in _imports_of_files().items()
        if not _is_inside(file, package)
        for _, module, name in imports
        if _is_behind(module, name, package)
    }
    assert behind == {*WHITE_BOX}
