"""Test programs that no runner lists: Makefile targets that build and run one, and those in a build folder."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from posixpath import basename, normpath
from typing import Final

from kotef.checks.project_config import readable_text
from kotef.files import walk_within

_RULE: Final = re.compile(r"^([\w.-]+(?: +[\w.-]+)*) *::?(?![=:])([^\n;#]*)")
_VARIABLE: Final = re.compile(r"^(?:export )?(\w+) *(?:::?|\?)?= *([^\n#]*)", re.MULTILINE)
_USED: Final = re.compile(r"\$[({](\w+)[)}]")
_SOURCE: Final = re.compile(r"(?:\./)?([\w./+-]+)\.(c|cc|cpp|cxx|m|o)\b")
_SUFFIXES: Final = ("c", "cc", "cpp", "cxx", "m")
_NAMED: Final = re.compile(r"(?:^|[_.-]|(?<=[a-z]))(?:tests?|testing|smoke|check|selftest|unittest|spec)(?:[_.-]|\d|$)")
_TESTS: Final = re.compile(
    r"^[ \t]*#[ \t]*include[ \t]*[<\"](?:\S*/)?(?:minctest|minunit|munit|greatest|acutest|utest|cutest|unity|ctest"
    r"|cmocka|criterion/criterion|check|picotest|tap|snow|catch|catch2/\S*|doctest|gtest/gtest)(?:\.h(?:pp)?)?[>\"]"
    r"|^[ \t]*(?:static[ \t]+)?(?:void|int|bool|char ?\*)[ \t]+(?:test_\w+|\w+_test)[ \t]*\("
    r"|^[ \t]*(?:TEST|TEST_F|TEST_CASE|UTEST|START_TEST)[ \t]*\(",
    re.MULTILINE,
)
"""What a source of tests says: the header of a framework, functions named after tests, their macros."""
_NO_TESTS: Final = re.compile(
    r"clean|install|bench|perf|fuzz|example|demo|repl|debug|valgrind|cov|doc|dist|lib", re.IGNORECASE
)
_PROGRAM: Final = re.compile(r"(?:^|[_-])(?i:unit|run|all|self)?_?(?i:tests?)(?:[_-]|\d|$)|(?<=[a-z])Tests?$")
_MOST: Final = 200
"""Entries of a folder, and folders of a build, that are looked at."""
_PROGRAMS: Final = 10
_FRAMEWORK: Final = frozenset({"CMakeFiles", "_deps", "Testing"})
"""Folders of a build that CMake fills itself."""
_NESTED: Final = 4
_LEAST: Final = 2
"""Functions of tests in a source whose name does not say."""


def targets_of_test_programs(root: Path, makefile: str) -> tuple[str, ...]:
    """The targets whose recipe starts what it has built from a source of tests; first where its name says so."""
    text = readable_text(root, makefile).replace("\\\n", " ")
    variables = {name: value.strip() for name, value in _VARIABLE.findall(text)}
    by_name: list[str] = []
    by_content: list[str] = []
    for target, needs, recipe in _rules(text):
        if _NO_TESTS.search(target) or not _is_run(target, recipe):
            continue
        sources = list(_sources(root, target, _expanded(f"{needs} {' '.join(recipe)}", variables)))
        if any(_NAMED.search(basename(path).rpartition(".")[0].lower()) for path in sources):
            by_name.append(target)
        elif any(len(_TESTS.findall(readable_text(root, path))) >= _LEAST for path in sources):
            by_content.append(target)
    return tuple(dict.fromkeys((*by_name, *by_content)))


def built_test_programs(root: Path, folder: str) -> tuple[str, ...]:
    """Paths of the programs in a build folder whose names say that they are tests; none if there are many of them."""
    found: list[str] = []
    for here, folders, others in islice(walk_within(root, folder, most=_MOST), _MOST):
        folders[:] = [name for name in folders if name not in _FRAMEWORK]
        found += [
            f"{here}/{name}"
            for name in others
            if "." not in name and _PROGRAM.search(name) and os.access(root / here / name, os.X_OK)
        ]
    return tuple(found) if len(found) <= _PROGRAMS else ()


def _rules(text: str) -> Iterator[tuple[str, str, list[str]]]:
    """Each target with what it needs and the lines of its recipe."""
    current: list[tuple[str, str, list[str]]] = []
    for line in text.splitlines():
        if line.startswith("\t"):
            for _, _, recipe in current:
                recipe.append(line.strip().lstrip("@-"))
        elif line.strip() and (rule := _RULE.match(line)):
            yield from current
            current = [(target, rule[2], []) for target in rule[1].split() if not target.startswith(".")]
    yield from current


def _is_run(target: str, recipe: list[str]) -> bool:
    """Whether a line of the recipe starts a program of the workspace: the target's own, or one in a folder."""
    program = rf"(?:\./)?(?:\$@|\$\(@\)|\$<|{re.escape(target)})|\./[\w./-]+|(?:build|bin|out|obj|tests?)/[\w./-]+"
    return any(re.match(rf"(?:\w+=\S* +)*(?:{program})(?: |$|;|&)", line) for line in recipe)


def _sources(root: Path, target: str, words: str) -> Iterator[str]:
    """The sources among the words, those of object files, and the one of the target's own name."""
    for stem, suffix in [*_SOURCE.findall(words), (target, "o")]:
        for ending in _SUFFIXES if suffix == "o" else (suffix,):
            path = normpath(f"{stem}.{ending}")
            if not path.startswith(("/", "..")) and (root / path).is_file():
                yield path


def _expanded(words: str, variables: dict[str, str]) -> str:
    for _ in range(_NESTED):
        words = _USED.sub(lambda match: variables.get(match[1], ""), words)
    return words
