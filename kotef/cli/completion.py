"""Shell completion. It must answer at once, so nothing heavy is imported."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, Final

import click
from click.shell_completion import CompletionItem

from kotef.files import Listed, list_within, read_within

SHELLS: Final = ("bash", "zsh", "fish")
VARIABLE: Final = "_KOTEF_COMPLETE"
_RUNS: Final = ".sdd/runs"
_TICKETS: Final = ".sdd/backlog/tickets/open"
_LARGEST: Final = 200_000
_MOST: Final = 100
_PLAIN: Final = re.compile(r"\w[\w.+@-]*")
"""Names without blanks, quotes, `$` and other characters that a shell interprets: a repository chooses the names."""
_LISTED: Final = 20_000


def offer(command: click.Command) -> None:
    """Add completion to every parameter of this command and its subcommands that names a run, a ticket or a role."""
    for param in command.params:
        if param.name in _OFFERS:
            setattr(param, "shell_complete", _OFFERS[param.name])  # noqa: B010  the method that click asks
    for below in command.commands.values() if isinstance(command, click.Group) else ():
        offer(below)


def runs(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Ids of runs, newest first; only directories count, so that lock files are left out."""
    found = sorted((entry.name for entry in _listed(_root(ctx), _RUNS) if entry.is_directory), reverse=True)
    return _items(found, incomplete)


def tickets(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Open tickets by the name of their file, which begins with the number."""
    names = [entry.name for entry in _listed(_root(ctx), _TICKETS) if entry.name.endswith(".md")]
    return _items(sorted(name.removesuffix(".md") for name in names), incomplete)


def roles(ctx: click.Context, incomplete: str) -> list[CompletionItem]:
    """Names of roles: the built-in one, and the headings of `agents.md`, the repository's and the user's."""
    base = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config")
    texts = (_text(_root(ctx), ".sdd/agents.md"), _text(base, "kotef/agents.md"))
    return _items(dict.fromkeys(("coder", *(name for text in texts for name in _headings(text)))), incomplete)


_OFFERS: Final[Mapping[str, Callable[[click.Context, str], list[CompletionItem]]]] = {
    "run_id": runs,
    "ticket": tickets,
    "agent": roles,
}
"""Parameter name → function that lists its values."""


def _items(names: Iterable[str], incomplete: str) -> list[CompletionItem]:
    """Only names without special characters are offered, because the shell inserts them unquoted."""
    fitting = (name for name in names if name.startswith(incomplete) and _PLAIN.fullmatch(name))
    return [CompletionItem(name) for name in islice(fitting, _MOST)]


def _text(place: Path, name: str) -> str:
    try:
        return read_within(place, name, largest=_LARGEST, cut=True).decode("utf-8", "replace")
    except OSError:
        return ""


def _headings(text: str) -> Iterator[str]:
    for line in text.splitlines():
        if line.startswith("## "):
            yield "-".join(line[3:].lower().split())


def _listed(root: Path, folder: str) -> list[Listed]:
    """The entries of a directory; empty if it does not exist or is a link."""
    try:
        return list_within(root, folder, most=_LISTED)
    except OSError:
        return []


def _root(ctx: click.Context) -> Path:
    """`--root`, else the nearest parent directory with a `.sdd` or a `.git`; git is not called."""
    given: Any = ctx.params.get("root")
    if given:
        return Path(given)
    here = Path.cwd()
    return next(
        (place for place in (here, *here.parents) if (place / ".sdd").is_dir() or (place / ".git").exists()), here
    )
