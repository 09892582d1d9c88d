"""Syntax check of an edited file, where its language has a grammar."""

import ast
import json
import tomllib
import warnings
from collections.abc import Callable
from typing import Any, Final

from kotef.tools.errors import ToolFault
from kotef.tools.text import clip_line
from kotef.tools.workspace_files import Place

MAX_CHARACTERS: Final = 1_000_000
"""Characters of the largest file that is parsed; a larger one is not checked."""
_WIDTH: Final = 120

Problem = tuple[int, str]
"""Line, from 1, and the parser's words."""


def refuse_broken(place: Place, old: str, new: str) -> None:
    """Raise `ToolFault` with the parser's words when the old text could be parsed and the new one cannot.

    A file of a language without a grammar here passes, and so does one that was broken before: an edit may be a part
    of its repair.
    """
    problem = broken_by(place.name, old, new)
    if problem is None:
        return
    number, words = problem
    lines = new.split("\n")
    line = clip_line(lines[number - 1].strip(), _WIDTH) if 0 < number <= len(lines) else ""
    raise ToolFault(
        "exec_error",
        f"{place.name} was not changed, the edit would break its syntax: line {number}: {words}: {line!r}; "
        "edits that only fit together go into one call",
        category="edit_mismatch",
    )


def broken_by(name: str, old: str, new: str) -> Problem | None:
    """What is wrong with the new text of a file of this name; None if the old one had a syntax error as well."""
    if max(len(old), len(new)) > MAX_CHARACTERS:
        return None
    problem_of = _check_of(name)
    problem = problem_of(new) if problem_of else None
    return problem if problem_of and problem and problem_of(old) is None else None


def _check_of(name: str) -> Callable[[str], Problem | None] | None:
    """What finds the first syntax error in a file of this name; None where nothing can."""
    ending = name.rpartition(".")[2].lower()
    if ending in {"json", "toml"}:
        return _json if ending == "json" else _toml
    from kotef.context.repomap.languages import language_of

    language = language_of(name)
    if language is None:
        return None
    from kotef.context.repomap.symbols import parser_of

    parser = parser_of(language)
    if language.name == "Python":
        return lambda text: _python(text, parser)
    return (lambda text: _by_grammar(text, parser)) if parser else None


def _json(text: str) -> Problem | None:
    try:
        json.loads(text)
    except json.JSONDecodeError as error:
        return error.lineno, error.msg
    except RecursionError:
        return None
    return None


def _toml(text: str) -> Problem | None:
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        words, _, where = str(error).rpartition(" (at line ")
        number = where.partition(",")[0]
        return (int(number), words) if number.isdigit() else (text.count("\n") + 1, str(error))
    except RecursionError:
        return None
    return None


def _python(text: str, parser: Any | None) -> Problem | None:
    """The interpreter's word, unless it may only be too old for the file: then the grammar must agree."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a doubtful escape is not a syntax error
            ast.parse(text)
    except SyntaxError as error:
        if parser is None or isinstance(error, IndentationError) or _by_grammar(text, parser):
            return error.lineno or 1, error.msg
    except (ValueError, RecursionError, MemoryError):
        return None
    return None


def _by_grammar(text: str, parser: Any) -> Problem | None:
    node = parser.parse(text.encode("utf-8", "replace")).root_node
    if not node.has_error:
        return None
    while not (node.is_error or node.is_missing):
        inside = next((child for child in node.children if child.has_error or child.is_missing), None)
        if inside is None:
            break
        node = inside
    words = f"missing {node.type!r}" if node.is_missing else "syntax error"
    return node.start_point[0] + 1, words
