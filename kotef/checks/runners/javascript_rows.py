"""Test runners of JavaScript: those watched from a module that Node loads first, and those whose TAP is read."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kotef.checks.runners.plugins import copy_of
from kotef.checks.runners.records import report_of
from kotef.checks.runners.row import REPORT_FOLDER, Command, Runner, Single

_PLUGINS: Final = ("preload.cjs", "reporter.mjs", "mocha_hooks.cjs", "ava_messages.cjs", "playwright_reporter.cjs")
_OPTION_WITH_VALUE: Final = re.compile(r"--(?:test-)?(?:reporter|require|import|config|timeout)|-[rcRt]")


def node_environment(command: Command, env: Mapping[str, str]) -> dict[str, str]:
    """Our module in front of the others; it looks at the version of Node itself, so any version may load it."""
    folder = copy_of(command.folder, *_PLUGINS)
    module = str(folder / "preload.cjs")
    if re.search(r"[\s\"'\\]", module):
        return {}
    options = f"--require {module} {env.get('NODE_OPTIONS', '')}".strip()
    reporter = env.get("PW_TEST_REPORTER") or str(folder / "playwright_reporter.cjs")
    return {REPORT_FOLDER: str(command.folder), "NODE_OPTIONS": options, "PW_TEST_REPORTER": reporter}


def node_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """`--test` with the names as patterns, and the files they are in."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if not all(map(exists, files)) or any("::" not in test for test in tests):
        return None
    kept = [word for word in arguments if word.startswith("-")]
    if any(_OPTION_WITH_VALUE.fullmatch(word) or word.startswith("--test-name-pattern") for word in kept):
        return None
    names = dict.fromkeys(name for test in tests for name in test.split("::")[1:])
    return [*kept, *(f"--test-name-pattern=^{_escaped(name)}$" for name in names), *files]


def mocha_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and one pattern for the whole titles."""
    if any(re.match(r"-[gfb]|--(?:grep|fgrep|bail)", word) for word in arguments) or any("::" not in t for t in tests):
        return None
    return [*arguments, "--grep", _titles(tests)]


def jest_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and one pattern for the whole titles."""
    if any(re.match(r"-t|--testNamePattern|--bail", word) for word in arguments) or any("::" not in t for t in tests):
        return None
    return [*arguments, "-t", _titles(tests)]


def vitest_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """As jest; from version 5 on ` > ` stands between the titles."""
    chosen = jest_single(arguments, tests, exists)
    return [*chosen[:-1], _titles(tests, between=r"(?:\s+>)?\s+")] if chosen else None


def ava_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and each title as a pattern in which nothing stands for more than itself."""
    if any(re.match(r"-m|--match|--fail-fast", word) for word in arguments) or any("::" not in t for t in tests):
        return None
    titles = dict.fromkeys(test.partition("::")[2] for test in tests)
    if any(re.search(r"[*!\\]", title) for title in titles):
        return None
    return [*arguments, *(f"--match={title}" for title in titles)]


def playwright_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """The arguments, and one pattern for the ends of the titles: the file and the project stand in front of them."""
    taken = any(re.match(r"-g|-x|--(?:grep|max-failures|last-failed)", word) for word in arguments)
    if arguments[:1] != ["test"] or taken or any("::" not in test for test in tests):
        return None
    titles = dict.fromkeys(test.rpartition("::")[2] for test in tests)
    return [*arguments, "--grep", rf"(?:^|\s)(?:{'|'.join(map(_escaped, titles))})$"]


def _titles(tests: Sequence[str], *, between: str = r"\s+") -> str:
    """A pattern for whole titles; Vitest 1 puts a blank in front of them."""
    titles = dict.fromkeys(between.join(map(_escaped, test.split("::")[1:])) for test in tests)
    return rf"^\s*(?:{'|'.join(titles)})$"


def _escaped(text: str) -> str:
    """The text for a regular expression of JavaScript; layout that an id does not keep matches any.

    A number behind it may be ours: it tells tests of the same name apart.
    """
    if numbered := re.fullmatch(r"(.*) \((\d+)\)", text):
        return rf"{_escaped(numbered[1])}(?:\s+\({numbered[2]}\))?"
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text).replace(" ", r"\s+")


NODE_TEST: Final = Runner(
    name="node:test",
    ids="`path::suite::name`; a file that fails as a whole by its path",
    tools=frozenset({"node"}),
    environment=node_environment,
    report=report_of("node", repeats=False),
    single=node_single,
)
MOCHA: Final = Runner(
    name="mocha",
    ids="`path::suite::title`; a failing hook as its suite",
    tools=frozenset({"mocha"}),
    report=report_of("mocha", repeats=False),
    single=mocha_single,
    failing_status=lambda status, failed: status == failed,
)
AVA: Final = Runner(
    name="ava",
    ids="`path::title`; a failing hook by its title, a file that cannot be run by its path",
    tools=frozenset({"ava"}),
    report=report_of("ava", repeats=False),
    single=ava_single,
)
PLAYWRIGHT: Final = Runner(
    name="playwright",
    ids="`path::describe::title`, with several projects `path::project::describe::title`",
    tools=frozenset({"playwright"}),
    report=report_of("playwright", repeats=False),
    single=playwright_single,
)


def _of_titles(name: str, single: Single) -> Runner:
    """Jest or Vitest, which call their tests alike."""
    return Runner(
        name=name,
        ids="`path::describe::title`; a file that cannot be run by its path",
        tools=frozenset({name}),
        report=report_of(name, repeats=False),
        single=single,
    )


JEST: Final = _of_titles("jest", jest_single)
VITEST: Final = _of_titles("vitest", vitest_single)
