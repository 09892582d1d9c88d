"""JavaScript test runners whose results a plug-in records; Node loads it before the program."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from kotef.checks.runners.plugin_reports import report_of
from kotef.checks.runners.plugins import copy_of
from kotef.checks.runners.row import REPORT_FOLDER, Runner, RunnerCommand, Single

_PLUGINS: Final = ("preload.cjs", "reporter.mjs", "mocha_hooks.cjs", "ava_messages.cjs", "playwright_reporter.cjs")
_OPTION_WITH_VALUE: Final = re.compile(r"--(?:test-)?(?:reporter|require|import|config|timeout)|-[rcRt]")


def node_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """The plug-in as the first module; it checks the version of Node itself, so any version can load it."""
    folder = copy_of(command.folder, *_PLUGINS)
    module = str(folder / "preload.cjs")
    if re.search(r"[\s\"'\\]", module):
        return {}
    options = f"--require {module} {env.get('NODE_OPTIONS', '')}".strip()
    reporter = env.get("PW_TEST_REPORTER") or str(folder / "playwright_reporter.cjs")
    return {REPORT_FOLDER: str(command.folder), "NODE_OPTIONS": options, "PW_TEST_REPORTER": reporter}


def node_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """`--test` with the names as patterns, and the files of the tests."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if not all(map(exists, files)) or any("::" not in test for test in tests):
        return None
    kept = [word for word in arguments if word.startswith("-")]
    if any(_OPTION_WITH_VALUE.fullmatch(word) or word.startswith("--test-name-pattern") for word in kept):
        return None
    names = dict.fromkeys(name for test in tests for name in test.split("::")[1:])
    return [*kept, *(f"--test-name-pattern=^{_escaped(name)}$" for name in names), *files]


def by_titles(option: str, taken: str, between: str = r"\s+", command: str = "") -> Single:
    """The arguments, and the option with one pattern for the full titles.

    None if an argument matches `taken`, or if the first one is not `command`.
    """

    def single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
        if not _may_choose(arguments, tests, taken) or (command and arguments[:1] != [command]):
            return None
        return [*arguments, option, _titles(tests, exists, between)]

    return single


def ava_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and each title as a pattern; None if a title contains a wildcard."""
    if not _may_choose(arguments, tests, r"-m|--match|--fail-fast"):
        return None
    titles = dict.fromkeys(test.partition("::")[2] for test in tests)
    if any(re.search(r"[*!\\]", title) for title in titles):
        return None
    return [*arguments, *(f"--match={title}" for title in titles)]


def playwright_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and one pattern for the ends of the titles, which begin with the file and the project."""
    if arguments[:1] != ["test"] or not _may_choose(arguments, tests, r"-g|-x|--(?:grep|max-failures|last-failed)"):
        return None
    titles = dict.fromkeys(test.rpartition("::")[2] for test in tests)
    return [*arguments, "--grep", rf"(?:^|\s)(?:{'|'.join(map(_escaped, titles))})$"]


def _may_choose(arguments: Sequence[str], tests: Sequence[str], taken: str) -> bool:
    """Whether no argument selects tests already, and every id has a title."""
    return all("::" in test for test in tests) and not any(re.match(taken, word) for word in arguments)


def _titles(tests: Sequence[str], exists: Callable[[str], bool], between: str) -> str:
    """A pattern for full titles; the first part of an id may be its file. Vitest 1 adds a leading space."""
    names = [test.split("::") for test in tests]
    titles = (parts[1:] if exists(parts[0]) else parts for parts in names)
    patterns = dict.fromkeys(between.join(map(_escaped, parts)) for parts in titles)
    return rf"^\s*(?:{'|'.join(patterns)})$"


def _escaped(text: str) -> str:
    """The text as a JavaScript regular expression; a space matches any white space, which ids do not keep.

    A number at the end is optional: kotef adds it to tests of the same name.
    """
    if numbered := re.fullmatch(r"(.*) \((\d+)\)", text):
        return rf"{_escaped(numbered[1])}(?:\s+\({numbered[2]}\))?"
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text).replace(" ", r"\s+")


def _row(name: str, single: Single, ids: str, **more: Any) -> Runner:
    """A runner whose results the plug-in records; tests of the same name are numbered."""
    tool = {"node:test": "node"}.get(name, name)
    report = report_of(tool, repeats=False)
    return Runner(name=name, ids=ids, tools=frozenset({tool}), report=report, single=single, **more)


_OF_TITLES: Final = "`path::describe::title`; for a file that cannot be run, its path"

NODE_TEST: Final = _row(
    "node:test",
    node_single,
    "`path::suite::name`; for a file that fails as a whole, its path",
    environment=node_environment,
)
MOCHA: Final = _row(
    "mocha",
    by_titles("--grep", r"-[gfb]|--(?:grep|fgrep|bail)"),
    "`path::suite::title`; for a failing hook, its suite",
    failing_status=lambda status, failed: status == failed,
)
JEST: Final = _row("jest", by_titles("-t", r"-t|--testNamePattern|--bail"), _OF_TITLES)
VITEST: Final = _row("vitest", by_titles("-t", r"-t|--testNamePattern|--bail", r"(?:\s+>)?\s+"), _OF_TITLES)
"""From version 5 on ` > ` is between the titles."""
AVA: Final = _row(
    "ava", ava_single, "`path::title`; for a failing hook its title, for a file that cannot be run its path"
)
PLAYWRIGHT: Final = _row(
    "playwright", playwright_single, "`path::describe::title`, with several projects `path::project::describe::title`"
)
