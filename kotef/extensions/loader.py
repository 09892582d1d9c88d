"""Import of extensions: from outside of the workspace only, and with an error in one line."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from threading import get_ident
from types import ModuleType
from typing import Any, Final

from kotef.errors import ExtensionError
from kotef.extensions.discovery import InstalledExtension

_LONGEST: Final = 300
"""Characters of an error that are shown."""


def load(extension: InstalledExtension, root: Path) -> Any:
    """The object of an extension; a class is called without arguments.

    Raises ExtensionError, whatever goes wrong in the code of the extension.
    """
    from kotef.extensions.seam import SEAM

    module, _, name = extension.record.entry_point.partition(":")
    try:
        with modules_outside(root):
            found: Any = _imported(module.strip(), root)
            for part in name.split("[")[0].strip().split("."):
                found = getattr(found, part)
            if isinstance(found, type):
                found = found()
            written_for = getattr(found, "seam", None)
    except KeyboardInterrupt:
        raise
    except BaseException as error:
        raise failed(extension, "cannot be loaded", error) from error
    if not isinstance(written_for, int) or written_for != SEAM:
        problem = f"is for version {written_for} of the seam" if written_for is not None else f"has no `seam = {SEAM}`"
        raise unusable(extension, f"{problem}, and this kotef has version {SEAM}")
    return found


def failed(extension: InstalledExtension, what: str, error: BaseException) -> ExtensionError:
    """The error in one line."""
    text = " ".join(f"{type(error).__name__}: {error}".split()).rstrip(": ")
    return unusable(extension, f"{what}: {text[:_LONGEST]}")


def unusable(extension: InstalledExtension, problem: str) -> ExtensionError:
    """The error with the culprit and the way out."""
    return ExtensionError(extension.title, problem, name=extension.record.name)


def _imported(name: str, root: Path) -> ModuleType:
    """The module, its packages first; ImportError for one that lies in the workspace, before any of it is executed."""
    above = name.rpartition(".")[0]
    if above:
        _imported(above, root)
    known = sys.modules.get(name)
    if known is not None and _is_inside(_places_of_module(known), root):
        raise ImportError(_lies_inside(name))
    return import_module(name)


@contextmanager
def modules_outside(root: Path) -> Iterator[None]:
    """This thread imports nothing that lies in the workspace in this block, whatever the search path says."""
    finder = _OutsideFinder(root)
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _OutsideFinder(MetaPathFinder):
    """Asks the other finders for what is not in the workspace."""

    def __init__(self, root: Path) -> None:
        self.root, self.thread = root, get_ident()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of another finder. Raises ImportError where that is a file in the workspace."""
        if get_ident() != self.thread or fullname.partition(".")[0] == "kotef":  # kotef itself runs already
            return None
        for finder in sys.meta_path:
            spec = self._asked(finder, fullname, path, target)
            if spec is not None and _is_inside(_places(spec), self.root):
                raise ImportError(_lies_inside(fullname))
            if spec is not None:
                return spec
        if PathFinder.find_spec(fullname, path, target) is not None:  # the next finder would take it
            raise ImportError(_lies_inside(fullname))
        return None

    def _asked(
        self, finder: Any, fullname: str, path: Sequence[str] | None, target: ModuleType | None
    ) -> ModuleSpec | None:
        """What one finder has; the search path without the workspace, whose files could hide others of that name."""
        if finder is PathFinder and path is None:
            outside = [entry for entry in sys.path if not _is_inside([entry], self.root)]
            return PathFinder.find_spec(fullname, outside, target)
        find = getattr(finder, "find_spec", None)
        spec: ModuleSpec | None = find(fullname, path, target) if find and finder is not self else None
        return spec


def _lies_inside(module: str) -> str:
    return f"the module {module} is in the workspace, from which nothing is loaded"


def _places(spec: ModuleSpec) -> list[str]:
    """Files and folders that a module is read from."""
    origin = [spec.origin] if spec.origin and spec.has_location else []
    return [*origin, *(spec.submodule_search_locations or ())]


def _places_of_module(module: ModuleType) -> list[str]:
    file = getattr(module, "__file__", None)
    return [*([file] if file else []), *getattr(module, "__path__", ())]


def _is_inside(places: Sequence[str], root: Path) -> bool:
    top = root.resolve()
    return any(Path(place).resolve().is_relative_to(top) for place in places)
