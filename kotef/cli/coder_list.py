"""The list of external agents that `kotef coders` prints."""

import os
import shutil
from collections.abc import Iterator

from rich.console import Console

from kotef.cli.screen import one_line
from kotef.coders.command.line import command_of
from kotef.coders.command.presets import Preset, names_passed
from kotef.files import home_relative
from kotef.sandbox import PROXIES

_TELLS = {
    "money": "its cost is read from its output",
    "tokens": "its tokens are read from its output; [prices] converts them into money",
    "nothing": "its cost is unknown",
}


def show_coder(screen: Console, preset: Preset) -> None:
    """Print how the agent is started, and which of its variables and files exist here."""
    found = shutil.which(preset.name)
    where = one_line(home_relative(found)) if found else "not installed"
    screen.print(f"{preset.name}  ({where})", style="bold" if found else "dim")
    for line in _lines(preset):
        screen.print(f"  {one_line(line, 1000)}")


def _lines(preset: Preset) -> Iterator[str]:
    yield f"runs: {_template(preset)}"
    yield f"flags as of version {preset.version}; {_TELLS[preset.tells]}"
    yield f"variables: {', '.join(preset.env)}; set here: {', '.join(_set_here(preset)) or 'none'}"
    files = (*(f"~/{name} (a copy)" for name in preset.copied), *(f"~/{name} (shared)" for name in preset.shared))
    yield f"from the home directory: {', '.join(files)}"


def coder_facts(preset: Preset) -> dict[str, object]:
    """The JSON form."""
    return {
        "name": preset.name,
        "installed": shutil.which(preset.name),
        "version": preset.version,
        "command": _template(preset),
        "variables": list(preset.env),
        "variablesSet": list(_set_here(preset)),
        "copied": list(preset.copied),
        "shared": list(preset.shared),
        "tells": preset.tells,
        "idleSeconds": preset.idle,
    }


def _set_here(preset: Preset) -> tuple[str, ...]:
    return tuple(name for name in names_passed(preset, (), os.environ) if name not in PROXIES)


def _template(preset: Preset) -> str:
    command = command_of(preset.name)
    assert command is not None  # noqa: S101  a name of the table is a command
    return command.template
