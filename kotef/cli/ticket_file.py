"""Reader for an issue that is piped in or in a file."""

import os
import stat
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kotef.errors import UsageError
from kotef.failures.plural import counted
from kotef.importers import MAX_ISSUE, read_issue, with_commands
from kotef.sdd.ticket import Ticket

_SHOWN: Final = 3
"""Commands in the notice."""


@dataclass(frozen=True, slots=True)
class ForeignTicket:
    """A ticket from outside the workspace, and notices about it."""

    ticket: Ticket
    notices: tuple[str, ...] = ()


def ticket_given(name: str | None, *, other: str | None, checks: tuple[str, ...], trust: bool) -> ForeignTicket | None:
    """The ticket that `--ticket-file` names, `-` being standard input; None if there is no such option.

    Commands it names are run, and protected files it opens are opened, only with `trust`: strangers write issues.

    Raises `UsageError` for anything that is not text of a sensible size, and beside `--ticket`.
    """
    if name is None:
        return None
    if other is not None:
        raise UsageError("--ticket and --ticket-file cannot be combined", hint="use one of them")
    source = "standard input" if name == "-" else name
    issue = read_issue(_text(name, source), source)
    if trust:
        return ForeignTicket(with_commands(issue))
    notices = []
    if issue.commands and not checks:
        some = ", ".join(f"`{' '.join(command.split())[:80]}`" for command in issue.commands[:_SHOWN])
        more = ", …" if issue.commands[_SHOWN:] else ""
        what = counted(len(issue.commands), "command")
        notices.append(
            f"{source} names {what} ({some}{more}) that will not run: pass them with --check, or add --trust"
        )
    if issue.allow_test_edits:
        notices.append(f"{source} asks to edit protected files, which needs --trust (or --allow-edits GLOB)")
    return ForeignTicket(issue.ticket, tuple(notices))


def _text(name: str, source: str) -> str:
    raw = _piped() if name == "-" else _file(name)
    if len(raw) > MAX_ISSUE:
        raise UsageError(f"{source}: longer than {MAX_ISSUE // 1024} KiB", hint="shorten it to the task")
    if b"\0" in raw:
        raise UsageError(f"{source}: binary, not text", hint="give the Markdown of an issue")
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UsageError(f"{source}: byte {error.start} (line {line}) is not UTF-8", hint="save it as UTF-8") from error


def _piped() -> bytes:
    if sys.stdin is None or sys.stdin.isatty():
        hint = "pipe one in: `gh issue view NUMBER --json number,title,body | kotef run --ticket-file -`"
        raise UsageError("--ticket-file -: standard input is a terminal", hint=hint)
    return sys.stdin.buffer.read(MAX_ISSUE + 1)


def _file(name: str) -> bytes:
    """The bytes of a plain file, or of a pipe a shell made (`<(…)`)."""
    try:
        with Path(name).open("rb") as stream:
            kind = os.fstat(stream.fileno()).st_mode
            if not (stat.S_ISREG(kind) or stat.S_ISFIFO(kind)):
                raise UsageError(f"--ticket-file {name}: not a regular file", hint="name a file, or `-` for a pipe")
            return stream.read(MAX_ISSUE + 1)
    except OSError as error:
        hint = "name a file with the Markdown of an issue, or `-` for a pipe"
        raise UsageError(f"--ticket-file {name}: {(error.strerror or str(error)).lower()}", hint=hint) from error
