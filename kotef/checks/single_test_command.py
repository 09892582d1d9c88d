"""Command lines that run single tests alone, and the tests that passed that way."""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from posixpath import normpath
from typing import Final

from kotef.checks.runners import single_tests
from kotef.checks.runners.python_rows import dotted_name
from kotef.checks.types import CommandResult
from kotef.failures.history import MAX_TESTS
from kotef.shell import SHELL_NAME, links, unwrap

_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"$`\\!]*\"")
_EXPANDED: Final = re.compile(r"[|&;<>()$`*?{}~\\#!\n'\"]")
"""What a shell would read as more than words, once quoted texts are taken out."""
_ASSIGNMENT: Final = re.compile(r"(\w+)=(.*)", re.DOTALL)

MAX_LINE: Final = 60_000
"""Characters of a command line; Linux takes twice as many bytes in one argument."""


def alone(command: str, tests: Sequence[str], *, exists: Callable[[str], bool]) -> str | None:
    """The command line that runs only these tests; None if the command is not a plain run of one known runner.

    `tests` are ids of the report, or names as the runner prints them; `exists` says whether a path of the
    workspace is there. Options stay, except for those that end a run early. Of a chain (`cmake --build build && ctest`)
    what is in front of the runner stays too. Behind make, tox or other operators no id can be given. A command that
    was misread does not run, or runs other tests: its report tells, and nothing is concluded from it.
    """
    chain = _chain(command)
    at = next((number for number, link in enumerate(chain) if unwrap(shlex.join(link)).purpose == "test"), None)
    if at is None or not tests or any(test.startswith("-") for test in tests):
        return None
    if any(unwrap(shlex.join(link)).purpose == "test" for link in chain[at + 1 :]):
        return None
    folder = _folder(chain[:at])
    if folder is None:
        return None
    below = f"{folder}/" if folder else ""
    chosen = _alone(chain[at], [test.removeprefix(below) for test in tests], lambda path: exists(f"{below}{path}"))
    if chosen is None:
        return None
    line = " && ".join([*(" ".join(_quoted(link, ())) for link in chain[:at]), chosen])
    return line if len(line) <= MAX_LINE else None


def _chain(command: str) -> list[list[str]]:
    """The words of each link of a chain of `&&`, also inside of `sh -c`; none where there is more to it than words."""
    bare = _QUOTED.sub("", command)
    if _EXPANDED.search(bare.replace("&&", " ")):
        return []
    chain = [list(link.words) for link in links(command)]
    match chain:
        case [[shell, "-c", inner]] if SHELL_NAME.fullmatch(PurePosixPath(shell).name):
            return _chain(inner)
        case _:
            return chain


def _folder(chain: Iterable[Sequence[str]]) -> str | None:
    """Where the links in front have gone, from the root; empty for the root, None for a place outside or unknown."""
    gone = [link[1:] for link in chain if link[0] == "cd"]
    if any(len(words) != 1 or words[0].startswith(("-", "/")) for words in gone):
        return None
    folder = normpath("/".join(["", *(words[0] for words in gone)]).lstrip("/"))
    if folder == ".." or folder.startswith("../"):
        return None
    return "" if folder == "." else folder


def _alone(words: list[str], tests: Sequence[str], exists: Callable[[str], bool]) -> str | None:
    tools = unwrap(shlex.join(words)).tools
    if len(tools) != 1:
        return None
    start = next((at for at, word in enumerate(words) if PurePosixPath(word).name == tools[0]), None)
    if start is None:
        return None
    head, arguments = words[: start + 1], words[start + 1 :]
    chosen = single_tests(tools[0], arguments, tests, exists)
    return " ".join(_quoted(head, chosen)) if chosen is not None else None


def passed_alone(tests: Sequence[str], again: CommandResult) -> tuple[str, ...]:
    """Which of the tests the run of them alone says have passed.

    By the report; else (unittest) those it does not call failing, if as many ran as were asked for, and none at all
    where the run did not come to its end.
    """
    if again.timed_out or again.detail == "contradiction":
        return ()
    if again.tests is not None:
        return tuple(test for test in tests if again.tests.get(test) == "passed")
    names = {dotted_name(test) for test in tests}
    if again.tests_executed != len(names) or len(again.failing) >= MAX_TESTS or (again.kind and not again.failing):
        return ()
    failing = {dotted_name(test) for test in again.failing}
    return tuple(test for test in tests if dotted_name(test) not in failing)


def _quoted(head: Iterable[str], arguments: Iterable[str]) -> Iterable[str]:
    """Words for a shell; assignments in front stay assignments."""
    assigning = True
    for word in head:
        matched = _ASSIGNMENT.fullmatch(word) if assigning else None
        assigning = matched is not None or word == "env"
        yield f"{matched[1]}={shlex.quote(matched[2])}" if matched else shlex.quote(word)
    yield from map(shlex.quote, arguments)
