"""Test files by content: the files of collected tests, and the helpers that only tests load."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from posixpath import dirname, join, normpath
from typing import Final, NamedTuple

from kotef.integrity.inline_tests import PROSE
from kotef.integrity.protected_files import is_protected
from kotef.integrity.python_imports import module_files
from kotef.integrity.tampering.javascript import JAVASCRIPT_SUFFIXES as JAVASCRIPT
from kotef.integrity.tampering.javascript import required_files

Read = Callable[[str], str | None]
"""The text of a workspace path at the baseline; None if there is none."""

_MOST: Final = 3000
"""Files of code of a workspace that is searched; of a larger one only names and ids tell what judges."""
_PYTHON_IMPORT: Final = re.compile(
    r"^[ \t]*(?:from[ \t]+(?P<base>\.*[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|import[ \t]+(?P<modules>[\w., \t]+))",
    re.MULTILINE,
)
_PLUGINS: Final = re.compile(r"^pytest_plugins\s*=\s*(\[[^\]]*\]|\([^)]*\)|[^\n]+)", re.MULTILINE)
_QUOTED: Final = re.compile(r"['\"]([\w.]+)['\"]")
_GO_IMPORT: Final = re.compile(r"^\s*(?:import\s+)?(?:[\w.]+\s+)?\"([\w./~-]+)\"\s*$", re.MULTILINE)
_RUST_TESTS: Final = re.compile(
    r"#\[cfg\(test\)\]\s*(?:#\[path\s*=\s*\"(?P<path>[^\"]+)\"\]\s*)?(?:pub\s+)?mod\s+(?P<name>\w+)\s*;"
)
_RUST_MODULE: Final = re.compile(r"^\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;", re.MULTILINE)
_C_INCLUDE: Final = re.compile(r"^\s*#\s*include\s+\"([^\"\n]+)\"", re.MULTILINE)
_C_SUFFIXES: Final = (".c", ".h", ".cc", ".cpp", ".cxx", ".hh", ".hpp")

_HELPS: Final[Mapping[tuple[str, ...], re.Pattern[str]]] = {
    (".py",): re.compile(
        r"^\s*class\s+\w+\([^)]*TestCase\b|^\s*@(?:pytest|pytest_asyncio)\.fixture\b|^\s*@fixture\b"
        r"|^\s*(?:async\s+)?def\s+test_\w+|\bpytest\.(?:raises|fail|approx|mark)\b",
        re.MULTILINE,
    ),
    JAVASCRIPT: re.compile(r"\bexpect\(|(?:from|require\()\s*['\"](?:node:test|chai|vitest|@jest/globals)['\"]"),
    (".go",): re.compile(r"^\s*(?:import\s+)?\"testing\"\s*$", re.MULTILINE),
    (".rs",): re.compile(r"\bassert(?:_eq|_ne)?!"),
    _C_SUFFIXES: re.compile(r"^\s*#\s*define\s+\w*(?:ASSERT|EXPECT|CHECK|assert|expect|check)\w*\(", re.MULTILINE),
}
"""What a file defines or uses that is a help for tests, by the ending of its name."""

_TESTS: Final = re.compile(
    r"^\s*class\s+\w+\([^)]*TestCase\b|^\s*class\s+Test\w*|^\s*(?:async\s+)?def\s+test\w*\(", re.MULTILINE
)
_DEFINITION: Final = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]", re.MULTILINE)
_ASSERTION: Final = re.compile(r"^[ \t]*(?:assert\b|raise AssertionError\b)", re.MULTILINE)
_ANSWER: Final = re.compile(r"^[ \t]*(?:return[ \t]+(?!None\b|True\b)|yield\b)", re.MULTILINE)
_TOOL: Final = re.compile(r"pytest11|Framework :: Pytest|^\s*['\"]?pytest\b[^=\n]*['\"],?\s*$", re.MULTILINE)
"""A project that is made for tests: its product looks like a help for tests."""
_METADATA: Final = ("pyproject.toml", "setup.cfg", "setup.py")


class _Workspace(NamedTuple):
    paths: Collection[str]
    read: Read

    def text(self, path: str) -> str:
        return self.read(path) or ""


def closure_of_tests(tests: Iterable[str], paths: Collection[str], read: Read) -> frozenset[str]:
    """Files that judge although their names do not say so, by the ids of the tests that were collected and by reading.

    The files of those ids, if they test other files; modules that Rust compiles for tests only; and helpers for tests
    (test cases, fixtures, assertions) that tests load and the product does not. `paths` are those of the baseline.
    """
    space = _Workspace(paths, read)
    code = [path for path in paths if path.endswith(_SUFFIXES)]
    named = {path for test in tests if (path := _file_of(test, paths)) and not is_protected(path)}
    found = {path for path in named if _judges(path, space)}
    if len(code) > _MOST:
        return frozenset(found)
    found |= {path for module in code if module.endswith(".rs") for path in _rust_tests(module, space)}
    begun = found | {path for path in code if is_protected(path)}
    helpers = _helpers(begun, space)
    others = [path for path in code if path not in begun and path not in helpers]
    product = {loaded for path in others for loaded in _loaded(path, space)} if found or helpers else set[str]()
    found -= product
    while shared := helpers & product:
        helpers -= shared
        product |= {loaded for path in shared for loaded in _loaded(path, space)}
    return frozenset(path for path in found | helpers if not is_protected(path))


def _helpers(begun: Collection[str], space: _Workspace) -> set[str]:
    """What test files load, directly or through each other, and what is a help for tests."""
    if any(_TOOL.search(_runtime(space.text(name))) for name in _METADATA if name in space.paths):
        return set()

    by_tests = {each for test in begun for each in _loaded(test, space)}
    helpers: set[str] = set()
    pending = list(begun)
    while pending:
        path = pending.pop()
        plugins = set(_plugins(path, space)) - by_tests
        for loaded in plugins.union(_loaded(path, space)):
            if loaded in helpers or loaded in begun or is_protected(loaded):
                continue
            if loaded in plugins or _helps(loaded, space):
                helpers.add(loaded)
                pending.append(loaded)
    return helpers


def _judges(path: str, space: _Workspace) -> bool:
    """Whether a file with collected tests is not product code: a table of cases, or code that tests other files."""
    if path.endswith(PROSE):
        return False
    return not path.endswith(_SUFFIXES) or bool(_TESTS.search(space.text(path)) and any(_loaded(path, space)))


def _runtime(metadata: str) -> str:
    """Package metadata up to what is needed for development only."""
    return re.split(r"optional-dependencies|dependency-groups|extras_require|tests_require|\[tool\.", metadata)[0]


def _helps(path: str, space: _Workspace) -> bool:
    pattern = next((pattern for suffixes, pattern in _HELPS.items() if path.endswith(suffixes)), None)
    text = space.text(path)
    return bool(pattern and pattern.search(text)) or (path.endswith(".py") and _only_asserts(text))


def _only_asserts(text: str) -> bool:
    """Whether each function of a Python module asserts something and answers nothing, and there is at least one."""
    _, *functions = _DEFINITION.split(text)
    return bool(functions) and all(_ASSERTION.search(each) and not _ANSWER.search(each) for each in functions)


def _file_of(test: str, paths: Collection[str]) -> str | None:
    """The file in a test's id, as a path or as the name of a module."""
    place = test.partition("::")[0]
    if place in paths:
        return place
    parts = place.split(".")
    names = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((path for name in names for path in module_files(name) if path in paths), None)


