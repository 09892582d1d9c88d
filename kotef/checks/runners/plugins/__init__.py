"""Plug-ins that are loaded into test runners, and copies of them where commands may read them.

kotef's own installation may be hidden by the sandbox, and a project's interpreter must find nothing beside them.
"""

from pathlib import Path
from typing import Final

_HERE: Final = Path(__file__).parent


def copy_of(folder: Path, *names: str) -> Path:
    """A new folder below `folder` with these plug-ins in it, named after the first."""
    target = folder / names[0].partition(".")[0]
    target.mkdir(exist_ok=True)
    for name in names:
        (target / name).write_bytes((_HERE / name).read_bytes())
    return target
