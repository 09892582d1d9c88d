"""Start of a program inside its confinement."""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from kotef.sandbox.bwrap import arguments, bubblewrap
from kotef.sandbox.confinement import Confinement
from kotef.sandbox.limits import SandboxLimits

Level = Literal["bwrap", "landlock", "off"]
Wanted = Literal["auto", "bwrap", "landlock", "strict", "off"]
"""A level to ask for: `auto` is the best available one, `strict` is bwrap with resource limits."""

LEVEL_MEANINGS: Final[dict[Level, str]] = {
    "bwrap": "namespaces by bubblewrap: everything outside is read-only or hidden; no network; no other processes",
    "landlock": "Landlock and seccomp: everything outside is read-only or hidden; no network; .env files can be read",
    "off": "none: commands can do whatever you can do",
}


_OF_THE_HOME: Final = frozenset({"XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME"})
"""Variables that name folders of the real home; without them programs look in the private one."""


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One level, and what it holds commands to."""

    level: Level
    confinement: Confinement | None = None
    """None when the level is `off`."""
    limits: SandboxLimits | None = None
    """Limits of `strict`; only set at the bwrap level."""

    @property
    def network(self) -> bool:
        """Whether commands have the network."""
        return self.confinement is None or self.confinement.network

    @property
    def name(self) -> str:
        """The level as people know it: `strict` is bwrap with limits."""
        return "strict" if self.limits else self.level

    def __str__(self) -> str:
        """`bwrap, no network`."""
        if self.confinement is None:
            return self.name
        return f"{self.name}, {'with' if self.network else 'no'} network"

    @property
    def temporary(self) -> Path | None:
        """Where a command may leave something for kotef; None for the temporary folder of the system."""
        return self.confinement.temporary if self.confinement else None

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command: caches and temporary files go where they can be written."""
        if self.confinement is None:
            return dict(env)
        kept = {name: value for name, value in env.items() if name not in _OF_THE_HOME}
        # bwrap shows it under the usual name: in a long one no socket fits, unix(7)
        short = {"TMPDIR": "/tmp"} if self.level == "bwrap" else {}  # noqa: S108  the sandbox's own
        return {**kept, **dict(self.confinement.environment), **short}

    def within(self, command: Sequence[str], *, cwd: Path) -> list[str]:
        """The words that run `command`: those of bubblewrap come first; the other levels need none."""
        if self.level != "bwrap" or self.confinement is None:
            return list(command)
        program = bubblewrap()
        assert program is not None  # noqa: S101  the level was chosen by a probe that ran it
        words = arguments(program, self.confinement, cwd=cwd)
        return self.limits.around(words, command) if self.limits else [*words, *command]

    def started(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """What `start` returns, called where the program it starts inherits the restrictions of the thread."""
        if self.level == "off" or self.confinement is None:
            return start()
        from kotef.sandbox.landlock import confined, filtered

        return confined(self.confinement, start) if self.level == "landlock" else filtered(start)


OFF: Final = Sandbox("off")
