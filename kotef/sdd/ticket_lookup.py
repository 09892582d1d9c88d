"""Lookup of a ticket by name: one of the project's own, or a spec written for another tool."""

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path, PurePosixPath

from kotef.errors import UsageError
from kotef.importers import Folder, foreign_folders, read_foreign, ticket_from
from kotef.sdd.ticket import Ticket
from kotef.sdd.tickets import TicketFolder, find_ticket, is_closed, tickets_named


def find_asked(root: Path, folder: TicketFolder, wanted: str) -> Ticket:
    """The open ticket of this id, slug or path; or the spec of this folder, `FOLDER#TASK` for one of its tasks.

    The project's own tickets come first where a name is theirs letter by letter, and so do folders; `UsageError` names
    both where it could be either, and what there is where it is neither.
    """
    folders = foreign_folders(root)
    whole = wanted.strip()
    known = tickets_named(folder, whole) or _matching(folders, whole)
    name, selected = (whole, "") if known else _split(whole)
    theirs = _matching(folders, name)
    if selected:
        return _of(root, _one(wanted, theirs, folders), selected)
    own = find_ticket(folder, name) if tickets_named(folder, name) else None
    exactly = [one for one in theirs if _is_literal(one, name)]
    if own is None and not exactly and (not folders or is_closed(folder, name)):
        return find_ticket(folder, wanted)
    if own is None and not theirs:
        return _neither(folder, wanted, folders)
    if own is None:
        return _of(root, _one(wanted, exactly or theirs, folders), "")
    if not theirs or (not exactly and _is_own_literally(own, name)):
        return own
    if exactly and not _is_own_literally(own, name):
        return _of(root, _one(wanted, exactly, folders), "")
    both = ", ".join([own.path, *(one.path for one in exactly or theirs)])
    raise UsageError(f"'{_printable(wanted)}' is ambiguous: {both}", hint="name its path")


def _split(wanted: str) -> tuple[str, str]:
    """`specs/001-cart#T003` as the folder and the task; a number sign in front is part of a number."""
    name, sign, selected = wanted.rpartition("#")
    return (name, selected.strip()) if sign and name and selected.strip() else (wanted, "")


def _matching(folders: Iterable[Folder], name: str) -> list[Folder]:
    key = _key(name)
    found = [one for one in folders if key and key in (_key(one.name), *_parts(one.name))]
    return [one for one in folders if _is_path_of(one, name)] or found


def _parts(name: str) -> tuple[str, ...]:
    """The number in front of a folder's name, and the rest."""
    found = re.match(r"(\d+)[-_ ]+(.+)", name)
    return (_key(found[1]), _key(found[2])) if found else ()


def _is_path_of(folder: Folder, name: str) -> bool:
    """Whether it is the path of the folder or of a file in it, also from outside the workspace."""
    path = str(PurePosixPath(name)) if name else ""
    inside = [path, str(PurePosixPath(path).parent)] if path.endswith(".md") else [path]
    return any(one == folder.path or one.endswith(f"/{folder.path}") for one in inside)


def _is_literal(folder: Folder, name: str) -> bool:
    found = re.match(r"(\d+)[-_ ]+(.+)", folder.name)
    return _is_path_of(folder, name) or name in (folder.name, *(found.groups() if found else ()))


def _is_own_literally(ticket: Ticket, name: str) -> bool:
    path = PurePosixPath(ticket.path)
    return name in (ticket.id, ticket.slug, path.name, path.stem) or str(PurePosixPath(name)).endswith(ticket.path)


def _one(wanted: str, found: list[Folder], folders: Iterable[Folder]) -> Folder:
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.path for one in found)
        raise UsageError(f"'{_printable(wanted)}' is ambiguous: {names}", hint="name its path")
    names = ", ".join(one.path for one in list(folders)[:20])
    raise UsageError(f"no spec '{_printable(wanted)}'", hint=f"the specs are: {names or 'none'}")


def _neither(folder: TicketFolder, wanted: str, folders: Iterable[Folder]) -> Ticket:
    """Raises the error of the own tickets, with the specs beside them."""
    known = {name: one.path for one in folders for name in (one.name, one.path)}
    close = get_close_matches(wanted, known, n=1)
    like = f"; did you mean '{known[close[0]]}'?" if close else ""
    try:
        return find_ticket(folder, wanted)
    except UsageError as error:
        names = ", ".join(dict.fromkeys(known.values()))
        raise UsageError(f"{error}{like}", hint=f"specs: {names[:400]}") from error


def _of(root: Path, folder: Folder, selected: str) -> Ticket:
    return ticket_from(read_foreign(root, folder), selected)


def _key(name: str) -> str:
    return name.strip().rstrip("/").lstrip("0").casefold() or ("0" if name.strip() else "")


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else "?" for letter in text[:80])
