"""Fixer for Python 2 statements that Python 3 cannot parse."""

import re
from collections.abc import Callable, Iterator
from typing import Final

from kotef.fixers.source import PythonText
from kotef.source import SourceEdit

# All patterns are matched against masked text: `§` is a character of a string, comments are blank.
_STATEMENT_ENDS = re.compile(r"[()\[\]{}]|\\\r?\n|\r\n|\r|\n|;|:|$")
_HEADER = re.compile(r"[ \t]*(?:if|elif|else|for|while|try|except|finally|with|def|class)\b")
_PRINT = re.compile(
    r"print(?!\w)(?![ \t]*(?:[(=.,)\]}+*/%&|^@:<-]|>(?!>)|(?:in|is|if|and|or|else|for|not[ \t]+in)\b)|\[)"
)
_TARGET = re.compile(r">>[ \t]*(?P<file>[\w.]+)[ \t]*(?:,[ \t]*|$)")
_EXEC = re.compile(r"exec[ \t]+(?!(?:in|is|if|and|or|not)\b)(?=[§\w])")
_IN = re.compile(r"(?<!\w)in(?!\w)")
_EXCEPT = re.compile(r"except[ \t]+(?:[\w.]+|\([\w., \t]+\))(?P<comma>[ \t]*,[ \t]*)[a-z_]\w*[ \t]*(?=:)")
_EXCEPTIONS = re.compile(r"except[ \t]+(?P<types>[\w.]+(?:[ \t]*,[ \t]*(?:\w+\.)*[A-Z]\w*)+)[ \t]*(?=:)")
_RAISE = re.compile(r"raise[ \t]+[A-Za-z_][\w.]*(?P<comma>[ \t]*,[ \t]*)(?=[^\s(])")
_UNEQUAL = re.compile(r"<>")
_BACKTICKS = re.compile(r"`(?P<inner>[^`\r\n]+)`")
_OCTAL = re.compile(r"(?<![\w.])0(?=(?:[1-7]|[0-7]{3})[lL]?(?![\w.]))")
_LONG = re.compile(r"(?<![\w.])(?:[1-9]\d*|0|0[xX][\da-fA-F]+|0o[0-7]+)(?P<suffix>[lL])(?!\w)")


def rewritten(text: str) -> tuple[str, list[str]]:
    """The text with every leftover written as Python 3 wants it, and the names of what was found.

    Only statements and signs that no Python 3 can read, so nothing is found in code of Python 3; a bare `print` is
    the one exception. Not guessed: division, the third part of `raise`, unpacking in parameters, `print (a), b`, and
    numbers such as `010`, which may have been meant as they look.
    """
    found = []
    for what, rule in _RULES.items():
        source = PythonText("", text)
        edited = source.merged(rule(source))
        if edited is not None and edited.text != text:
            text = edited.text
            found.append(what)
    return text, found


def _statements(source: PythonText) -> Iterator[tuple[int, int]]:
    """Simple statements: from their first character to behind their last, over brackets and continuation lines."""
    text, start, depth = source.masked, 0, 0
    for match in _STATEMENT_ENDS.finditer(text):
        char = match[0]
        if char in {"(", "[", "{"}:
            depth += 1
        elif char in {")", "]", "}"}:
            depth = max(0, depth - 1)
        elif char.startswith("\\") or (depth and char) or (char == ":" and not _HEADER.match(text, start)):
            continue
        else:
            statement = text[start : match.start()]
            yield start + len(statement) - len(statement.lstrip(" \t")), start + len(statement.rstrip())
            start = match.end()


def _prints(source: PythonText) -> Iterator[SourceEdit]:
    for start, end in _statements(source):
        match = _PRINT.match(source.masked, start, end)
        if match is None:
            continue
        arguments = source.text[match.end() : end].strip()
        masked = source.masked[match.end() : end].strip()
        target = _TARGET.match(masked)
        options = []
        if target:
            arguments, masked = arguments[target.end() :], masked[target.end() :]
            options.append(f"file={target['file']}")
        if masked.endswith(","):
            arguments = arguments[:-1].rstrip()
            options.insert(0, 'end=" "')
        inside = ", ".join([arguments, *options] if arguments else options)
        yield SourceEdit(source.path, start, end, f"print({inside})")


def _execs(source: PythonText) -> Iterator[SourceEdit]:
    for start, end in _statements(source):
        match = _EXEC.match(source.masked, start, end)
        if match:
            names = _IN.search(source.masked, match.end(), end)
            code = source.text[match.end() : names.start() if names else end].strip()
            inside = f"{code}, {source.text[names.end() : end].strip()}" if names else code
            yield SourceEdit(source.path, start, end, f"exec({inside})")


def _excepts(source: PythonText) -> Iterator[SourceEdit]:
    """`except E, name` bound a name, `except E, F` meant two exceptions: what is written large is not a variable."""
    for match in _EXCEPT.finditer(source.masked):
        yield SourceEdit(source.path, match.start("comma"), match.end("comma"), " as ")
    for match in _EXCEPTIONS.finditer(source.masked):
        yield SourceEdit(source.path, match.start("types"), match.end("types"), f"({match['types']})")


def _raises(source: PythonText) -> Iterator[SourceEdit]:
    for start, end in _statements(source):
        match = _RAISE.match(source.masked, start, end)
        if match and "," not in re.sub(r"\([^()]*\)|\[[^\[\]]*\]", "", source.masked[match.end() : end]):
            yield SourceEdit(source.path, match.start("comma"), end, f"({source.text[match.end() : end]})")


def _replaced(pattern: re.Pattern[str], group: str | int, text: str) -> Callable[[PythonText], Iterator[SourceEdit]]:
    def rule(source: PythonText) -> Iterator[SourceEdit]:
        for match in pattern.finditer(source.masked):
            yield SourceEdit(source.path, match.start(group), match.end(group), text)

    return rule


def _backticks(source: PythonText) -> Iterator[SourceEdit]:
    for match in _BACKTICKS.finditer(source.masked):
        inner = source.text[match.start("inner") : match.end("inner")]
        yield SourceEdit(source.path, match.start(), match.end(), f"repr({inner})")


_RULES: Final[dict[str, Callable[[PythonText], Iterator[SourceEdit]]]] = {
    "the print statement": _prints,
    "the exec statement": _execs,
    "`except E, e`": _excepts,
    '`raise E, "x"`': _raises,
    "`<>`": _replaced(_UNEQUAL, 0, "!="),
    "backticks": _backticks,
    "octal numbers": _replaced(_OCTAL, 0, "0o"),
    "long numbers": _replaced(_LONG, "suffix", ""),
}
