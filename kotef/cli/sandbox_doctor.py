"""What does each level of sandbox keep a command from on this machine?"""

import os
from typing import Final

from kotef.cli.place import workspace_of
from kotef.cli.screen import console, plain
from kotef.errors import SandboxError
from kotef.workspace.environment import child_environment
from kotef.workspace.paths import state_dir
from kotef.workspace.sandbox.confinement import confine
from kotef.workspace.sandbox.probe import LEVELS, Probed, choose, probe
from kotef.workspace.sandbox.sandbox import MEANING
from kotef.workspace.sandbox.services import reachable_services

BROKEN: Final = 5
_DEEDS: Final = {
    "write": "write a file of the workspace",
    "listen": "listen on loopback, and connect to itself",
    "escape": "write a file outside of the workspace",
    "connect": "connect to a port of this machine",
    "peek": "read the environment of kotef",
    "stop": "send a signal to kotef",
}
_WANTED: Final = ("write", "listen")


def sandbox_command(root: str | None) -> int:
    """`kotef doctor --sandbox`: a table of what was tried in each level; 0, or 5 when none holds."""
    screen, place, env = console(), workspace_of(root), child_environment(os.environ)
    confinement = confine(place, state_dir(place) / "sandbox", env)
    tried = [probe(level, confinement, env) for level in LEVELS]
    for probed in tried:
        screen.print(f"{probed.level}: {MEANING[probed.level]}", style="bold")
        state, style = ("holds", "green") if probed.holds else (f"not to be had: {plain(probed.why_not)}", "red")
        screen.print(f"  {state}", style=style)
        for name, deed in _DEEDS.items():
            if probed.deeds:
                screen.print(f"  {deed:<44}{plain(_answer(name, probed))}")
        if probed.level == "landlock" and probed.deeds and (services := reachable_services()):
            shown = ", ".join(str(path) for path in services[:3])
            screen.print(f"  {'connect to a local socket':<44}refused, all of them ({plain(shown)} could be reached)")
    screen.print(f"off: {MEANING['off']}", style="bold")
    try:
        chosen, said = choose("auto", confinement, env, ci=bool(os.environ.get("CI")))
    except SandboxError as error:
        screen.print(plain(str(error)), style="red")
        return BROKEN
    screen.print(f"--sandbox auto takes {chosen.level} here" + (f": {plain(said)}" if said else ""))
    return 0 if any(probed.holds for probed in tried) else BROKEN


def _answer(name: str, probed: Probed) -> str:
    refusal = probed.deeds[name]
    if name in _WANTED:
        return f"no ({refusal.lower()})" if refusal else "yes"
    return f"refused ({refusal.lower()})" if refusal else "POSSIBLE"
