"""Index of the project's definitions: their names, and whether they may be edited."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Final

from kotef.classification import LIBRARY_PATH
from kotef.fixers.complaints import Complaint
from kotef.fixers.source import PythonText
from kotef.integrity import is_protected
from kotef.source import Function, Scopes, bound_by

MAX_FILES: Final = 2000
"""Files of one project that are looked into, in the order of their paths."""

_INSTALLED: Final = re.compile(r"(?:^|/)(?:site-packages|dist-packages|node_modules|\.?v?env|\.tox|\.nox)/")


class Project:
    """The Python files of the workspace, each read and parsed at most once."""

    def __init__(
        self,
        root: Path,
        *,
        read: Callable[[str], bytes | None],
        paths: Collection[str],
        may_edit: Callable[[str], bool],
    ) -> None:
        self._root = root.as_posix().rstrip("/")
        self._read = read
        self._may_edit = may_edit
        python = (path for path in paths if path.endswith(".py") and not _INSTALLED.search(path))
        self.paths = tuple(sorted(python)[:MAX_FILES])
        self._sources: dict[str, PythonText | None] = {}
        self._scopes: dict[str, Scopes] = {}

    def source(self, path: str) -> PythonText | None:
        """None when it is not a file of the project, or cannot be edited safely."""
        if path not in self._sources:
            content = self._read(path) if path in self._known else None
            self._sources[path] = PythonText.of(path, content) if content is not None else None
        return self._sources[path]

    def scopes(self, source: PythonText) -> Scopes:
        """The scopes of a file."""
        if source.path not in self._scopes:
            self._scopes[source.path] = Scopes(source.nodes)
        return self._scopes[source.path]

    def editable(self, path: str) -> PythonText | None:
        """The file if it may be changed: never a test, whatever the run permits."""
        return self.source(path) if not is_protected(path) and self._may_edit(path) else None

    def raised(self, complaint: Complaint) -> tuple[PythonText, int] | None:
        """The file and line that raised, if it may be edited."""
        source = self.editable(complaint.where.path) if complaint.where else None
        return (source, complaint.where.line) if source and complaint.where else None

    def with_word(self, word: str) -> Iterator[PythonText]:
        """The files that contain an identifier."""
        for path in self.paths:
            source = self.source(path)
            if source is not None and source.contains(word):
                yield source

    def in_tests(self, word: str) -> bool:
        """Whether a file that may not be edited uses an identifier."""
        return any(self.editable(source.path) is None for source in self.with_word(word))

    def locate(self, path: str) -> str | None:
        """The project's file that an output means; None if there is none, or more than one it could be."""
        path = path.replace("\\", "/")
        inside = path.removeprefix(f"{self._root}/")
        if path.startswith("/") and inside == path:
            if LIBRARY_PATH.search(path):
                return None
            _, found, tail = path.rpartition(f"/{PurePosixPath(self._root).name}/")
            inside = tail if found else path
        inside = inside.removeprefix("./")
        if inside in self._known:
            return inside
        if inside.startswith(("/", "<", "../")):
            return None
        below = [known for known in self.paths if known.endswith(f"/{inside}")]
        return below[0] if len(below) == 1 else None

    # modules

    @cached_property
    def modules(self) -> dict[str, str]:
        """Dotted name → path, for every name a module may be imported by and that only one file has."""
        named = [(name, path) for path in self.paths for name in set(self._names_of(path))]
        counts = Counter(name for name, _ in named)
        return {name: path for name, path in named if counts[name] == 1}

    def module_name(self, path: str) -> str | None:
        """The name to import a file by: the one the project uses most, else from its topmost package."""
        names = [name for name in self._names_of(path) if self.modules.get(name) == path]
        return max(names, key=lambda name: (self._imported[name], -names.index(name)), default=None)

    def package_of(self, path: str) -> str:
        """The directory of a file if it is a package; else empty."""
        directory = path.rpartition("/")[0]
        return directory if f"{directory}/__init__.py" in self._known else ""

    def children(self, path: str) -> set[str]:
        """Names of the modules in the package whose `__init__.py` this is."""
        directory = path.removesuffix("__init__.py")
        if directory == path:
            return set()
        inner = {other.removeprefix(directory).removesuffix("/__init__.py").removesuffix(".py")
                 for other in self.paths if other.startswith(directory)}  # fmt: skip
        return {name for name in inner if name and "/" not in name and name != "__init__"}

    def exports(self, path: str) -> dict[str, int]:
        """Names a module binds at its top level, with their lines."""
        source = self.source(path)
        if source is None or source.tree is None:
            return {}
        return self.scopes(source).bindings.get(source.tree, {})

    def definitions(self, name: str) -> list[str]:
        """Paths of the modules that define `name` at their top level by `def`, `class` or assignment; no tests."""
        return [
            source.path
            for source in self.with_word(name)
            if not is_protected(source.path)
            and any(
                name in bound_by(node) and not isinstance(node, ast.Import | ast.ImportFrom)
                for node in source.nodes
                if self.scopes(source).scope_of(node) is source.tree
            )
        ]

    def target(self, source: PythonText, statement: ast.ImportFrom) -> str | None:
        """The project's file that `from … import` names."""
        if not statement.level:
            return self.modules.get(statement.module or "")
        package = PurePosixPath(source.path).parent
        for _ in range(statement.level - 1):
            package = package.parent
        base = package.joinpath(*(statement.module or "").split(".")).as_posix().removeprefix("./")
        options = (f"{base}.py", f"{base}/__init__.py", "__init__.py" if base == "." else "")
        return next((path for path in options if path in self._known), None)

    # classes

    def classes(self, name: str) -> list[tuple[PythonText, ast.ClassDef]]:
        """Every class of that name, tests included: they have helpers of their own."""
        return [
            (source, node)
            for source in self.with_word(name)
            for node in source.nodes
            if isinstance(node, ast.ClassDef) and node.name == name
        ]

    def attributes(self, name: str, depth: int = 5) -> set[str]:
        """What instances of a class have, as far as the project's files show; empty unless one class has the name."""
        found = self.classes(name)
        if len(found) != 1 or not depth:
            return set()
        _, node = found[0]
        own = {bound for child in _body(node) for bound in bound_by(child)} | stored_attributes(node)
        bases = {base.id for base in node.bases if isinstance(base, ast.Name) and base.id != name}
        return own.union(*(self.attributes(base, depth - 1) for base in bases))

    # helpers

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.paths)

    @cached_property
    def _imported(self) -> Counter[str]:
        """How often each dotted name is imported, over all files that compile."""
        counts: Counter[str] = Counter()
        for path in self.paths:
            source = self.source(path)
            for node in source.nodes if source else ():
                if isinstance(node, ast.Import):
                    counts.update(alias.name for alias in node.names)
                elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                    counts[node.module] += 1
        return counts

    def _names_of(self, path: str) -> list[str]:
        """From the topmost package, from the workspace root, and from `src`; best first."""
        parts = path.removesuffix(".py").removesuffix("/__init__").split("/")
        top = len(parts) - 1
        while top and f"{'/'.join(parts[:top])}/__init__.py" in self._known:
            top -= 1
        names = [".".join(parts[top:]), ".".join(parts), ".".join(parts[1:]) if parts[0] in {"src", "lib"} else ""]
        return [name for name in dict.fromkeys(names) if name and all(map(str.isidentifier, name.split(".")))]


