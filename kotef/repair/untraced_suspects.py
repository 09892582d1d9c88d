"""Suspects of a search that sees no traces: by the frames of the output, and by the names that tests call."""

import ast
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from itertools import islice
from pathlib import Path
from typing import Final

from kotef.files import list_within, read_within, walk_within
from kotef.repair.candidates import Suspects
from kotef.repair.scope import FileScope, FunctionScope, assignments
from kotef.repair.source import PythonSource, SwapUnit

LARGEST_MODULE: Final = 5 << 20
MOST_ENTRIES: Final = 20_000
MOST_FILES: Final = 40
FRAME: Final = re.compile(r'File "(?P<file>[^"\n]{1,300})", line (?P<line>\d+)')
_CALLED: Final = 0.8
"""Suspicion of a function that the tests name, next to 1 for a line of the traceback."""
_OTHERS: Final = 0.5
_REACHED: Final = (0.9, 0.75, 0.6)
"""Suspicion of a function that the failing tests name, of one that those name, and of one that these name."""
_ELSEWHERE: Final = 0.2
"""Suspicion of any other function, where the failing tests name one."""
_SCOPES: Final = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_Part = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def frames_of(root: Path, copy: Path, output: str) -> set[tuple[str, int]]:
    """Path and line of each frame in the tracebacks that the check printed."""
    matches = islice(FRAME.finditer(output), 200)
    return {(_inside(match["file"], root, copy), int(match["line"])) for match in matches}


def suspects_without_traces(
    root: Path, sources: Mapping[str, PythonSource], frames: set[tuple[str, int]], failing: Collection[str]
) -> Iterator[Suspects]:
    """Each function, its lines as suspect as the frames and the tests make them, then the assignments of the file."""
    tests = [path for path in modules_in(root, "*test*.py") if path not in sources]
    called = {name for path in tests[:MOST_FILES] for name in _names(root, path)}
    reached = _reached(sources, {name for test in failing for name in _names_in(root, test)})

    for path, source in sources.items():
        around = FileScope(source)
        in_frames = {line for place, line in frames if place == path}
        for unit in source.units:
            weight = _weight({unit.node.name, *unit.trail}, reached, called)
            floor = 0.9 if in_frames.intersection(unit.lines) else weight
            lines = {line: 1.0 if line in in_frames else max(floor, weight) for line in unit.lines}
            yield Suspects(FunctionScope(around, unit), _executable(unit, lines))

        outside = assignments(source, called | _names_read(source))
        if outside:
            numbers = [line for node in outside for line in range(node.lineno, (node.end_lineno or node.lineno) + 1)]
            yield Suspects(FunctionScope(around, None, {}, outside), dict.fromkeys(numbers, _OTHERS))


def _names_read(source: PythonSource) -> set[str]:
    """Names in the functions of a file."""
    return {node.id for unit in source.units for node in ast.walk(unit.node) if isinstance(node, ast.Name)}


def _reached(sources: Mapping[str, PythonSource], names: set[str]) -> dict[str, float]:
    """The functions that failing tests reach by names, each with its suspicion; empty if they name none."""
    units: dict[str, list[ast.AST]] = {}
    for source in sources.values():
        for unit in source.units:
            for name in {unit.node.name, *unit.trail}:
                units.setdefault(name, []).append(unit.node)
    found: dict[str, float] = {}
    for suspicion in _REACHED:
        here = {name for name in names if name in units and name not in found}
        found |= dict.fromkeys(here, suspicion)
        names = _names_below([node for name in here for node in units[name]])
    return found


def _weight(names: set[str], reached: Mapping[str, float], called: set[str]) -> float:
    """How suspicious a function is by its names: reached by a failing test, named by any test, or by none."""
    if reached:
        return max((reached[name] for name in names if name in reached), default=_ELSEWHERE)
    return _CALLED if names & called else _OTHERS


def _executable(unit: SwapUnit, lines: Mapping[int, float]) -> dict[int, float]:
    begun = {node.lineno for node in ast.walk(unit.node) if isinstance(node, ast.stmt | ast.expr)}
    return {line: value for line, value in lines.items() if line in begun}


def _inside(file: str, root: Path, copy: Path) -> str:
    for base in (copy, root):
        if file.startswith(f"{base}/"):
            return file[len(str(base)) + 1 :]
    return file.removeprefix("./")


def is_of_workspace(file: str, root: Path, copy: Path) -> bool:
    """Whether a file of the workspace itself was run; an environment in it is shared with the copies."""
    path = Path(file)
    return path.is_relative_to(root) and not path.is_relative_to(copy) and "site-packages" not in path.parts


def environments_in(root: Path) -> set[str]:
    """Folders of the root that are Python environments."""
    folders = [entry.name for entry in list_within(root, most=MOST_ENTRIES) if entry.is_directory]
    return {name for name in folders if (root / name / "pyvenv.cfg").exists()}


def modules_in(root: Path, pattern: str) -> list[str]:
    """Paths of the files whose names match."""
    walked = islice(walk_within(root, most=MOST_ENTRIES), MOST_ENTRIES)
    return [
        f"{folder.path}/{name}" if folder.path else name
        for folder in walked
        for name in folder.others
        if fnmatchcase(name, pattern)
    ]


def _names(root: Path, path: str) -> set[str]:
    tree = _tree(root, path)
    return _names_below([tree]) if tree else set()


def _names_in(root: Path, test: str) -> set[str]:
    """Names that a test uses, its class with its own set-up; of a doctest the name of what it documents."""
    path, *parts = test.split("::")
    tree = _tree(root, path)
    if tree is None or not parts:
        return set()
    if not (inside := _part(tree, parts[:-1])) or not (own := _part(inside, [parts[-1].partition("[")[0]])):
        return set(parts[-1].split(".")[-1:])
    set_up = [node for node in inside.body if getattr(node, "name", "") in {"setUp", "setUpClass", "setup_method"}]
    return _names_below([own, *set_up])


def _part(tree: _Part, names: Sequence[str]) -> _Part | None:
    """The class or function that is reached by these names; None if there is none."""
    found: _Part | None = tree
    for name in names:
        inside = found.body if found else []
        found = next((node for node in inside if isinstance(node, _SCOPES) and node.name == name), None)
    return found


def _tree(root: Path, path: str) -> ast.Module | None:
    try:
        return ast.parse(read_within(root, path, largest=LARGEST_MODULE))
    except (OSError, SyntaxError, ValueError, RecursionError):  # only a hint is lost
        return None


def _names_below(nodes: Sequence[ast.AST]) -> set[str]:
    return {
        node.id if isinstance(node, ast.Name) else node.attr
        for above in nodes
        for node in ast.walk(above)
        if isinstance(node, ast.Name | ast.Attribute)
    }
