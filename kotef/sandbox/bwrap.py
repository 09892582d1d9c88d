"""The bubblewrap command line for a confinement."""

import os
import shutil
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path

from kotef.sandbox.confinement import Confinement


@cache
def bubblewrap() -> str | None:
    """The program, where it is installed."""
    return shutil.which("bwrap")


def arguments(program: str, confinement: Confinement, *, cwd: Path) -> list[str]:
    """Everything that comes before the command itself, see bwrap(1).

    What has gone since the confinement was made is left out: one place too many, and nothing starts.

    Later mounts lie over earlier ones, so they come from the outermost folder to the innermost. The
    temporary folder has two names: that of the system, and the one kotef knows it by. Capabilities are dropped by
    hand: for root bwrap keeps them, and with them every mount can be undone. `/proc` is read-only for the same reason:
    the files in `/proc/sys` belong to root, who needs no capability to write its own, and one of them names a program
    that the kernel runs outside.
    """
    empty = str(confinement.empty)
    masked = (*(path for path in confinement.masked if path.exists()), *confinement.masks.current())
    mounts = [
        *((folder, 0, ["--tmpfs", str(folder)]) for folder in confinement.hidden if folder.exists()),
        (Path("/tmp"), 1, ["--bind", str(confinement.temporary), "/tmp"]),  # noqa: S108  the sandbox's own
        *((path, 2, ["--ro-bind", str(path), str(path)]) for path in confinement.readable if path.exists()),
        *((path, 3, ["--bind", str(path), str(path)]) for path in confinement.writable),
        *((path, 4, ["--ro-bind", str(path), str(path)]) for path in confinement.kept if _is_itself(path)),
        *(
            (path, 4, ["--ro-bind", str(path), str(path)])
            for path in confinement.environments.current()
            if _is_itself(path)
        ),
        *((path, 4, ["--bind", str(confinement.own(path)), str(path)]) for path in confinement.environments.caches()),
        *((path, 5, ["--ro-bind", empty, str(path)]) for path in masked),
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
        *("--proc", "/proc", "--remount-ro", "/proc"),
        *(word for words in _needed(mounts) for word in words),
        *("--chdir", os.path.realpath(cwd)),
        "--",
    ]


def _needed(mounts: Sequence[tuple[Path, int, list[str]]]) -> Iterator[list[str]]:
    """Those that change anything: what is as readable, or as empty, as the folder around it needs none of its own."""
    kinds: dict[Path, str] = {Path("/"): "--ro-bind"}
    for path, _, words in mounts:
        around = next(kinds[above] for above in path.parents if above in kinds)
        kind = words[0]
        if kind == around and kind in {"--tmpfs", "--ro-bind"} and words[1] == str(path):
            continue
        kinds[path] = kind
        yield words


def _is_itself(path: Path) -> bool:
    """Whether it is there and no link: one that a command made could lead anywhere."""
    return path.exists() and os.path.realpath(path) == str(path)
