"""The table of settings in effect."""

import json

from kotef.cli.screen import console, one_line, plain
from kotef.runs.effective_settings import EffectiveSetting, InEffect


def show_settings(found: InEffect) -> None:
    """Print a line for each setting; ignored settings of the repository come last."""
    screen = console()
    there = "" if found.user_file_exists else " (does not exist)"
    screen.print(f"user's file: {plain(found.user_file)}{there}")
    note = (
        "trusted"
        if found.trusted
        else "not trusted, so its settings can only narrow permissions (--trust shows the rest)"
    )
    screen.print(f"repository: {note}")
    for text in found.notices:
        screen.print(f"note: {one_line(text, 300)}", style="yellow")
    effective = [setting for setting in found.settings if not setting.ignored]
    widest = max(len(one_line(setting.name, 60)) for setting in effective)
    for setting in effective:
        style = "dim" if setting.origin == "default" else ""
        name, value = one_line(setting.name, 60), _shown(setting)
        screen.print(f"  {name:<{widest}}  {value}  ({one_line(setting.origin, 200)})", style=style)
    for setting in found.settings:
        if setting.ignored:
            name, why = one_line(setting.name, 60), one_line(setting.ignored, 400)
            screen.print(f"  {name}  {_shown(setting)}  ({setting.origin}) is ignored: {why}", style="yellow")


def _shown(setting: EffectiveSetting) -> str:
    """The value as in TOML and JSON; a dash if there is none."""
    value = setting.value
    if value is None:
        return "–"
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, 120) or '""'
