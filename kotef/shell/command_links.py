"""The simple commands of a command line as they are written, for reading what the line is about."""

import re
import shlex
from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Final, NamedTuple

from kotef.shell.syntax import Simple, UnreadableCommandError, simple_commands

SHELL_NAME: Final = re.compile(r"(?:ba|da|z|k|a)?sh")
"""Shells whose `-c` takes a line of the grammar that is read here."""

_OPERATORS: Final = frozenset("|&;()")
_CLOSINGS: Final = ("", ")", '"', "'")
_ROUGH: Final = re.compile(r"\d*>&\d|[|&;()]+|[^\s|&;()]+")
_SHELL_OPTION_WITH_VALUE: Final = re.compile(r"[-+][a-zA-Z]*[oO][a-zA-Z]*|--rcfile|--init-file")
_SHELLS_FOLLOWED: Final = 2


class CommandLink(NamedTuple):
    """One simple command of a command line, as it is written."""

    after: str
    """The operator in front of it, as in `Simple`; a new line is `;`."""
    words: tuple[str, ...]
    """Without quotes and redirections; variables and substitutions stand as they are written."""
    source: str
    """The text from its first word to the operator behind it."""
    substituted: bool = False
    """Whether its output is a part of another command's words."""


def links(line: str, *, shells: bool = False) -> list[CommandLink]:
    """The simple commands of `line` as they are written, in that order, substitutions and subshells included.

    For reading what a line is about: an open quote or bracket, as that of a line that was cut, ends with the line.
    With `shells`, a command such as `sh -c …` stands for those of the line that it is given.
    """
    found = _links(line)
    for _ in range(_SHELLS_FOLLOWED if shells else 0):
        found = [inner for link in found for inner in (_links(line_for_shell(link.words)) or [link])]
    return found


def line_for_shell(words: Sequence[str]) -> str:
    """The line that `sh -c` is given; empty for any other command."""
    is_shell = bool(words) and SHELL_NAME.fullmatch(PurePosixPath(words[0]).name)
    return (shell_input(words[1:]).line or "") if is_shell else ""


def _links(line: str) -> list[CommandLink]:
    for closing in _CLOSINGS:
        try:
            found = simple_commands(line + closing)
        except UnreadableCommandError:
            continue
        ordered = sorted((each for each in found if each.texts), key=lambda each: each.start)
        return [_link(line, each) for each in ordered]
    return _links_between_blanks(line)


def _link(line: str, command: Simple) -> CommandLink:
    source = line[command.start : command.end].rstrip()
    return CommandLink(command.after, tuple(command.texts), source, command.substituted)


def _links_between_blanks(line: str) -> list[CommandLink]:
    """No shell would run the line, but its words may still tell."""
    found: list[CommandLink] = []
    after, words = "", list[str]()
    for word in [*_ROUGH.findall(line.replace("\n", ";")), ";"]:
        if not _OPERATORS.issuperset(word):
            words.append(word)
            continue
        if words:
            found.append(CommandLink(after, tuple(words), " ".join(words)))
        after, words = word, []
    return found


def words_of(line: str) -> list[str]:
    """The words between blanks, operators among them; quotes are taken off where they match."""
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


class ShellInput(NamedTuple):
    """What a shell reads its commands from; its standard input where there is neither line nor file."""

    line: str | None
    """The argument of `-c`, empty where it is missing."""
    file: str


def shell_input(arguments: Sequence[str]) -> ShellInput:
    """What a shell that is started with these arguments reads."""
    rest = list(arguments)
    is_given = False
    while rest and rest[0].startswith(("-", "+")):
        option = rest.pop(0)
        if option == "--":
            break
        is_given = is_given or bool(re.fullmatch(r"-[a-zA-Z]*c[a-zA-Z]*", option))
        if rest and _SHELL_OPTION_WITH_VALUE.fullmatch(option):
            rest.pop(0)
    first = rest[0] if rest else ""
    return ShellInput(first, "") if is_given else ShellInput(None, first)
