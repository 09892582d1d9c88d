"""Paths for a drafted specification that overwrite nothing."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import SpecError
from kotef.files import resolve_inside, write_below
from kotef.redaction import redactor
from kotef.runs.spec_draft import Drafted
from kotef.sdd.draft_writer import architect_page, file_name, practices_page, project_page, ticket_page
from kotef.sdd.tickets import TicketFolder, list_tickets

OPEN: Final = ".sdd/backlog/tickets/open"


class DraftFile(NamedTuple):
    """One file of a draft."""

    path: str
    """Relative to the workspace root; no file is there yet."""
    text: str
    instead_of: str = ""
    """The existing file that is kept, if this draft is written beside it."""


def placed(root: Path, drafted: Drafted) -> tuple[DraftFile, ...]:
    """Every file of the draft with a free path; nothing is written. Secrets are redacted.

    Raises `SpecError` when `.sdd` is there but is not a directory.
    """
    folder = root / ".sdd"
    if (folder.is_symlink() or folder.exists()) and not folder.is_dir():
        raise SpecError(".sdd", "is not a directory", hint="move it away, then draft again")
    draft = drafted.draft
    pages = {
        ".sdd/project.md": project_page(draft),
        ".sdd/architect.md": architect_page(draft, drafted.gates),
        ".sdd/best_practices.md": practices_page(draft),
    }
    found = [_free(root, path, text) for path, text in pages.items()]
    if not (root / ".sdd/.gitignore").exists():
        found.append(DraftFile(".sdd/.gitignore", "runs/\n"))
    first = _next_number(list_tickets(root))
    names = [f"{first + at:02}" for at in range(len(draft.tickets))]
    for ticket, number in zip(draft.tickets, names, strict=True):
        path = f"{OPEN}/{file_name(ticket, number)}"
        found.append(DraftFile(path, ticket_page(ticket, number, [names[need] for need in ticket.needs])))
    hide = redactor().text
    return tuple(each._replace(text=hide(each.text)) for each in found)


def write_placed(root: Path, files: tuple[DraftFile, ...]) -> None:
    """Write the files. Raises `NoSpaceError` and `WorkspaceError`; files already written stay."""
    for each in files:
        resolve_inside(root, each.path, write=False)
        write_below(root, each.path, each.text.encode())


def _free(root: Path, path: str, text: str) -> DraftFile:
    if not _exists(root / path):
        return DraftFile(path, text)
    return next(DraftFile(name, text, instead_of=path) for name in _beside(path) if not _exists(root / name))


def _beside(path: str) -> Iterator[str]:
    """`project.draft.md`, `project.draft-2.md` and so on."""
    stem = path.removesuffix(".md")
    yield f"{stem}.draft.md"
    number = 2
    while True:
        yield f"{stem}.draft-{number}.md"
        number += 1


def _exists(path: Path) -> bool:
    return path.is_symlink() or path.exists()


def _next_number(folder: TicketFolder) -> int:
    """The next number after all tickets, including closed ones."""
    names = (*(ticket.id for ticket in folder.open), *folder.closed)
    return 1 + max((int(found[0]) for name in names if (found := re.match(r"\d{1,6}", name))), default=0)
