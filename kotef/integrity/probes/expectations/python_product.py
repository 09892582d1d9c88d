"""The Python modules of a workspace as its tests name them: what is product, and what is a pure function."""

import ast
import sys
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, NamedTuple

from kotef.integrity.probes.expectations.python_purity import (
    ModuleScope,
    depends_on_arguments,
    keeps_state,
    uses_nothing_else,
)
from kotef.integrity.probes.source_text import parsed
from kotef.integrity.protected_files import is_test_code
from kotef.source import SourceText

_DEPTH: Final = 6
"""Re-exports, and calls of other functions, that are followed."""
_REMEMBERED: Final = 4096


class Definition(NamedTuple):
    """Where the product defines a name."""

    path: str
    name: str
    node: ast.stmt | None
    """None: the module does not have the name yet."""
    rest: str
    """What of the dotted name continues behind it: attributes."""


@dataclass(eq=False)
class Product:
    """The modules of one tree."""

    paths: Collection[str]
    read: Callable[[str], bytes | None]
    absent: Collection[str] = ()
    """Top-level modules that tests import and that are not there yet."""
    tests: Collection[str] = ()
    """Files that judge although their names do not say."""
    is_standard: bool = False
    """Whether the standard library itself is the product."""
    _by_name: dict[str, list[str]] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        """Modules by the last part of their names."""
        for path in self.paths:
            if path.endswith(".py"):
                module = path.removesuffix(".py").removesuffix("/__init__")
                self._by_name.setdefault(module.rpartition("/")[2], []).append(path)
        self._module = lru_cache(_REMEMBERED)(self._parsed)
        self._definition = lru_cache(_REMEMBERED)(self._found)
        self._pure = lru_cache(_REMEMBERED)(self._is_pure)
        self._state = lru_cache(_REMEMBERED)(self._has_state)

    def has(self, origin: str) -> bool:
        """Whether a dotted name is surely a function or a class of the product, or one that it does not have yet."""
        top = origin.partition(".")[0]
        if "." not in origin or (top in sys.stdlib_module_names and not self.is_standard):
            return False
        if top in self.absent and top not in self._by_name:
            return True
        found = self._definition(origin, 0)
        if found is None or is_test_code(found.path) or found.path in self.tests:
            return False
        if isinstance(found.node, ast.ClassDef):
            return "." not in found.rest
        return not found.rest and isinstance(found.node, ast.FunctionDef | ast.AsyncFunctionDef | None)

    def name_of(self, origin: str) -> str:
        """One name for all the ways to import a thing."""
        found = self._definition(origin, 0)
        return "::".join(part for part in (found.path, found.name, found.rest) if part) if found else origin

    def depends_on_arguments(self, origin: str) -> bool:
        """Whether a name means a pure function that is more than a stub: its result is made of its arguments."""
        found = self._function(origin)
        return found is not None and depends_on_arguments(found[1]) and self._pure(origin, 0)

    def has_state(self, origin: str) -> bool:
        """Whether a function, or one that it calls, surely keeps or reads a state; False if that is unknown."""
        return self._state(origin, 0)

    def _is_pure(self, origin: str, depth: int) -> bool:
        found = self._function(origin)
        tree = self._module(found[0]) if found else None
        if found is None or tree is None or depth > _DEPTH:
            return False
        path, function = found
        others = uses_nothing_else(function, ModuleScope.of(tree))
        if others is None:
            return False
        return all(self._pure(f"{dotted(path)}.{name}", depth + 1) for name in others - {function.name})

    def _has_state(self, origin: str, depth: int) -> bool:
        found = self._function(origin)
        tree = self._module(found[0]) if found else None
        if found is None or tree is None or depth > _DEPTH:
            return False
        path, function = found
        calls = [node.func for node in ast.walk(function) if isinstance(node, ast.Call)]
        called = {each.id for each in calls if isinstance(each, ast.Name)} - {function.name}
        return keeps_state(function, ModuleScope.of(tree)) or any(
            self._state(f"{dotted(path)}.{name}", depth + 1) for name in called
        )

    def _function(self, origin: str) -> tuple[str, ast.FunctionDef] | None:
        """The file and the definition of a function."""
        found = self._definition(origin, 0)
        if found is None or found.rest or not isinstance(found.node, ast.FunctionDef):
            return None
        return found.path, found.node

    def _found(self, origin: str, depth: int) -> Definition | None:
        """Where a dotted name is defined, through re-exports; None if that is not surely known."""
        place = self._file_of(origin)
        tree = self._module(place[0]) if place else None
        if place is None or tree is None or depth > _DEPTH:
            return None
        path, whole = place
        name, _, rest = whole.partition(".")
        scope = ModuleScope.of(tree)
        match scope.bindings(name):
            case [] if scope.star_imports and not scope.is_dynamic(name):
                found = [self._definition(f"{module}.{whole}", depth + 1) for module in self._starred(scope, path)]
                known = [each for each in found if each is not None and each.node is not None]
                return known[0] if len(known) == 1 and None not in found else None
            case []:
                return None if scope.is_dynamic(name) else Definition(path, name, None, rest)
            case [ast.ImportFrom() as node]:
                alias = next(each.name for each in node.names if (each.asname or each.name) == name)
                return self._definition(f"{absolute(node, path)}.{alias}{rest and f'.{rest}'}", depth + 1)
            case [node]:
                return Definition(path, name, node, rest)
            case _:
                return None

    def _starred(self, scope: ModuleScope, path: str) -> Iterator[str]:
        for node in scope.star_imports:
            yield absolute(node, path)

    def _file_of(self, origin: str) -> tuple[str, str] | None:
        """The one file of the longest module in a dotted name, and the rest of the name; None if several fit."""
        parts = origin.split(".")
        for length in range(len(parts) - 1, 0, -1):
            inside = "/".join(parts[:length])
            ends = (f"{inside}.py", f"{inside}/__init__.py")
            near = self._by_name.get(parts[length - 1], ())
            found = [path for path in near if any(path == end or path.endswith(f"/{end}") for end in ends)]
            if found:
                return (found[0], ".".join(parts[length:])) if len(found) == 1 else None
        return None

    def _parsed(self, path: str) -> ast.Module | None:
        content = self.read(path)
        source = SourceText.of_python(content) if content is not None else None
        return parsed(source.text) if source else None


def dotted(path: str) -> str:
    """The dotted name of a file, from the root."""
    return path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def absolute(node: ast.ImportFrom, path: str) -> str:
    """The module that a `from` import names."""
    if not node.level:
        return node.module or ""
    folders = path.split("/")[: -node.level]
    return ".".join([*folders, *([node.module] if node.module else [])])
