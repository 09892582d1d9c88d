"""Targets: failing tests and checks that a person's text names."""

import re
from collections.abc import Iterable
from typing import Final

from kotef.checks.types import Check
from kotef.shell import TOOL_PURPOSES, Role, unwrap

_ROLE_WORDS: Final[dict[Role, re.Pattern[str]]] = {
    "lint": re.compile(r"\blint(?:er|ers|ing|s)?\b", re.IGNORECASE),
    "types": re.compile(r"\btype[- ]?(?:check(?:s|er|ers|ing)?|errors?)\b", re.IGNORECASE),
}
_FILE: Final = re.compile(r"\.\w{1,6}$")
_TELLING: Final = frozenset({"test", "lint", "types", "format"})


def names_check(text: str, check: Check) -> bool:
    """Whether the text holds the check's command, the name of its tool, or (lint and types) what it is for."""
    if re.search(rf"(?<!\w){re.escape(_squeezed(check.command))}(?![\w-])", _squeezed(text)):
        return True
    tools = [tool for tool in unwrap(check.command).tools if TOOL_PURPOSES.get(tool) in _TELLING]
    if any(re.search(rf"(?<![\w/.-]){re.escape(tool)}(?![\w-]|\.\w)", text, re.IGNORECASE) for tool in tools):
        return True
    words = _ROLE_WORDS.get(check.role)
    return words is not None and words.search(text) is not None


def named_tests(text: str, ids: Iterable[str]) -> tuple[str, ...]:
    """The ids that the text names: in full or without parameters, by test function, or by file.

    The more precise mention wins: where `tests/test_x.py::test_y` is written, neither another `test_y` nor the rest of
    the file is named; where a function of a file is named, the file is only its address.
    """
    ids = list(ids)
    in_full, text = _in_full(text, ids)
    by_function = {test for test in ids if _names_function(text, test)}
    addressed = {_file(test) for test in in_full | by_function}
    files = {file for file in {_file(test) for test in ids} - addressed if _names_file(text, file)}
    return tuple(test for test in ids if test in in_full or test in by_function or _file(test) in files)


def _in_full(text: str, ids: Iterable[str]) -> tuple[set[str], str]:
    """Ids written out, and the text without them; longest first, so that `test_y[1]` does not name all of `test_y`."""
    written: dict[str, list[str]] = {}
    for test in ids:
        for form in {test, _without_parameters(test)}:
            if _names_a_test(form) and form in text:
                written.setdefault(form, []).append(test)
    found: set[str] = set()
    for form in sorted(written, key=len, reverse=True):
        pattern = rf"(?<![\w/]){re.escape(form)}(?![\w\[]|::)"
        if re.search(pattern, text):
            found.update(written[form])
            text = re.sub(pattern, " ", text)
    return found, text


def _names_function(text: str, test: str) -> bool:
    """Whether the last part of the id is in the text as a word of its own; a plain English word names nothing."""
    name = _without_parameters(test).rsplit("::", 1)[-1]
    if not _names_a_test(test) or name not in text:
        return False
    if name.isalpha() and name.islower() and not name.startswith("test"):
        return False
    return name not in {"test", "tests"} and re.search(rf"(?<!\w){re.escape(name)}(?![\w\[])", text) is not None


def _names_a_test(test: str) -> bool:
    """Whether an id is more than a file, a folder or a plain word: it has parts, or is a name as code has them."""
    return "::" in test or ("/" not in test and not _FILE.search(test) and not test.isalpha())


def _names_file(text: str, file: str) -> bool:
    """Whether the path, or the file's bare name, is in the text, and not as the first part of an id."""
    base = file.rsplit("/", 1)[-1]
    return (
        "." in base
        and base in text
        and any(re.search(rf"(?<![\w./-]){re.escape(name)}(?![\w/]|::)", text) for name in (file, f"./{file}", base))
    )


def _file(test: str) -> str:
    return test.partition("::")[0]


def _without_parameters(test: str) -> str:
    return test.partition("[")[0]


def _squeezed(text: str) -> str:
    return " ".join(text.replace("`", " ").split())
