"""The command line of an external agent: the program it names, and the line that is run."""

import re
import shlex
from pathlib import Path
from typing import Final, NamedTuple

from kotef.coders.command.presets import PRESETS, Preset

BRIEF: Final = "{brief}"
"""Stands for the file with the task."""
TEXT: Final = "{brief_text}"
"""Stands for its text, as one word."""
ACCOUNT: Final = "{account}"
"""Stands for a file into which a program may write what it has used."""

_VALUE: Final = r"""(?:'[^']*'|"(?:[^"\\]|\\.)*"|`[^`]*`|\$\([^()]*\)|\\.|[^\s'"\\`()])*"""
_LINE: Final = re.compile(rf"(?P<set>(?:[A-Za-z_]\w*={_VALUE}\s+)*)(?P<program>\S*)(?P<rest>.*)", re.DOTALL)
"""Variables that are set for a program, the word that starts it, and what follows."""
_SIGN: Final = r"\\.|\$\(|['\"`()]"
_CLOSED_BY: Final = {"'": "'", '"': '"', "`": "`", "$(": ")", "(": ")"}
"""What opens a quotation or a nested command in a shell → what closes it."""
_PLAIN: Final = re.compile(r"[\w@%+./~-]+")
_BUILT_IN: Final = frozenset(
    {".", "cd", "command", "echo", "eval", "exec", "export", "for", "if", "set", "source", "test", "time", "umask"}
    | {"until", "while"}
)
"""Words of the shell that no program of that name has to exist for."""


class AgentCommand(NamedTuple):
    """One agent's command line."""

    name: str
    """The preset's; `command` for any other."""
    template: str
    """The line for the shell, before the placeholders are filled."""
    program: str
    """The word that starts it; empty if only the shell knows."""
    preset: Preset | None

    def filled(self, brief: Path, account: Path) -> str:
        """The command line, its placeholders filled, each with one word."""
        text = _filled(self.template, TEXT, f'"$(cat {shlex.quote(str(brief))})"')
        return _filled(_filled(text, BRIEF, shlex.quote(str(brief))), ACCOUNT, shlex.quote(str(account)))


def is_command(part: str) -> bool:
    """Whether a part of a chain is a command line: it has several words, or says where the brief goes."""
    return any(char.isspace() for char in part.strip()) or BRIEF in part or TEXT in part


def command_of(text: str) -> AgentCommand | None:
    """The command meant by `aider`, `A=b aider --model x` or any line with a placeholder; None if it takes no brief.

    A program of the table gets its subcommand and those of its flags that are not there already: they keep it from
    committing, asking, and confining itself.
    """
    text = text.strip()
    found = _LINE.match(text)
    assert found is not None, "each part may be empty"  # noqa: S101
    word = found["program"]
    program = word if _PLAIN.fullmatch(word) and word not in _BUILT_IN else ""
    preset = PRESETS.get(Path(program).name) if program else None
    takes_brief = BRIEF in text or TEXT in text
    if preset is None:
        return AgentCommand("command", text, program, None) if takes_brief else None
    completed = _completed(found["rest"].strip(), program, preset, takes_brief=takes_brief)
    return AgentCommand(preset.name, found["set"] + completed, program, preset)


def _completed(rest: str, program: str, preset: Preset, *, takes_brief: bool) -> str:
    if preset.sub and re.match(rf"{preset.sub}(\s|$)", rest):
        rest = rest[len(preset.sub) :].strip()
    given = rest.split()
    missing = [flag for flag in preset.flags if not _stands_in(flag, given)]
    missing += [f"${{{name}:+{words}}}" for name, words in preset.if_set.items()]
    parts = [program, preset.sub, *missing, rest, "" if takes_brief else preset.takes]
    return " ".join(part for part in parts if part)


def _stands_in(flag: str, words: list[str]) -> bool:
    name = re.split(r"[ =]", flag)[0]
    return any(word == name or word.startswith(f"{name}=") for word in words)


def splits_text(text: str) -> bool:
    """Whether `{brief_text}` is inside quotes with other words, of which a shell might make a script."""
    places = [(found.start(), found.end()) for found in re.finditer(re.escape(TEXT), text)]
    return any(
        (mark := _mark_at(text, start)) and not text[start - 1] == text[end : end + 1] == mark for start, end in places
    )


def _filled(text: str, placeholder: str, value: str) -> str:
    """The value is quoted by itself: quotes it would be in end before it, and begin again after it."""

    def quoted(found: re.Match[str]) -> str:
        mark = _mark_at(text, found.start())
        return f"{mark}{value}{mark}"

    return re.sub(re.escape(placeholder), quoted, text)


def _mark_at(text: str, at: int) -> str:
    """The quotation mark in whose text this place lies; empty outside of quotes, and in a `$(…)` within them."""
    within, here = [""], 0
    while found := re.compile("'" if within[-1] == "'" else _SIGN).search(text, here, at):
        sign, here = found[0], found.end()
        if sign == within[-1]:
            within.pop()
        elif sign in _CLOSED_BY and not (within[-1] == '"' and sign in {"'", "("}):
            within.append(_CLOSED_BY[sign])
    return within[-1] if within[-1] in {"'", '"'} else ""
