"""Opening of a page in the user's browser, where there is one."""

import os
import sys
import webbrowser
from contextlib import suppress
from pathlib import Path


def opened(path: Path) -> bool:
    """Whether a browser was asked to show the file; never in CI, and never a browser inside the terminal.

    `BROWSER` names another one, as everywhere.
    """
    if not may_open():
        return False
    with suppress(webbrowser.Error, OSError):
        return webbrowser.open(path.absolute().as_uri())
    return False


def may_open() -> bool:
    """Whether a window can be opened here; without one Python would start a browser in this very terminal."""
    if os.environ.get("CI"):
        return False
    if os.environ.get("BROWSER") or sys.platform == "darwin":
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
