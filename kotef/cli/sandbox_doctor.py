"""Table of what each sandbox level denies to commands on this machine."""

import os
import pwd
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from rich.console import Console

from kotef.cli.room_table import Shared, rows_of, table_of
from kotef.cli.screen import console, plain, say_json
from kotef.errors import SandboxError
from kotef.files import state_dir
from kotef.runs.sandbox_setup import tracked
from kotef.sandbox import (
    LEVEL_MEANINGS,
    SANDBOX_LEVELS,
    Confinement,
    Level,
    Probed,
    SandboxLimits,
    child_environment,
    choose_level,
    confine,
    probe_level,
    reachable_services,
)

BROKEN: Final = 5
_DEEDS: Final = {
    "write": "write a file of the workspace",
    "listen": "listen on loopback, and connect to itself",
    "escape": "write a file outside the workspace",
    "change": "change the mode of a file outside of it",
    "connect": "connect to a port of this machine",
    "join": "connect to an abstract socket of it",
    "join with network": "the same with --network",
    "peek": "read the environment of kotef",
    "stop": "send a signal to kotef",
    "tune": "change a kernel setting",
}
_WANTED: Final = ("write", "listen")
_STRICT: Final = "like bwrap, with resource limits; never a lower level"


def report_levels(place: Path, *, as_json: bool) -> int:
    """`kotef doctor --sandbox`: print what each level denied; returns 0, or 5 if no level works."""
    env = child_environment(os.environ)
    confinement = confine(place, state_dir(place) / "sandbox", env)
    tried = [_tried(level, confinement, env) for level in SANDBOX_LEVELS]
    auto: str
    level: Level = "off"
    try:
        chosen, reasons = choose_level("auto", confinement, env, ci=bool(os.environ.get("CI")))
        auto = level = chosen.level
    except SandboxError as error:
        auto, reasons = "", str(error)
    rooms = rows_of(level, confinement.root, tracked(confinement.root))
    if as_json:
        say_json(_facts(confinement, tried, auto, reasons) | {"rooms": [row._asdict() for row in rooms]})
    else:
        screen = console()
        _tell(screen, confinement, tried, auto, reasons)
        screen.print(table_of([Shared(*map(plain, row)) for row in rooms], level))
    return 0 if any(probed.holds for probed in tried) else BROKEN


def _tried(level: Level, confinement: Confinement, env: Mapping[str, str]) -> Probed:
    """What a level allows without the network, and whether it allows abstract sockets with it."""
    without = probe_level(level, confinement, env)
    if not without.deeds:
        return without
    shared = probe_level(level, replace(confinement, network=True), env)
    deeds = {**without.deeds, "join with network": shared.deeds["join"] if shared.deeds else shared.why_not}
    return replace(without, deeds=deeds)


def _facts(confinement: Confinement, tried: list[Probed], auto: str, said: str) -> dict[str, object]:
    """The JSON form: whether each level works, and whether each action succeeded in it."""
    levels = {
        probed.level: {
            "holds": probed.holds,
            "why_not": probed.why_not,
            "way_out": probed.way_out,
            "possible": {name: not refusal for name, refusal in probed.deeds.items()},
        }
        for probed in tried
    }
    return {
        "user": _user(),
        "workspace": str(confinement.root),
        "levels": levels,
        "limits": SandboxLimits().in_words(),
        "local_sockets": [str(path) for path in reachable_services()],
        "auto": auto or None,
        "notice": said,
    }


def _tell(screen: Console, confinement: Confinement, tried: list[Probed], auto: str, said: str) -> None:
    screen.print(f"as {plain(_user())}, in {plain(str(confinement.root))}")
    for probed in tried:
        screen.print(f"{probed.level}: {LEVEL_MEANINGS[probed.level]}", style="bold")
        state, style = ("holds", "green") if probed.holds else (f"not available: {plain(probed.why_not)}", "red")
        screen.print(f"  {state}", style=style)
        if probed.way_out:
            screen.print(f"  way out: {plain(probed.way_out)}")
        for name, deed in _DEEDS.items():
            if probed.deeds:
                screen.print(f"  {deed:<44}{plain(_answer(name, probed))}")
        if probed.level == "landlock" and probed.deeds and (services := reachable_services()):
            shown = ", ".join(str(path) for path in services[:3])
            screen.print(f"  {'connect to a local socket':<44}refused, all of them ({plain(shown)} could be reached)")
    screen.print(f"strict: {_STRICT}", style="bold")
    holds = any(probed.holds for probed in tried if probed.level == "bwrap")
    screen.print(
        f"  {SandboxLimits().in_words()}" if holds else "  not available without bwrap", style=None if holds else "red"
    )
    screen.print(f"off: {LEVEL_MEANINGS['off']}", style="bold")
    if auto:
        screen.print(f"--sandbox auto uses {auto} here" + (f": {plain(said)}" if said else ""))
    else:
        screen.print(plain(said), style="red")


def _user() -> str:
    uid = os.geteuid()
    try:
        return f"{pwd.getpwuid(uid).pw_name} (uid {uid})"
    except KeyError:
        return f"uid {uid}"


def _answer(name: str, probed: Probed) -> str:
    refusal = probed.deeds[name]
    if name in _WANTED:
        return f"no ({refusal.lower()})" if refusal else "yes"
    return f"refused ({refusal.lower()})" if refusal else "POSSIBLE"
