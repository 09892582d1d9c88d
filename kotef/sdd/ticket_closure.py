"""Closure of a ticket whose work is verified."""

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Final

from kotef.classification import cut_line
from kotef.failures.plural import counted
from kotef.importers import tick_foreign
from kotef.sdd.done_evidence import Evidence
from kotef.sdd.ticket import Ticket
from kotef.sdd.tickets import close_ticket, unproved_lines

_NAMED: Final = 5


def close_asked(root: Path, ticket: Ticket, evidence: Iterable[Evidence]) -> list[str]:
    """Tick what is proved. One of the project's own with nothing left open is moved to `closed/`; another tool's stays.

    Returns what a person should know. Raises as `close_ticket` and `tick_foreign` do.
    """
    proved = {(found.path, found.line) for found in evidence if found.proved}
    if ticket.kind == "ticket":
        lines = {line for _, line in proved}
        place = close_ticket(root, ticket, lines)
        return _still_open(ticket, lines) if place == root / ticket.path else []
    if ticket.kind == "issue":
        return []
    ticked = tick_foreign(root, ticket, proved)
    boxes = [line for line in ticket.done if line.box and not line.checked]
    left = len(boxes) - len([line for line in boxes if (line.path, line.line) in proved])
    number = counted(left, "open box", "open boxes")
    rest = f"; {number} for a person to tick, because no check proves it" if left else ""
    return [f"{ticket.path}: ticked {', '.join(ticked[:20]) or 'nothing'}{rest}"]


def _still_open(ticket: Ticket, proved: Collection[int]) -> list[str]:
    """The notice that the ticket stays open, with the unproved lines."""
    left = unproved_lines(ticket, proved)
    if not left:
        return []
    named = "; ".join(f"line {line.line}: {cut_line(line.text, 100)}" for line in left[:_NAMED])
    more = f"; and {len(left) - _NAMED} more" if len(left) > _NAMED else ""
    count = f"{len(left)} of {counted(len(ticket.done), 'line')} of its Definition of Done"
    return [
        f"ticket {ticket.id} stays open, because {count} are not proved: {named}{more}. Tick what you have seen done"
    ]
