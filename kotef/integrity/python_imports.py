"""Files of a workspace in which Python looks for a module."""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Final

IMPORT_ROOTS: Final = ("", "src", "lib", "python")
"""Directories that are import roots in most projects that have them."""


def module_files(name: str, path: str = "") -> Iterator[str]:
    """Paths at which the module of this name may stand, nearest first, if the file at `path` imports it.

    A relative name begins with its dots; an absolute one is looked for in the folders above the file, too.
    """
    rest = name.lstrip(".")
    dots = len(name) - len(rest)
    above = [folder.as_posix() for folder in PurePosixPath(path).parents]
    roots = [root or "." for root in IMPORT_ROOTS]
    for folder in above[dots - 1 : dots] if dots else dict.fromkeys([*above, *roots]):
        place = PurePosixPath(folder, *rest.split("."))
        if rest:
            yield f"{place}.py"
        yield (place / "__init__.py").as_posix()
