"""Table of the extensions that are installed beside kotef: which are active, which are not, and why."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Literal

from kotef.errors import ExtensionError
from kotef.extensions import ExtensionSettings, SelectedExtension, installed_extensions, is_fatal, open_extension
from kotef.runs.config import config_path, read_config
from kotef.runs.extension_setup import equipped, extensions_of
from kotef.runs.repository import Settings
from kotef.runs.result import Camel
from kotef.runs.run_settings import run_settings
from kotef.state import ExtensionKind
from kotef.tools.tool import ToolSpec
from kotef.tools.toolset import Kit


class ExtensionRow(Camel):
    """One extension."""

    state: Literal["ok", "note", "missing"]
    """`missing`: a run does not begin with it."""
    kind: ExtensionKind
    name: str
    distribution: str
    version: str
    entry_point: str
    active: bool
    """Whether a run here works with it."""
    problem: str
    """Why it is switched on and cannot be used; empty if it can, or is off."""


def extension_rows(root: Path, settings: ExtensionSettings) -> tuple[tuple[ExtensionRow, ...], str]:
    """A row for each, and what is wrong with the settings; empty if nothing is.

    What is switched on is loaded, as a run would do. Of the others nothing is imported.
    """
    found = installed_extensions(root)
    return tuple(_row(each, root) for each in settings.select(found)), settings.absent(found)


def _row(selected: SelectedExtension, root: Path) -> ExtensionRow:
    problem = _problem(selected, root) if selected.is_on else ""
    state: Literal["ok", "note", "missing"] = "ok" if selected.is_on and not problem else "note"
    if problem and is_fatal(selected):
        state = "missing"
    active = selected.is_on and not problem
    return ExtensionRow(state=state, active=active, problem=problem, **selected.extension.record.model_dump())


def _problem(selected: SelectedExtension, root: Path) -> str:
    try:
        open_extension(selected.extension, root)
    except ExtensionError as error:
        return str(error)
    return ""


def installed_tools(root: Path) -> tuple[tuple[ToolSpec, str], ...]:
    """The tools of the active extensions, each with its distribution. Raises KotefError."""
    settings = run_settings({}, read_config(config_path()), Settings())
    extensions = extensions_of(root, settings.extensions, "tool")
    kit = equipped(Kit(), extensions, root)
    origins = {each.record.name: each.record.origin for each in extensions.loaded}
    return tuple((row, origins[row.name]) for row in kit.more)


def extension_lines(rows: Sequence[ExtensionRow]) -> Iterator[tuple[str, str]]:
    """State and text of each row."""
    for row in rows:
        what = f"extension {row.kind} {row.name}  {row.distribution} {row.version}  {row.entry_point}"
        yield row.state, f"{what}  {_standing(row)}"


def _standing(row: ExtensionRow) -> str:
    if row.active:
        return "active"
    return row.problem or "off (KOTEF_EXTENSIONS, or `enable` under [extensions] of your configuration, switches on)"
