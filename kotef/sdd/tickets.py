"""The tickets of a project: open, closed, and how to close one."""

import re
from collections.abc import Collection
from difflib import get_close_matches
from pathlib import Path, PurePosixPath
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.errors import KotefError, SpecError, UsageError
from kotef.files import list_within, move_within, os_fault, read_within, resolve_inside, write_within
from kotef.sdd.files import MAX_BYTES, Problem, read_file
from kotef.sdd.markdown import tick
from kotef.sdd.ticket import DoneLine, Ticket, id_and_slug, open_lines, read_ticket

__all__ = [
    "DoneLine",
    "Problem",
    "Ticket",
    "TicketFolder",
    "close_ticket",
    "find_ticket",
    "list_tickets",
    "open_dependencies",
    "open_lines",
    "read_ticket",
]

EMPTY: Final = "is empty; write a ticket or delete the file"
"""The problem of an empty file."""

MOST: Final = 20_000
"""Entries of a folder of tickets that are read."""

FOLDERS: Final = (".sdd/backlog/tickets", ".sdd/backlog")
"""Where `open/` and `closed/` are looked for."""


class TicketFolder(BaseModel):
    """The tickets of a workspace, by number."""

    model_config = ConfigDict(frozen=True)

    open: tuple[Ticket, ...] = ()
    closed: tuple[str, ...] = ()
    """Ids of the closed tickets, by their file names."""
    closed_slugs: tuple[str, ...] = ()
    problems: tuple[Problem, ...] = ()
    """Files that are not a ticket because they cannot be read, and ids borne twice; each ticket has its own besides."""


def list_tickets(root: Path) -> TicketFolder:
    """The open and closed tickets of a workspace; a file that cannot be read is a problem and hides no other."""
    tickets: list[Ticket] = []
    problems: list[Problem] = []
    closed: list[tuple[str, str]] = []
    for folder in FOLDERS:
        closed += [id_and_slug(path) for path in _files(root, f"{folder}/closed", problems)]
        for path in _files(root, f"{folder}/open", problems):
            file = read_file(root, path)
            ticket = read_ticket(path, file.text)
            if file.text:
                tickets.append(ticket.model_copy(update={"problems": (*file.problems, *ticket.problems)}))
            else:
                empty = Problem(path=path, line=1, text=EMPTY)
                problems += file.problems or (empty,)
    tickets.sort(key=lambda ticket: (_order(ticket.id), ticket.path))
    first: dict[str, Ticket] = {}
    for ticket in tickets:
        other = first.setdefault(same_name(ticket.id), ticket)
        if other is not ticket:
            text = f"has the same number as {other.path}; give one of them another number"
            problems.append(Problem(path=ticket.path, line=1, text=text))
    closed.sort(key=lambda pair: _order(pair[0]))
    return TicketFolder(
        open=tuple(tickets),
        closed=tuple(ident for ident, _ in closed),
        closed_slugs=tuple(slug for _, slug in closed),
        problems=tuple(problems),
    )


def find_ticket(folder: TicketFolder, wanted: str) -> Ticket:
    """The open ticket of this id (`7` or `07`), slug, file name or path.

    Raises `UsageError` naming the open ones when there is none, or more than one.
    """
    reference = wanted.strip()
    found = tickets_named(folder, reference)
    if len(found) == 1:
        return found[0]
    names = ", ".join(_printable(ticket.path.rpartition("/")[2]) for ticket in (found or folder.open)[:20])
    shown = _printable(wanted[:80])
    if found:
        raise UsageError(f"'{shown}' is ambiguous: {names}", hint="name its file")
    if is_closed(folder, reference):
        raise UsageError(f"ticket '{shown}' is closed", hint=f"open: {names or 'none'}")
    known = {name: ticket for ticket in folder.open for name in (ticket.slug, _stem(ticket.path))}
    close = get_close_matches(reference, known, n=1)
    like = f"; did you mean '{_printable(close[0])}'?" if close else ""
    broken = "; ".join(str(problem) for problem in folder.problems[:3])
    unread = f"; not readable: {_printable(broken)}" if broken else ""
    raise UsageError(f"no open ticket '{shown}'{like}{unread}", hint=f"open: {names or 'none'}")


def tickets_named(folder: TicketFolder, asked: str) -> list[Ticket]:
    """The open tickets that answer to an id, slug, file name or path; several where it does not distinguish them."""
    exact = [ticket for ticket in folder.open if _is_path_of(ticket, asked)]
    return exact or [ticket for ticket in folder.open if _answers_to(ticket, asked)]


