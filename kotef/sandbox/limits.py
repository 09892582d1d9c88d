"""Resource limits of one command, and their enforcement."""

import os
import platform
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

_OWN_GROUP: Final = Path("/proc/self/cgroup")
_GROUPS: Final = Path("/sys/fs/cgroup")
_NEEDED: Final = {"memory", "pids"}
_PER_NAMESPACE: Final = (5, 14)
"""Since this Linux a limit on processes counts those of the sandbox, before it all of the user's."""


@dataclass(frozen=True, slots=True)
class SandboxLimits:
    """The limits that `--sandbox strict` adds.

    Where a control group is ours to divide it counts all of a run's commands together, else each process by itself.
    """

    processes: int = 4096
    """Processes and threads."""
    memory: int = 8 * 1024**3
    """Bytes."""
    file_size: int = 4 * 1024**3
    """Bytes of one file."""

    def around(self, sandbox: Sequence[str], command: Sequence[str]) -> list[str]:
        """The words that run `command` in the sandbox whose words come first, with these limits.

        A limit on processes is set inside, for outside it would count what else the user runs.
        """
        group = delegated(_GROUPS, _OWN_GROUP)
        joined = self._joined(group) if group else ""
        per_process = "" if joined else f"ulimit -d {self.memory // 1024} && "
        outer = f'{joined}{per_process}ulimit -c 0 && ulimit -f {self.file_size // 512} && exec "$@"'
        inner = (
            []
            if joined or not _counts_processes()
            else ["/bin/sh", "-c", f'ulimit -u {self.processes}; exec "$@"', "-"]
        )
        return ["/bin/sh", "-c", outer, "-", *sandbox, *inner, *command]

    def in_words(self) -> str:
        """The limits in words."""
        mib = 1024**2
        if delegated(_GROUPS, _OWN_GROUP):
            who = f"in total {self.processes} processes and {self.memory // mib} MiB of memory (control group)"
        elif _counts_processes():
            who = f"{self.processes} processes, {self.memory // mib} MiB of memory each"
        else:
            who = (
                f"{self.memory // mib} MiB of memory for each process; their number is not limited, because "
                "as root that needs a delegated control group"
            )
        return f"{who}; {self.file_size // mib} MiB for a file"

    def _joined(self, group: Path) -> str:
        """Shell text that joins a control group with these limits; empty if there can be none."""
        own = group / f"kotef-{os.getpid()}"
        try:
            own.mkdir(exist_ok=True)
            (own / "pids.max").write_text(str(self.processes))
            (own / "memory.max").write_text(str(self.memory))
        except OSError:
            return ""
        return f"echo $$ > '{own}/cgroup.procs' && "


@cache
def delegated(groups: Path, own: Path) -> Path | None:
    """Our control group, where we may divide it and it passes memory and processes on; see cgroups(7).

    Empty ones that earlier runs left in it are removed.
    """
    try:
        lines = own.read_text(encoding="utf-8").splitlines()
        group = next(groups / line.removeprefix("0::/") for line in lines if line.startswith("0::/"))
        passed_on = set((group / "cgroup.subtree_control").read_text(encoding="utf-8").split())
    except (OSError, StopIteration):
        return None
    if not (passed_on >= _NEEDED and os.access(group, os.W_OK)):
        return None
    for left in group.glob("kotef-*"):
        with suppress(OSError):  # one that is in use says so
            left.rmdir()
    return group


def _counts_processes() -> bool:
    """Whether the kernel holds this user to a number of processes; it never holds root to one."""
    version = tuple(int(part) for part in platform.release().split("-")[0].split(".")[:2])
    return os.geteuid() != 0 and version >= _PER_NAMESPACE
