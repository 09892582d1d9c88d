"""pytest, by its JUnit report, and unittest, by a `sitecustomize` that records results."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kotef.checks.reports import MAX_REPORT, parse_junit, report_request
from kotef.checks.runners.line_reports import together
from kotef.checks.runners.plugin_reports import report_of
from kotef.checks.runners.plugins import copy_of, first_on
from kotef.checks.runners.report_files import written_files
from kotef.checks.runners.row import REPORT_FOLDER, Leavings, Runner, RunnerCommand, Statuses
from kotef.checks.types import RED
from kotef.files import read_within

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
"""Arguments that name tests in a way that cannot be distinguished from an option's value."""
_HERE: Final = re.compile("")
_REPORT: Final = re.compile(r"junit(?:-\d+)?\.xml")
_UNITTEST_NAME: Final = re.compile(r"(\w+) \(([\w.]+)\)")
"""`test_x (test_a.A.test_x)`; before Python 3.11 `test_x (test_a.A)`."""
_PASSED_ON: Final = "testenv.pass_env+=PYTEST_ADDOPTS"
"""What is asked of tox, unless the user asked it for something else."""


def pytest_report(left: Leavings) -> Statuses | None:
    """The tests of pytest's JUnit reports, one for each process; None if one is damaged.

    A later run of failed tests only replaces their results, as in `pytest || pytest --lf`.
    """
    files = written_files(left.command.folder, left.started, _HERE, _REPORT)
    tests: Statuses | None = None
    for file in sorted(files, key=lambda file: file.changed):
        try:
            found = parse_junit(read_within(left.command.folder, file.path, largest=MAX_REPORT))
        except OSError:
            return None
        if found is None:
            return None
        before = tests or {}
        again = bool(found) and all(before.get(test) in RED for test in found)
        tests = before | found if again else together(before, found)
    return tests


def unittest_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The `sitecustomize` of kotef before all other modules, also inside tox."""
    folder = copy_of(command.folder, "sitecustomize.py")
    added = {REPORT_FOLDER: str(command.folder), "PYTHONPATH": first_on(env.get("PYTHONPATH", ""), folder)}
    if env.get("TOX_OVERRIDE") == _PASSED_ON:
        added["TOX_OVERRIDE"] = f"{_PASSED_ON},PYTHONPATH,{REPORT_FOLDER}"
    return added


def pytest_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """The options, then the ids instead of the paths among the arguments."""
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


def unittest_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments and a pattern for each test; None if there are patterns already, because they add up."""
    if any(word.startswith("-k") for word in arguments):
        return None
    patterns = list(dict.fromkeys(map(_pattern, tests)))
    if not all(patterns):
        return None
    kept = [word for word in arguments if word not in {"-f", "--failfast"}]
    return [*kept, *(word for pattern in patterns for word in ("-k", pattern))]


def dotted_name(test: str) -> str:
    """The dotted name of a test as unittest prints it; empty when it is none."""
    found = _UNITTEST_NAME.match(test)
    if found is None:
        return ""
    name, where = found.groups()
    return where if where.endswith(f".{name}") else f"{where}.{name}"


def _pattern(test: str) -> str:
    """The pattern for `-k`; of a path only the file's name, because the rest depends on the folder."""
    place, *names = test.split("::")
    if not names:
        dotted = dotted_name(test)
        return f"*{dotted}" if dotted else ""
    module = place.removesuffix("/__init__.py").removesuffix(".py").rpartition("/")[2]
    whole = ".".join((module, *names))
    return f"*{whole}" if re.fullmatch(r"[\w.]+", whole) else ""


PYTEST: Final = Runner(
    name="pytest",
    ids="`path::Class::test[param]`; for a file that cannot be collected, its path",
    tools=frozenset({"pytest", "py.test"}),
    environment=lambda command, env: report_request(command.folder, env),
    closing="pytest",
    report=pytest_report,
    single=pytest_single,
)
UNITTEST: Final = Runner(
    name="unittest",
    ids="`path::Class::test`; if setUpClass fails, `path::Class`; if the import fails, the path",
    tools=frozenset({"unittest"}),
    environment=unittest_environment,
    closing="unittest",
    report=report_of("unittest"),
    single=unittest_single,
)