def is_closed(folder: TicketFolder, asked: str) -> bool:
    """Whether it names a closed ticket."""
    return same_name(asked) in map(same_name, folder.closed) or asked in folder.closed_slugs


def open_dependencies(ticket: Ticket, folder: TicketFolder) -> tuple[str, ...]:
    """Those dependencies that are not closed, one that exists nowhere included: no one knows that it is done."""
    closed = {same_name(name) for name in (*folder.closed, *folder.closed_slugs)}
    return tuple(name for name in ticket.dependencies if same_name(name) not in closed)


def close_ticket(root: Path, ticket: Ticket, proved: Collection[int]) -> Path:
    """Tick the boxes on these lines and, where then every line is proved or ticked, move the file to `closed/`.

    Returns where it is now; `closed/` is beside its folder. Every other byte stays as it is. Doing it again, also after
    a crash half-way, changes nothing.

    Raises `SpecError` when the ticket asks for something else than when the run began, or when another file has its
    name in `closed/`; `NoSpaceError` and `WorkspaceError` when it cannot be written. The ticket then stays open.
    """
    source = root / ticket.path
    target = source.parent.parent / "closed" / source.name
    resolve_inside(root, str(target), write=False)
    if not source.exists():
        if target.exists():
            return target
        raise SpecError(ticket.path, "is gone", hint="if it was moved by hand, nothing is left to do")
    if target.exists():
        raise SpecError(target.relative_to(root), "exists already", hint="give one of the two tickets another name")
    now = read_ticket(ticket.path, read_file(root, ticket.path).text)
    if _comparable(now) != _comparable(ticket):
        raise SpecError(ticket.path, "was changed during the run", hint="look at it, then move it to closed/ by hand")
    try:
        before = read_within(root, ticket.path, largest=MAX_BYTES)
        lines = {line.line for line in ticket.done}.intersection(proved)
        after = tick(before.decode("utf-8", "surrogateescape"), lines).encode("utf-8", "surrogateescape")
        if after != before:
            write_within(root, ticket.path, after)
        if unproved_lines(now, proved):
            return source
        move_within(root, ticket.path, target.relative_to(root).as_posix())
    except OSError as error:
        raise os_fault(ticket.path, error) from error
    return target


def unproved_lines(ticket: Ticket, proved: Collection[int]) -> tuple[DoneLine, ...]:
    """Lines of its Definition of Done that are neither ticked nor proved."""
    return tuple(line for line in ticket.done if not line.checked and line.line not in proved)


def _comparable(ticket: Ticket) -> Ticket:
    """The ticket without what may differ although it asks for the same: ticks, and what was wrong with the file."""
    done = tuple(line.model_copy(update={"checked": False}) for line in ticket.done)
    return ticket.model_copy(update={"done": done, "problems": ()})


def _files(root: Path, folder: str, problems: list[Problem]) -> list[str]:
    """Paths of the tickets in a folder, relative to the root; README files, hidden ones and drafts (`_`) are none."""
    found = []
    try:
        if not (root / folder).exists():
            return []
        names = [entry.name for entry in list_within(root, folder, most=MOST)]
    except OSError as error:
        names = []
        problems.append(Problem(path=folder, line=1, text=str(os_fault(folder, error)).removeprefix(f"{folder}: ")))
    except KotefError as error:
        names = []
        problems.append(Problem(path=folder, line=1, text=str(error).removeprefix(f"{folder}: ")))
    for name in names:
        if name.casefold().endswith(".md") and name[0] not in "._" and name.casefold() != "readme.md":
            if name.isprintable():
                found.append(f"{folder}/{name}")
            else:
                shown = name.encode("unicode_escape", "backslashreplace").decode()
                problems.append(Problem(path=f"{folder}/{shown}", line=1, text="rename it: its name cannot be printed"))
    return found


def _stem(path: str) -> str:
    return PurePosixPath(path).stem


def same_name(name: str) -> str:
    """An id or a slug as it is compared: `07`, `7` and `#7` are the same."""
    return name.strip().lstrip("#").lstrip("0").casefold() or "0"


def _order(ident: str) -> tuple[int, str]:
    """Numbers first, as numbers."""
    number = re.match(r"\d{1,18}", ident)
    return (int(number[0]), ident) if number else (10**18, ident)


def _is_path_of(ticket: Ticket, asked: str) -> bool:
    path = PurePosixPath(ticket.path)
    wanted = str(PurePosixPath(asked))
    return wanted in (ticket.path, path.name, path.stem) or wanted.endswith(f"/{ticket.path}")


def _answers_to(ticket: Ticket, asked: str) -> bool:
    return same_name(asked) in (same_name(ticket.id), same_name(ticket.slug)) and bool(asked)


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text)