def _body(node: ast.ClassDef) -> Iterator[ast.AST]:
    """What is in a class but not within its methods."""
    todo: list[ast.AST] = list(node.body)
    while todo:
        child = todo.pop()
        yield child
        if not isinstance(child, Function | ast.ClassDef | ast.Lambda):
            todo += ast.iter_child_nodes(child)


def stored_attributes(node: ast.ClassDef) -> set[str]:
    """What the methods of a class assign on their first parameter."""
    return {
        child.attr
        for method in node.body
        if isinstance(method, Function) and (me := first_parameter(method))
        for child in ast.walk(method)
        if isinstance(child, ast.Attribute)
        and isinstance(child.ctx, ast.Store)
        and isinstance(child.value, ast.Name)
        and child.value.id == me
    }


def first_parameter(method: Function) -> str | None:
    """The name a method has for its instance or class; None when it takes no positional parameter."""
    parameters = [*method.args.posonlyargs, *method.args.args]
    return parameters[0].arg if parameters else None


def decorators(method: Function | ast.ClassDef) -> set[str]:
    """Last names of the decorators: `staticmethod`, `setter`."""
    called = (node.func if isinstance(node, ast.Call) else node for node in method.decorator_list)
    return {node.attr if isinstance(node, ast.Attribute) else node.id for node in called
            if isinstance(node, ast.Attribute | ast.Name)}  # fmt: skip
