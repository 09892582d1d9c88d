"""How is a program started so that it can only do what its confinement allows?"""

import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from kotef.workspace.sandbox.bwrap import arguments, bubblewrap
from kotef.workspace.sandbox.confinement import Confinement

Level = Literal["bwrap", "landlock", "off"]
Wanted = Literal["auto", "bwrap", "landlock", "strict", "off"]
"""What a person may ask for: `auto` is the best level there is, `strict` is bwrap with limits on resources."""

MEANING: Final[dict[Level, str]] = {
    "bwrap": "namespaces by bubblewrap: what is outside is read-only or hidden; no network; no other processes",
    "landlock": "Landlock and seccomp: what is outside is read-only or hidden; no network; .env files can be read",
    "off": "none: commands may do what you may do",
}


@dataclass(frozen=True, slots=True)
class Sandbox:
    """One level, and what it holds commands to."""

    level: Level
    confinement: Confinement | None = None
    """None when the level is `off`."""

    @property
    def temporary(self) -> Path | None:
        """Where a command may leave something for kotef; None for the temporary folder of the system."""
        return self.confinement.temporary if self.confinement else None

    def environment(self, env: Mapping[str, str]) -> dict[str, str]:
        """The environment of a command: caches and temporary files go where they can be written."""
        if self.confinement is None:
            return dict(env)
        kept = {name: value for name, value in env.items() if name != "XDG_RUNTIME_DIR"}
        return {**kept, **dict(self.confinement.environment)}

    def within(self, command: Sequence[str], *, cwd: Path) -> list[str]:
        """The words that run `command`: those of bubblewrap come first; the other levels need none."""
        if self.level != "bwrap" or self.confinement is None:
            return list(command)
        program = bubblewrap()
        assert program is not None  # noqa: S101  the level was chosen by a probe that ran it
        return [*arguments(program, self.confinement, cwd=cwd), *command]

    def started(self, start: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """What `start` returns, called where the program it starts inherits the restrictions of the thread."""
        if self.level != "landlock" or self.confinement is None:
            return start()
        from kotef.workspace.sandbox.landlock import confined

        return confined(self.confinement, start)


OFF: Final = Sandbox("off")
