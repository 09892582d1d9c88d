"""Exports of a package, each imported when someone asks for it, so that a door costs nothing until it is used."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def lazy_exports(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of a package; `modules` names what each of its modules exports, separated by blanks.

    Type checkers read the imports below `TYPE_CHECKING` instead; `tests/test_doors.py` compares the two. Nothing is
    kept in the package, so that a test which replaces a name in its module replaces it for the next import too.
    """
    homes = {name: module for module, names in modules.items() for name in names.split()}

    def attribute(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(import_module(f"{package}.{homes[name]}"), name)

    return attribute
