"""With which command line do single tests run alone, and which of them passed so?"""

import re
import shlex
from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePosixPath
from typing import Final

from kotef.checks.model import CommandResult
from kotef.failures.history import MAX_TESTS
from kotef.failures.unwrap import unwrap

_PYTEST: Final = frozenset({"pytest", "py.test"})
_QUOTED: Final = re.compile(r"'[^']*'|\"[^\"$`\\!]*\"")
_EXPANDED: Final = re.compile(r"[|&;<>()$`*?{}~\\#!\n'\"]")
"""What a shell would read as more than words, once quoted texts are taken out."""
_ASSIGNMENT: Final = re.compile(r"(\w+)=(.*)", re.DOTALL)

_VALUED: Final = (
    "-k -m -p -o -c -r -W -n --rootdir --confcutdir --basetemp --ignore --ignore-glob --deselect --override-ini "
    "--config-file --tb --color --capture --junitxml --junit-xml --cov --cov-config --cov-report --durations "
    "--log-level --timeout --dist --import-mode --verbosity --pythonwarnings --ds --dc --numprocesses"
)
"""Options of pytest and its common plugins whose value may be the next word, and may look like a path."""
_ENDS_EARLY: Final = re.compile(
    r"--exitfirst|--maxfail=.*|--lf|--last-failed|--ff|--failed-first|--nf|--new-first|--sw|--stepwise|--(?:sw|stepwise)-skip|--"
)
_WITH_X: Final = re.compile(r"-(?=[qvsl]*x)([qvslx]+)")
_READS_MORE: Final = re.compile(r"--pyargs|@.*")
"""Arguments that name tests in a way that cannot be told from an option's value."""

_UNITTEST_NAME: Final = re.compile(r"(\w+) \(([\w.]+)\)")
"""`test_x (test_a.A.test_x)`; before Python 3.11 `test_x (test_a.A)`."""

MAX_LINE: Final = 60_000
"""Characters of a command line; Linux takes twice as many bytes in one argument."""


def alone(command: str, tests: Sequence[str], *, exists: Callable[[str], bool]) -> str | None:
    """The command line that runs only these tests; None where the command is no plain run of pytest or unittest.

    `tests` are pytest's ids, or names as unittest prints them; `exists` says whether a path of the workspace is there.
    Options stay, but for those that end a run early. Behind make, tox or a shell's operators no id can be given. A
    command that was misread does not run, or runs other tests: its report tells, and nothing is concluded from it.
    """
    rest = _QUOTED.sub("", command)
    tools = unwrap(command).tools
    if _EXPANDED.search(rest) or len(tools) != 1 or not tests or any(test.startswith("-") for test in tests):
        return None
    words = shlex.split(command)
    start = next((at for at, word in enumerate(words) if PurePosixPath(word).name == tools[0]), None)
    if start is None:
        return None
    head, arguments = words[: start + 1], words[start + 1 :]
    chosen: list[str] | None = None
    if tools[0] in _PYTEST:
        chosen = _of_pytest(arguments, tests, exists)
    elif tools[0] == "unittest":
        chosen = _of_unittest(arguments, tests)
    if chosen is None:
        return None
    line = " ".join(_quoted(head, chosen))
    return line if len(line) <= MAX_LINE else None


def passed_alone(tests: Sequence[str], again: CommandResult) -> tuple[str, ...]:
    """Which of the tests the run of them alone says have passed.

    By the report; else (unittest) those it does not call failing, if as many ran as were asked for, and none at all
    where the run did not come to its end.
    """
    if again.timed_out or again.detail == "contradiction":
        return ()
    if again.tests is not None:
        return tuple(test for test in tests if again.tests.get(test) == "passed")
    asked = {_dotted(test) for test in tests}
    if again.tests_executed != len(asked) or len(again.failing) >= MAX_TESTS or (again.kind and not again.failing):
        return ()
    failing = {_dotted(test) for test in again.failing}
    return tuple(test for test in tests if _dotted(test) not in failing)


def _of_pytest(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """The options, then the ids; paths among the arguments are what was to be run before."""
    kept: list[str] = []
    before = ""
    for word in arguments:
        value_of, before = before, word
        if value_of in _VALUED.split():
            kept.append(word)
            before = ""
        elif value_of == "--maxfail":
            continue
        elif _READS_MORE.fullmatch(word):
            return None
        elif matched := _WITH_X.fullmatch(word):
            kept += [f"-{flags}"] if (flags := matched[1].replace("x", "")) else []
        elif word == "--maxfail" or _ENDS_EARLY.fullmatch(word):
            continue
        elif word.startswith("-") or not ("::" in word or exists(word)):
            kept.append(word)
    return [*kept, *tests]


def _of_unittest(arguments: Sequence[str], tests: Sequence[str]) -> list[str] | None:
    """The arguments and a pattern for each test; one that asks for patterns already would widen what runs."""
    if any(word.startswith("-k") for word in arguments):
        return None
    dotted = list(dict.fromkeys(_dotted(test) for test in tests))
    if not all(dotted):
        return None
    kept = [word for word in arguments if word not in {"-f", "--failfast"}]
    return [*kept, *(word for test in dotted for word in ("-k", f"*{test}"))]


def _dotted(test: str) -> str:
    """The dotted name of a test as unittest prints it; empty when it is none."""
    found = _UNITTEST_NAME.match(test)
    if found is None:
        return ""
    name, where = found.groups()
    return where if where.endswith(f".{name}") else f"{where}.{name}"


def _quoted(head: Iterable[str], arguments: Iterable[str]) -> Iterable[str]:
    """Words for a shell; assignments in front stay assignments."""
    assigning = True
    for word in head:
        matched = _ASSIGNMENT.fullmatch(word) if assigning else None
        assigning = matched is not None or word == "env"
        yield f"{matched[1]}={shlex.quote(matched[2])}" if matched else shlex.quote(word)
    yield from map(shlex.quote, arguments)