def _loaded(path: str, space: _Workspace) -> Iterator[str]:
    """Files of the workspace that a file of code loads."""
    if path.endswith(JAVASCRIPT):
        found: Iterable[str] = required_files(path, space.text(path))
    else:
        found = next((each(path, space) for suffixes, each in _LOADS.items() if path.endswith(suffixes)), ())
    return (name for name in found if name in space.paths and name != path)


def _of_python(path: str, space: _Workspace) -> Iterator[str]:
    for match in _PYTHON_IMPORT.finditer(space.text(path)):
        if modules := match["modules"]:
            for module in modules.split(","):
                yield from module_files(module.split(" as ")[0].strip(), path)
            continue
        base = match["base"]
        yield from module_files(base, path)
        for name in match["names"].strip("() \n").split(","):
            member = name.split(" as ")[0].strip()
            if member.isidentifier():
                yield from module_files(f"{base}{'' if base.endswith('.') else '.'}{member}", path)


def _plugins(path: str, space: _Workspace) -> Iterator[str]:
    """Modules that pytest must load as plug-ins."""
    if not path.endswith(".py"):
        return
    for match in _PLUGINS.finditer(space.text(path)):
        for name in _QUOTED.findall(match[1]):
            yield from (found for found in module_files(name, path) if found in space.paths)


def _of_go(path: str, space: _Workspace) -> Iterator[str]:
    folders = {dirname(other) for other in space.paths if other.endswith(".go")}
    for name in _GO_IMPORT.findall(space.text(path)):
        for folder in folders:
            if folder and name.endswith(f"/{folder}"):
                yield from (other for other in space.paths if dirname(other) == folder and other.endswith(".go"))


def _of_rust(path: str, space: _Workspace) -> Iterator[str]:
    for match in _RUST_MODULE.finditer(_RUST_TESTS.sub("", space.text(path))):
        yield from _rust_module(path, match[1])


def _rust_tests(path: str, space: _Workspace) -> Iterator[str]:
    """Modules that are compiled for tests only."""
    for match in _RUST_TESTS.finditer(space.text(path)):
        places = [normpath(join(dirname(path), match["path"]))] if match["path"] else _rust_module(path, match["name"])
        yield from (place for place in places if place in space.paths)


def _rust_module(path: str, name: str) -> Iterator[str]:
    folder, _, file = path.rpartition("/")
    below = folder if file in {"mod.rs", "lib.rs", "main.rs"} else join(folder, file.removesuffix(".rs"))
    yield from (join(below, f"{name}.rs"), join(below, name, "mod.rs"))


def _of_c(path: str, space: _Workspace) -> Iterator[str]:
    for name in _C_INCLUDE.findall(space.text(path)):
        yield from (normpath(join(dirname(path), name)), normpath(name), normpath(join("include", name)))


_LOADS: Final[Mapping[tuple[str, ...], Callable[[str, _Workspace], Iterable[str]]]] = {
    (".py",): _of_python,
    (".go",): _of_go,
    (".rs",): _of_rust,
    _C_SUFFIXES: _of_c,
}
_SUFFIXES: Final = tuple(suffix for suffixes in _HELPS for suffix in suffixes)
