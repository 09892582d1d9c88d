"""The list of open tickets and specs, in any supported format."""

from pathlib import Path
from typing import NoReturn

from kotef.cli.screen import console, one_line, plain
from kotef.errors import UsageError
from kotef.importers import list_foreign, progress_text
from kotef.redaction import redactor
from kotef.sdd.tickets import list_tickets


def tell_tickets(root: Path) -> NoReturn:
    """List the open tickets for `kotef run` without a task, the project's own first. Raises `UsageError`."""
    folder = list_tickets(root)
    specs = [spec for spec in list_foreign(root) if spec.is_open]
    screen = console(stderr=True)
    hide = redactor().text
    if folder.open or specs:
        screen.print("Open tickets (start one with `kotef run --ticket ID`):")
    for ticket in folder.open:
        screen.print(f"  {ticket.id}  {one_line(hide(ticket.title))}")
    for spec in specs:
        screen.print(f"  {plain(spec.path)}  {one_line(hide(spec.title))}  ({progress_text(spec)})")
    for problem in folder.problems:
        screen.print(f"note: {problem.path}:{problem.line}: {plain(problem.text)}")
    found = folder.open or specs
    hint = "`kotef run --ticket ID`" if found else '`kotef run "what to do"`, or `kotef init` for a .sdd/ skeleton'
    raise UsageError("no goal or ticket was given", hint=hint)
