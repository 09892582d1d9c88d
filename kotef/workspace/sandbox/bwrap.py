"""Which bubblewrap command line carries a confinement out?"""

import os
import shutil
from functools import cache
from pathlib import Path

from kotef.workspace.sandbox.confinement import Confinement


@cache
def bubblewrap() -> str | None:
    """The program, where it is installed."""
    return shutil.which("bwrap")


def arguments(program: str, confinement: Confinement, *, cwd: Path) -> list[str]:
    """Everything that comes before the command itself, see bwrap(1).

    Later mounts lie over earlier ones, so they come from the outermost folder to the innermost. The
    temporary folder has two names: that of the system, and the one kotef knows it by. Capabilities are dropped by
    hand: for root bwrap keeps them, and with them every mount can be undone.
    """
    mounts: list[tuple[Path, int, list[str]]] = [
        *((folder, 0, ["--tmpfs", str(folder)]) for folder in confinement.hidden),
        (Path("/tmp"), 1, ["--bind", str(confinement.temporary), "/tmp"]),  # noqa: S108  the sandbox's own
        *((path, 2, ["--ro-bind", str(path), str(path)]) for path in confinement.readable),
        *((path, 3, ["--bind", str(path), str(path)]) for path in confinement.writable),
        *((path, 4, ["--ro-bind", str(path), str(path)]) for path in confinement.kept),
        *((path, 5, ["--ro-bind", str(confinement.empty), str(path)]) for path in confinement.masked),
    ]
    mounts.sort(key=lambda mount: (len(mount[0].parts), mount[1]))
    return [
        program,
        "--unshare-all",
        *(["--share-net"] if confinement.network else []),
        "--cap-drop",
        "ALL",
        "--die-with-parent",
        "--new-session",
        *("--ro-bind", "/", "/"),
        *("--dev", "/dev"),
        *("--proc", "/proc"),
        *(word for _, _, words in mounts for word in words),
        *("--chdir", os.path.realpath(cwd)),
        "--",
    ]
