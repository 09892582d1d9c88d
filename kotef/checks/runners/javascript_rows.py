"""node:test, mocha, jest and vitest, watched from a module that Node loads before the program."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kotef.checks.runners.plugins import copy_of
from kotef.checks.runners.records import report_of
from kotef.checks.runners.row import REPORT_FOLDER, Command, Runner

_OPTION_WITH_VALUE: Final = re.compile(r"--(?:test-)?(?:reporter|require|import|config|timeout)|-[rcRt]")


def node_environment(command: Command, env: Mapping[str, str]) -> dict[str, str]:
    """Our module in front of the others; it looks at the version of Node itself, so any version may load it."""
    module = str(copy_of(command.folder, "preload.cjs", "reporter.mjs", "mocha_hooks.cjs") / "preload.cjs")
    if re.search(r"[\s\"'\\]", module):
        return {}
    options = f"--require {module} {env.get('NODE_OPTIONS', '')}".strip()
    return {REPORT_FOLDER: str(command.folder), "NODE_OPTIONS": options}


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


def _titles(tests: Sequence[str]) -> str:
    titles = dict.fromkeys(" ".join(test.split("::")[1:]) for test in tests)
    return f"^(?:{'|'.join(map(_escaped, titles))})$"


def _escaped(text: str) -> str:
    """The text for a regular expression of JavaScript; layout that an id does not keep matches any."""
    return re.sub(r"([\\^$.*+?()\[\]{}|/])", r"\\\1", text).replace(" ", r"\s+")


NODE_TEST: Final = Runner(
    name="node:test",
    ids="`path::suite::name`; a file that fails as a whole by its path",
    tools=frozenset({"node"}),
    environment=node_environment,
    report=report_of("node"),
    single=node_single,
)
MOCHA: Final = Runner(
    name="mocha",
    ids="`path::suite::title`; a failing hook as its suite",
    tools=frozenset({"mocha"}),
    report=report_of("mocha"),
    single=mocha_single,
    failing_status=lambda status, failed: status == failed,
)
JEST: Final = Runner(
    name="jest",
    ids="`path::describe::title`; a file that cannot be run by its path",
    tools=frozenset({"jest"}),
    report=report_of("jest"),
    single=jest_single,
)
VITEST: Final = Runner(
    name="vitest",
    ids="`path::describe::title`; a file that cannot be run by its path",
    tools=frozenset({"vitest"}),
    report=report_of("vitest"),
    single=jest_single,
)
