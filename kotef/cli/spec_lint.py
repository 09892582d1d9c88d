"""Output of `kotef spec lint`: the gaps of tickets and specs."""

from collections.abc import Sequence
from typing import Any

from rich.console import Console
from rich.text import Text

from kotef.cli.screen import plain
from kotef.sdd.lint import CODES, LintFinding


def finding_rows(findings: Sequence[LintFinding]) -> list[dict[str, Any]]:
    """The findings as JSON; `about` explains the code."""
    return [{**found.model_dump(), "about": CODES[found.code]} for found in findings]


def show_findings(screen: Console, findings: Sequence[LintFinding]) -> None:
    """One line each: `path:line: code: message`."""
    for found in findings:
        code = Text(plain(found.code), style="bold red")
        screen.print(Text(f"{plain(found.path)}:{found.line}: ") + code + Text(f": {plain(found.message)}"))
