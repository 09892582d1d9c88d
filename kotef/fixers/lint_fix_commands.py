"""Fix commands of formatters and linters, for their own complaints."""

import re
import shlex
from collections.abc import Iterable, Iterator
from itertools import zip_longest
from pathlib import PurePosixPath
from typing import Final

from kotef.fixers.types import FailingCheck
from kotef.shell import CommandLink, links

_SPECIAL: Final = re.compile(r"[$`<>*?\[\]{}~#|()]|&(?!&)")
"""Signs that would mean something else once the words are quoted again."""
_CHECKING: Final[dict[str, frozenset[str]]] = {
    "ruff format": frozenset({"--check", "--diff"}),
    "black": frozenset({"--check", "--diff"}),
    "isort": frozenset({"--check-only", "--check", "-c", "--diff", "--df"}),
}
"""Formatters, and the options that keep them from writing; without one of them they are not a check."""
_QUOTES_MATCH: Final = re.compile(r"""(?:[^'"]|'[^']*'|"[^"]*")*""")
_CHAINS: Final = frozenset({"", "&&", ";"})
_TOOLS: Final = ("ruff", "black", "isort")


def commands(failures: Iterable[FailingCheck]) -> tuple[str, ...]:
    """The same command lines, writing instead of checking, without repetition; `ruff check` before any formatter.

    Only for failures of kind `lint_failure` whose command is plain words, with `&&` and `;` at most: a pipe, a
    variable or a glob means something the words do not show. Unsafe fixes are never asked for. The commands write
    whatever they are applied to, tests included.
    """
    found = [line for one in failures if one.kind == "lint_failure" for line in _of(one.command)]
    return tuple(dict.fromkeys(sorted(found, key=lambda line: "--fix" not in line)))


def _of(command: str) -> Iterator[str]:
    chain = links(command)
    for link, later in zip_longest(chain, chain[1:]):
        if _is_plain(link) and (later is None or later.after in _CHAINS):
            writing = _writing(list(link.words))
            if writing:
                yield shlex.join(writing)


def _is_plain(link: CommandLink) -> bool:
    """Whether the words stand alone, and mean themselves."""
    is_alone = link.after in _CHAINS and not link.substituted
    return is_alone and not _SPECIAL.search(link.source) and bool(_QUOTES_MATCH.fullmatch(link.source))


def _writing(words: list[str]) -> list[str]:
    """The words of the tool's writing mode; empty when it is none of the tools, or writes already."""
    at = next((index for index, word in enumerate(words) if PurePosixPath(word).name in _TOOLS), None)
    if at is None or not _is_run(words[:at]):
        return []
    tool, head, rest = PurePosixPath(words[at]).name, words[: at + 1], words[at + 1 :]
    if tool == "ruff":
        if rest[:1] == ["check"] and "--fix" not in rest:
            kept = [word for word in rest[1:] if word not in {"--no-fix", "--diff", "--no-unsafe-fixes"}]
            return [*head, "check", "--fix", *kept]
        tool = f"ruff {rest[0]}" if rest else ""
    checking = _CHECKING.get(tool, frozenset())
    return [*head, *(word for word in rest if word not in checking)] if checking & set(rest) else []


def _is_run(before: list[str]) -> bool:
    """Whether the words in front of a tool run it: nothing, assignments, `python -m`, `uv run`, `poetry run`."""
    plain = [word for word in before if not re.match(r"\w+=", word)]
    if not plain:
        return True
    first, last = PurePosixPath(plain[0]).name, plain[-1]
    return (bool(re.fullmatch(r"python[\d.]*", first)) and last == "-m") or first in {
        "uv",
        "uvx",
        "poetry",
        "pdm",
        "hatch",
        "pipenv",
        "env",
    }
