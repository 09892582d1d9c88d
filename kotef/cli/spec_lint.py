"""Output of `kotef spec lint`: the gaps of tickets and specs."""

from collections.abc import Sequence
from typing import Any, Final

from rich.console import Console
from rich.text import Text

from kotef.cli.screen import console, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.failures.plural import counted
from kotef.runs.config import config_path, read_config
from kotef.runs.secret_sources import hide
from kotef.runs.spec_lint import lint_workspace
from kotef.sdd.lint import CODES, LintFinding

FOUND: Final = 3
"""The exit status where there is something to repair."""


def lint_command(root: str | None, *, as_json: bool) -> int:
    """`kotef spec lint`; returns the exit status."""
    place = workspace_of(root)
    hide(place, read_config(config_path()))
    linted = lint_workspace(place)
    if as_json:
        say_json({"tickets": linted.tickets, "findings": rows(linted.findings)})
    else:
        screen = console()
        tell(screen, linted.findings)
        looked = counted(linted.tickets, "open ticket")
        screen.print(
            f"{counted(len(linted.findings), 'finding')} in {looked}" if linted.findings else f"{looked}: no gap"
        )
    return FOUND if linted.findings else 0


def rows(findings: Sequence[LintFinding]) -> list[dict[str, Any]]:
    """As JSON has them; `about` is what the code means."""
    return [{**found.model_dump(), "about": CODES[found.code]} for found in findings]


def tell(screen: Console, findings: Sequence[LintFinding]) -> None:
    """One line each: `path:line: code: message`."""
    for found in findings:
        code = Text(plain(found.code), style="bold red")
        screen.print(Text(f"{plain(found.path)}:{found.line}: ") + code + Text(f": {plain(found.message)}"))
