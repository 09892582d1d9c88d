"""Replacement of source code in modules that are already imported."""

from __future__ import annotations
import __future__

import functools
import gc
import os
import sys
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any, Dict, Iterator, List, Tuple

_CACHE = type(functools.lru_cache(lambda: None))
_FLAGS = sum({getattr(__future__, name).compiler_flag for name in __future__.all_feature_names})

Unit = Dict[str, Any]
"""`path`, and one of: `module`, the whole new source; `assign`, a statement at the top of the module that gives `names`
new values; `source`, with `trail` (names down to the function), `line` (first line of the old function, decorators
included) and `defaults` (whether the signature changed too)."""


class NotSwappableError(Exception):
    """This edit cannot be tried in memory."""


class Swapper:
    """Knows every function object of the project's files, and puts new code into them."""

    def __init__(self, root: str) -> None:
        self._root = os.path.realpath(root) + os.sep
        self._relative: dict[str, str] = {}
        self._functions: dict[tuple[str, str, int], list[FunctionType]] = {}
        self._spaces: list[dict[str, Any]] | None = None
        self._imported: dict[str, ModuleType] | None = None
        for value in gc.get_objects():
            if type(value) is FunctionType:
                code = value.__code__
                key = (self.relative(code.co_filename), code.co_name, code.co_firstlineno)
                self._functions.setdefault(key, []).append(value)

    def relative(self, file: str) -> str:
        """Workspace-relative path of a code object's file, empty for one outside."""
        known = self._relative.get(file)
        if known is None:
            real = os.path.realpath(file)
            known = real[len(self._root) :] if real.startswith(self._root) else ""
            self._relative[file] = known
        return known

    def modules(self) -> dict[str, ModuleType]:
        """Imported modules by path; the first that was imported from it."""
        found: dict[str, ModuleType] = {}
        for module in list(sys.modules.values()):
            file = getattr(module, "__file__", None)
            if isinstance(module, ModuleType) and isinstance(file, str) and file.endswith(".py"):
                path = self.relative(file)
                if path:
                    found.setdefault(path, module)
        return found

    def elsewhere(self) -> list[str]:
        """Files of imported modules that are in an environment, not in the workspace or the standard library."""
        files = {str(getattr(module, "__file__", None) or "") for module in list(sys.modules.values())}
        return sorted(file for file in files if file.endswith(".py") and "site-packages" in file.split(os.sep))

    def apply(self, unit: Unit) -> None:
        """Raises SyntaxError, or NotSwappableError."""
        if "module" in unit:
            self._replace_module(unit["path"], unit["module"])
        elif "assign" in unit:
            self._assign(unit)
        else:
            self._replace_function(unit)

    @contextmanager
    def applied(self, units: list[Unit]) -> Iterator[None]:
        """For the time of the block; edits of whole modules cannot be taken back and raise NotSwappableError."""
        saved = []
        spaces: list[tuple[dict[str, Any], str, Any]] = []
        for unit in units:
            if "module" in unit:
                raise NotSwappableError("a module is tried in a process of its own")
            if "trail" in unit:
                saved += [
                    (function, function.__code__, function.__defaults__, function.__kwdefaults__)
                    for function in self._functions.get((unit["path"], unit["trail"][-1], unit["line"]), [])
                ]
        try:
            for unit in units:
                if "assign" in unit:
                    spaces += self._assign(unit)
                else:
                    self.apply(unit)
            yield
        finally:
            for function, code, defaults, keyword_defaults in saved:
                function.__code__, function.__defaults__ = code, defaults
                function.__kwdefaults__ = keyword_defaults
            for space, name, value in reversed(spaces):
                space[name] = value

    def _assign(self, unit: Unit) -> list[tuple[dict[str, Any], str, Any]]:
        """Give names of a module new values, there and where they were imported by name; returns the old ones."""
        module = next(iter(self.modules_of([unit["path"]])), None)
        if module is None:
            raise NotSwappableError("the module is not imported")
        space = vars(module)
        fresh = {name: value for name, value in space.items() if name not in unit["names"]}
        try:
            exec(compile(unit["assign"], str(module.__file__), "exec", dont_inherit=True), fresh)
        except Exception as error:
            raise NotSwappableError(f"the statement raises {type(error).__name__}") from error
        replaced: list[tuple[dict[str, Any], str, Any]] = []
        for name in [name for name in unit["names"] if name in space and name in fresh]:
            old = space[name]
            for holder in self._holders(module):
                if holder.get(name, fresh) is old:
                    replaced.append((holder, name, old))
                    holder[name] = fresh[name]
        return replaced

    def _holders(self, module: ModuleType) -> list[dict[str, Any]]:
        """Namespaces of the project's modules, the tests' among them."""
        if self._spaces is None:
            self._spaces = [vars(other) for other in self.modules().values()]
        return self._spaces if any(space is vars(module) for space in self._spaces) else [vars(module), *self._spaces]

    def traces(self, paths: list[str]) -> dict[tuple[str, ...], Any]:
        """What changes when the modules' own state changes: their names' values, and the sizes of containers."""
        found: dict[tuple[str, ...], Any] = {}
        for module in self.modules_of(paths):
            for name, value in list(vars(module).items()):
                found[module.__name__, name] = (id(value), _size(value))
                if _is_class(value) and value.__module__ == module.__name__:
                    for inner, own in list(vars(value).items()):
                        found[module.__name__, name, inner] = (id(own), _size(own))
                elif type(value) is FunctionType and value.__defaults__:
                    found[module.__name__, name, "()"] = [_size(default) for default in value.__defaults__]
        return found

    def modules_of(self, paths: list[str]) -> list[ModuleType]:
        """The imported ones among them."""
        if self._imported is None:
            self._imported = self.modules()
        return [self._imported[path] for path in paths if path in self._imported]

    def function(self, path: str, name: str, line: int) -> FunctionType | None:
        """The function whose definition starts there, None if it was never made."""
        found = self._functions.get((path, name, line))
        return found[0] if found else None

    def _replace_function(self, unit: Unit) -> None:
        trail: list[str] = unit["trail"]
        found = self._functions.get((unit["path"], trail[-1], unit["line"]))
        if not found:
            raise NotSwappableError("the function was never made")
        old = found[0].__code__
        compiled = compile(unit["source"], old.co_filename, "exec", old.co_flags & _FLAGS, dont_inherit=True)
        new = _dig(compiled, trail)
        if new.co_freevars != old.co_freevars:
            raise NotSwappableError("its free variables changed")
        made = _made(compiled, trail, found[0]) if unit["defaults"] else None
        for function in found:
            function.__code__ = new
            if made is not None:
                function.__defaults__, function.__kwdefaults__ = made.__defaults__, made.__kwdefaults__

    def _replace_module(self, path: str, source: str) -> None:
        module = self.modules().get(path)
        if module is None:
            raise NotSwappableError("the module is not imported")
        fresh: dict[str, Any] = {
            name: value for name, value in vars(module).items() if name.startswith("__") and name.endswith("__")
        }
        exec(compile(source, str(module.__file__), "exec", dont_inherit=True), fresh)
        _graft(module, fresh)


