"""Opening of a page in the user's browser, where there is one."""

import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path

from kotef.cli.screen import console, plain
from kotef.errors import UsageError


def opened(path: Path) -> bool:
    """Open the file in a browser, but never in CI or in a terminal browser; returns whether it did.

    `BROWSER` names another one, as everywhere.
    """
    if not may_open():
        return False
    with suppress(webbrowser.Error, OSError):
        return webbrowser.open(path.absolute().as_uri())
    return False


def may_open() -> bool:
    """Whether a window can be opened here; otherwise Python would start a browser in this terminal."""
    if os.environ.get("CI"):
        return False
    if os.environ.get("BROWSER") or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def show_page(path: Path) -> None:
    """Open it in a browser; if there is none, say where it is."""
    result = "opened" if opened(path) else "no browser to open here; the report is"
    console().print(f"{result} {plain(str(path))}")


def must_be_plain(option: str, path: Path) -> None:
    """UsageError for a link, a pipe or a device: writing replaces the file, and `/dev/null` must stay."""
    if path.is_symlink() or (path.exists() and not path.is_file()):
        raise UsageError(f"{option} {path}: not a regular file, and it would be replaced", hint="name a plain file")
