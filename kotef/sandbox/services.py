"""Local sockets through which a command could ask a service outside the sandbox to act for it."""

import os
import stat
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

PLACES: Final = (Path("/run"), Path("/var/run"))
_DEPTH: Final = 3
_MOUNTS: Final = Path("/proc/self/mountinfo")
_BOUND: Final = Path("/proc/net/unix")


@cache
def reachable_services(places: tuple[Path, ...] = PLACES) -> tuple[Path, ...]:
    """Sockets this user may connect to: those of services by custom, those mounted into a container, and bound ones.

    Such as `/run/docker.sock`, behind which root of the whole machine sits. Landlock knows no rule for them.
    """
    found = {os.path.realpath(path) for path in (*_below(places), *_mounted(), *_bound()) if _is_open(path)}
    return tuple(Path(path) for path in sorted(found))


def _below(places: Iterable[Path], depth: int = _DEPTH) -> Iterator[Path]:
    for place in places:
        try:
            entries = list(os.scandir(place))
        except OSError:  # not there, or not for us to look into
            continue
        yield from (Path(entry.path) for entry in entries)
        if depth:
            yield from _below((Path(entry.path) for entry in entries if entry.is_dir(follow_symlinks=False)), depth - 1)


def _mounted() -> Iterator[Path]:
    """Mount points, the fifth field of a line of proc_pid_mountinfo(5)."""
    if _MOUNTS.exists():
        for line in _MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
            yield Path(line.split()[4])


def _bound() -> Iterator[Path]:
    """Names in the file system that processes of this machine listen at, last in a line of that table."""
    if _BOUND.exists():
        for line in _BOUND.read_text(encoding="utf-8", errors="replace").splitlines():
            _, slash, name = line.partition(" /")
            if slash:
                yield Path(f"/{name}")


def _is_open(path: Path) -> bool:
    try:
        return stat.S_ISSOCK(path.stat().st_mode) and os.access(path, os.W_OK)
    except OSError:
        return False
