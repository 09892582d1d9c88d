"""What becomes of a ticket whose work is verified?"""

from collections.abc import Iterable
from pathlib import Path

from kotef.failures.counted import counted
from kotef.sdd.foreign.folders import tick_foreign
from kotef.sdd.proof import Evidence
from kotef.sdd.ticket import Ticket
from kotef.sdd.tickets import close_ticket


def close_asked(root: Path, ticket: Ticket, evidence: Iterable[Evidence]) -> list[str]:
    """Tick what is proved. One of the project's own is moved to `closed/`; another tool's stays where it is.

    Returns what a person should know. Raises as `close_ticket` and `tick_foreign` do.
    """
    proved = {(found.path, found.line) for found in evidence if found.proved}
    if ticket.kind == "ticket":
        close_ticket(root, ticket, {line for _, line in proved})
        return []
    if ticket.kind == "issue":
        return []
    ticked = tick_foreign(root, ticket, proved)
    boxes = [line for line in ticket.done if line.box and not line.checked]
    left = len(boxes) - len([line for line in boxes if (line.path, line.line) in proved])
    rest = f"; {counted(left, 'open box', 'open boxes')} for a person to tick, for no check proves it" if left else ""
    return [f"{ticket.path}: ticked {', '.join(ticked[:20]) or 'nothing'}{rest}"]
