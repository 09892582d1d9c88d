"""The single failures in the output of a check, one line each."""

import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kotef.checks.runners.python_rows import dotted_name
from kotef.checks.types import CommandResult
from kotef.classification import FailingTest, Output, diagnostics_of, failing_tests, from_root, places, read_output

MAX_TOLD: Final = 100
"""Failures shown of one check."""

_PLACE: Final = re.compile(r"(?P<file>.+?):(?P<line>\d+)(?::\d+)?")


class ReportedFailure(NamedTuple):
    """One failure: a test, a complaint about a line, or the command as a whole."""

    test: str
    """The id or name of the test; empty when it is none."""
    message: str
    file: str
    """From the workspace root, if it is in it; empty when no place was given."""
    line: int | None


def failure_line(test: str, message: str, file: str, line: int | None) -> str:
    """The failure as every report shows it: the test, what is wrong, and where."""
    at = f"{file}:{line}" if line else file
    place = f"({at})" if at and test and not (line is None and test.startswith(at)) else ""
    what = ": ".join(part for part in (test or at, " ".join(message.split())) if part)
    return f"{what} {place}".strip()


def failures_of(result: CommandResult, root: Path) -> tuple[ReportedFailure, ...]:
    """The failures of a check that did not pass, in the order of its output; at least one.

    Which tests failed comes from the report where there is one; messages and places are read from the output
    (heuristic), and may be missing.
    """
    if result.passed:
        return ()
    failures = list(_tests(result, root)) or list(_complaints(result, root))
    if not failures or result.detail in {"contradiction", "timeout"}:
        lines = result.summary.splitlines()
        at = next((_place(place) for place in places(lines)), ("", None)) if not failures else ("", None)
        failures.insert(0, ReportedFailure("", lines[0] if lines else "failed", *at))
    return tuple(failures[:MAX_TOLD])


def failed_lines(result: CommandResult, test: str, file: str, root: Path) -> tuple[int, ...]:
    """The lines of a file that the output names for one failing test, in its order (heuristic); may be empty."""
    read_so = _printed_of(test, failing_tests(_output(result, root)))
    found = [_place(place) for place in read_so.places] if read_so else []
    own = [line for path, line in found if path == file and line is not None]
    if own:
        return tuple(own)
    name = file.rpartition("/")[2]  # Go names files without their folder
    return tuple(line for path, line in found if path == name and line is not None)


def _printed_of(test: str, printed: Sequence[FailingTest]) -> FailingTest | None:
    """What the output says of a test: by its id, its last words, or its name alone, as Go and JavaScript print it."""
    read_so = next((each for each in printed if each.name == test), None) or _by_words(printed).get(_last_words(test))
    if read_so is not None:
        return read_so
    ends = [each for each in printed if each.name and re.search(rf"(?:::|/|\s){re.escape(each.name)}$", test)]
    return ends[0] if len(ends) == 1 else None


def _tests(result: CommandResult, root: Path) -> Iterator[ReportedFailure]:
    printed = failing_tests(_output(result, root))
    by_name = {test.name: test for test in printed}
    by_words = _by_words(printed)

    names = result.failing
    if result.tests is not None:
        names = tuple(test for test in result.tests if test in result.red_ids)
    alike = Counter(map(_last_words, names))
    for name in names:
        # What the output says of a name that several tests share is about one of them, and nothing says which.
        read_so = by_name.get(name) or (by_words.get(_last_words(name)) if alike[_last_words(name)] == 1 else None)
        places = [_place(place) for place in read_so.places] if read_so else []
        file, line = _place_of_test(name, places)
        error = " ".join(read_so.error.split()) if read_so else ""
        yield ReportedFailure(name, error, file, line)


def _place_of_test(name: str, places: Sequence[tuple[str, int | None]]) -> tuple[str, int | None]:
    """The place in the test's own file among those of the output, else the first; else the file of its id."""
    own = name.partition("::")[0]
    first = places[0] if places else ("", None)
    file, line = next((place for place in places if place[0] == own), first)
    if "::" not in name:
        return file, line
    if not file:
        return own, None
    if file.endswith(f"/{own}"):  # of another checkout, as in a replay
        return own, line
    return file, line


def _by_words(printed: Iterable[FailingTest]) -> dict[tuple[str, ...], FailingTest]:
    """Failing tests by the last words of the name that the runner prints, where these are one test's."""
    found: dict[tuple[str, ...], list[FailingTest]] = {}
    for test in printed:
        found.setdefault(_last_words(test.name), []).append(test)
    return {words: tests[0] for words, tests in found.items() if len(tests) == 1}


def _last_words(name: str) -> tuple[str, ...]:
    """The last two words of an id or a printed name: unittest, for one, prints `test_x (module.Class.test_x)`."""
    return tuple(re.findall(r"[^\W_]\w*", dotted_name(name) or name)[-2:])


def _complaints(result: CommandResult, root: Path) -> Iterator[ReportedFailure]:
    for found in diagnostics_of(_output(result, root)):
        file, _ = _place(f"{found.path}:1")
        line = re.match(r"\d+", found.line)
        yield ReportedFailure("", " ".join(found.message.split()), file, int(line[0]) if line else None)


def _output(result: CommandResult, root: Path) -> Output:
    """What the check printed, with workspace files relative to its root."""
    return read_output(*(from_root(text, str(root)) for text in (result.stdout, result.stderr)))


def _place(place: str) -> tuple[str, int | None]:
    """File and line of `file:line`."""
    matched = _PLACE.fullmatch(place)
    file, line = (matched["file"], int(matched["line"])) if matched else (place, None)
    return os.path.normpath(file), line