def _is_class(value: Any) -> bool:
    return issubclass(type(value), type)


def _size(value: Any) -> Any:
    """Size of a container or a cache; checks only types, because the project's objects may do anything when used."""
    kind = type(value)
    if issubclass(kind, (list, dict, set)):
        return kind.__len__(value)
    return value.cache_info() if issubclass(kind, _CACHE) else None


def _dig(code: CodeType, trail: list[str]) -> CodeType:
    for name in trail:
        inner = [value for value in code.co_consts if isinstance(value, CodeType) and value.co_name == name]
        if not inner:
            inner = _through_type_parameters(code, name)
        if not inner:
            raise NotSwappableError(f"{name} is gone")
        code = inner[0]
    return code


def _through_type_parameters(code: CodeType, name: str) -> list[CodeType]:
    """`def f[T](…)` is made inside a code object of its own."""
    wrappers = [value for value in code.co_consts if isinstance(value, CodeType) and value.co_name.startswith("<gen")]
    return [
        value
        for wrapper in wrappers
        for value in wrapper.co_consts
        if isinstance(value, CodeType) and value.co_name == name
    ]


def _made(compiled: CodeType, trail: list[str], old: FunctionType) -> FunctionType:
    namespace: dict[str, Any] = dict(old.__globals__)
    exec(compiled, namespace)
    value: Any = namespace[trail[0]]
    for name in trail[1:]:
        value = vars(value)[name]
    value = getattr(value, "__func__", value)
    if not isinstance(value, FunctionType):
        raise NotSwappableError("its defaults are not available")
    return value


def _graft(module: ModuleType, fresh: dict[str, Any]) -> None:
    """Give the old module the new values; functions and classes keep their identity, for others hold them."""
    replaced: list[tuple[Any, Any]] = []
    space = vars(module)
    for name in [name for name in space if name not in fresh]:
        del space[name]
    for name, new in fresh.items():
        old = space.get(name)
        if not _merged(old, new):
            space[name] = new
            if old is not None and old is not new and not isinstance(old, (int, str, bytes, float, ModuleType)):
                replaced.append((old, new))
            elif isinstance(old, (int, str, bytes, float)) and old != new:
                _rebind_value(name, old, new)
    _rebind(replaced)


def _merged(old: Any, new: Any) -> bool:
    """Whether the new value could be put into the old object."""
    if old is new:
        return True
    if type(old) is FunctionType and type(new) is FunctionType:
        if old.__code__.co_freevars != new.__code__.co_freevars or old.__closure__:
            return False
        old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
        return True
    if isinstance(old, type) and isinstance(new, type) and old.__module__ == new.__module__:
        return _merge_class(old, new)
    if isinstance(old, (list, dict, set)) and type(old) is type(new):
        fresh: Any = new
        old.clear()
        if isinstance(old, list):
            old.extend(fresh)
        else:
            old.update(fresh)
        return True
    return False


def _merge_class(old: type, new: type) -> bool:
    for name, value in list(vars(new).items()):
        if name in {"__dict__", "__weakref__", "__doc__", "__slots__"}:
            continue
        before = vars(old).get(name)
        inner = (staticmethod, classmethod)
        if isinstance(before, inner) and isinstance(value, inner) and _merged(before.__func__, value.__func__):
            continue
        if _merged(before, value):
            continue
        try:
            setattr(old, name, value)
        except (AttributeError, TypeError):  # a descriptor of slots, or a class that cannot be changed
            return False
    return True


def _project_spaces() -> List[Dict[str, Any]]:
    return [vars(module) for module in list(sys.modules.values()) if isinstance(module, ModuleType)]


def _rebind(replaced: List[Tuple[Any, Any]]) -> None:
    """Whoever imported an object by name gets its successor."""
    by_id = {id(old): new for old, new in replaced}
    if by_id:
        for space in _project_spaces():
            for name, value in list(space.items()):
                if id(value) in by_id:
                    space[name] = by_id[id(value)]


def _rebind_value(name: str, old: Any, new: Any) -> None:
    """A plain value that was imported by name is known by its name and value only."""
    for space in _project_spaces():
        if name in space and space[name] is old:
            space[name] = new
