"""Wrong answers for shell test scripts: comparisons whose failure ends the script."""

import random
import re
from collections.abc import Collection, Iterator
from fnmatch import fnmatchcase
from typing import Final

from kotef.integrity.probes.oracles.near_values import near_integer, near_text, other_character
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, OracleKind, WrongAnswer, wrong_answer
from kotef.source import SourceText, TextEdit

SUFFIXES: Final = (".sh", ".bash")
FIRST_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")

_WORD: Final = r"(?:\$\([^()]*\)|\"(?:\\.|[^\"\\])*\"|'[^']*'|[^\s\"';|&()<>\]]+)+"
_COMPARISON: Final = re.compile(
    rf"(?P<open>\[\[?|\btest\b)\s+(?P<left>{_WORD})\s+(?P<operator>==?|!=|-eq|-ne)\s+(?P<right>{_WORD})(?P<close>\s+\]\]?)?"
)
_COMMAND: Final = re.compile(rf"(?:diff|cmp|(?:[ef]?grep)\s+-[a-zA-Z]*q[a-zA-Z]*)(?:\s+(?!\|){_WORD})+")
_COMPARED: Final = re.compile(r"(?:^|[\s;|&(!])(?:diff|cmp)\s+([^\n;|&<>]+)", re.MULTILINE)
_SCRIPT: Final = re.compile(r"(?<![\w./$-])(?<!\. )(?<!source )(?:\./)?((?:[\w.*?-]+/)*[\w.*?-]+\.(?:sh|bash))\b")
_LEAVES: Final = re.compile(r"\b(?:exit|return|fail|die|abort|error|false)\b")
_SET_E: Final = re.compile(r"^\s*set\s+-\w*e|^#!.*sh\s+-\w*e", re.MULTILINE)
_HEREDOC: Final = re.compile(r"<<-?\s*[\"']?(\w+)")


def shell_answers(path: str, content: bytes, chance: random.Random) -> Iterator[WrongAnswer]:
    """Each comparison of a script; which of them are reached only a run can know."""
    source = SourceText.of_bytes(content)
    if source is None:
        return
    ends_early = bool(_SET_E.search(source.text))
    for start, line in _lines(source):
        for oracle in _of_line(start, line, chance, ends_early=ends_early):
            answer = wrong_answer(path, source, oracle)
            if answer is not None:
                yield answer


def compared_files(text: str) -> Iterator[str]:
    """Words that `diff` and `cmp` are given, without options and redirections."""
    for found in _COMPARED.finditer(text):
        for word in found[1].split():
            plain = word.strip("\"'")
            if re.fullmatch(r"[\w./][\w./+-]*", plain):
                yield plain


def scripts_run(content: bytes, paths: Collection[str]) -> Iterator[str]:
    """Scripts that a script names, also by a pattern such as `tests/*.sh`, but does not source."""
    source = SourceText.of_bytes(content)
    for found in _SCRIPT.finditer(source.text if source else ""):
        yield from sorted(path for path in paths if fnmatchcase(path, found[1]))


def _lines(source: SourceText) -> Iterator[tuple[int, str]]:
    """Lines of commands: no comments, no here-documents, no continued lines."""
    until = ""
    is_continued = False
    for number, start in enumerate(source.line_starts, 1):
        line = source.line(number)
        if until:
            until = "" if line.strip() == until else until
            continue
        found = _HEREDOC.search(line)
        until = found[1] if found else ""
        was_continued, is_continued = is_continued, line.rstrip().endswith(("\\", "|", "&&"))
        if not (found or was_continued or is_continued or line.lstrip().startswith("#") or not _is_closed(line)):
            yield start, line


def _is_closed(line: str) -> bool:
    """Whether no quote stays open at its end."""
    return not re.search(r"[\"']", re.sub(r"\\.|\"(?:\\.|[^\"\\])*\"|'[^']*'", "", line))


def _of_line(start: int, line: str, chance: random.Random, *, ends_early: bool) -> Iterator[OracleEdit]:
    body = line.lstrip()
    first = start + len(line) - len(body)
    if found := _COMPARISON.match(body.removeprefix("if ")):
        offset = len(body) - len(body.removeprefix("if "))
        yield from _of_comparison(
            first + offset,
            body[offset:],
            found,
            chance,
            is_if=offset > 0,
            ends_early=ends_early,
            is_outermost=body == line,
        )
    elif found := _COMMAND.match(body):
        rest = body[found.end() :].strip()
        if re.match(r"(?:>\s*/dev/null\s*)?(?:2>&1\s*)?\|\|", rest) and _LEAVES.search(rest):
            yield OracleEdit(
                "condition", (TextEdit(first, first, "! "),), (TextEdit(first, first + found.end(), "false"),)
            )
        elif not rest and ends_early:
            at = first + found.end()
            edits = (TextEdit(first, first, "! "), TextEdit(at, at, " || exit 1"))
            yield OracleEdit("condition", edits, (TextEdit(first, at, "false"),))


def _of_comparison(
    first: int,
    body: str,
    found: re.Match[str],
    chance: random.Random,
    *,
    is_if: bool,
    ends_early: bool,
    is_outermost: bool,
) -> Iterator[OracleEdit]:
    """`[ A = B ] || fail`, the same alone under `set -e`, and `[ A != B ] && fail`, also as `if …; then fail`."""
    if found["open"] != "test" and not found["close"]:
        return
    rest = body[found.end() :].strip()
    is_equal = found["operator"] in {"=", "==", "-eq"}
    if is_if:
        fits = not is_equal and bool(re.match(r";\s*then\s.*\bexit\s+[1-9]", rest))
    elif is_equal:
        fits = (rest.startswith("||") and bool(_LEAVES.search(rest))) or (not rest and ends_early)
    else:
        fits = rest.startswith("&&") and bool(_LEAVES.search(rest)) and "||" not in rest
    changed = _other_word(found, chance) if fits else None
    if changed is None:
        return
    kind, side, text = changed
    edit = TextEdit(first + found.start(side), first + found.end(side), text)
    halt, ending = (
        TextEdit(first + found.start(), first + found.end(), command)
        for command in ("false" if is_equal else "true", "kill -9 $$")
    )
    ends_script = is_outermost and ("exit" in rest or not rest)
    yield OracleEdit(kind, (edit,), (halt,), ending=(ending,) if ends_script else ())


def _other_word(found: re.Match[str], chance: random.Random) -> tuple[OracleKind, str, str] | None:
    """The side that is a literal made another word; else one more character behind the right side."""
    is_number = found["operator"] in {"-eq", "-ne"}
    sides = [side for side in ("right", "left") if not re.search(r"[$`*?\\]", found[side].replace("\\", "$"))]
    for side in sides:
        word = found[side]
        if is_number:
            return ("literal", side, str(near_integer(int(word), (), chance))) if re.fullmatch(r"\d+", word) else None
        if re.fullmatch(r"\"[^\"]*\"|'[^']*'", word):
            text = near_text(word, chance)
            return ("literal", side, text) if text else None
        places = [at for at, character in enumerate(word) if character.isascii() and character.isalnum()]
        if places and re.fullmatch(r"[\w./:+-]+", word):
            at = chance.choice(places)
            return "literal", side, word[:at] + other_character(word[at], chance) + word[at + 1 :]
    if found["open"] == "[[" and not found["right"].startswith('"'):  # a pattern may match more
        return None
    return "wrapped", "right", f"{found['right']}{chance.randint(1, 9)}"
