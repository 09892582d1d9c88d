"""Plug-ins for test runners, and copies of them where commands may read them.

The sandbox may hide kotef's installation, and a project's interpreter must not find other modules beside them.
"""

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent


def copy_of(folder: Path, *names: str, to: str = "") -> Path:
    """A folder below `folder` with these plug-ins in it: `to`, else named after the first."""
    target = folder / (to or names[0].partition(".")[0])
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        (target / name).write_bytes((_HERE / name).read_bytes())
    return target


def first_on(path: str, folder: Path) -> str:
    """A search path such as PYTHONPATH, with the folder in front."""
    return f"{folder}:{path}" if path else str(folder)


def settings_file(path: Path, text: str) -> None:
    """Settings of a tool that name a plug-in, beside it."""
    path.write_text(text, encoding="utf-8")
