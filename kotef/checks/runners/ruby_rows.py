"""RSpec and minitest: plug-ins from kotef that record results."""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Final

from kotef.checks.runners.plugin_reports import report_of
from kotef.checks.runners.plugins import copy_of, first_on
from kotef.checks.runners.row import REPORT_FOLDER, Runner, RunnerCommand

_RSPEC_CHOICE: Final = re.compile(r"-[eEtPn]|--(?:example|example-matches|tag|pattern|only-failures)(?:=.*)?")


def rspec_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """`--require` in SPEC_OPTS; formatters and other required files stay."""
    path = copy_of(command.folder, "rspec_report.rb") / "rspec_report.rb"
    if re.search(r"[\s\"'\\]", str(path)):
        return {}
    options = f"{env.get('SPEC_OPTS', '')} --require {path}".strip()
    return {REPORT_FOLDER: str(command.folder), "SPEC_OPTS": options}


def minitest_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """A folder with the plug-in, first on the load path."""
    folder = copy_of(command.folder, "kotef_plugin.rb", to="ruby/minitest").parent
    return {REPORT_FOLDER: str(command.folder), "RUBYLIB": first_on(env.get("RUBYLIB", ""), folder)}


def rspec_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """The files, and a pattern for the full descriptions."""
    files = list(dict.fromkeys(test.partition("::")[0] for test in tests))
    if not all(map(exists, files)) or any("::" not in test for test in tests):
        return None
    kept = [word for word in arguments if not exists(re.sub(r"[:\[].*", "", word))]
    if any(_RSPEC_CHOICE.fullmatch(word) for word in kept):
        return None
    names = (r"\s*".join(map(_pattern, test.split("::")[1:])) for test in tests)
    kept = [word for word in kept if word not in {"--fail-fast", "--next-failure"}]
    return [*kept, "--example-matches", f"^(?:{'|'.join(dict.fromkeys(names))})$", *files]


def minitest_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`--name` with a pattern in rake's TESTOPTS, which a shell parses again."""
    if any(test.count("::") < 2 or "'" in test for test in tests):  # noqa: PLR2004 - place, class and test
        return None
    names = (test.partition("::")[2].rpartition("::")[::2] for test in tests)
    patterns = (rf"{_pattern(place)}#(?:test_\d+_)?{_pattern(name)}" for place, name in names)
    pattern = f"/^(?:{'|'.join(dict.fromkeys(patterns))})$/"
    if arguments and all(re.fullmatch(r"[\w:]+", word) for word in arguments):
        return [*arguments, f"TESTOPTS=--name='{pattern}'"]
    return None


def _pattern(text: str) -> str:
    """The text as a Ruby regular expression; a space matches any white space, which ids do not keep."""
    return re.sub(r"([^\w\s])", r"\\\1", text).replace(" ", r"\s+")


RSPEC: Final = Runner(
    name="RSpec",
    ids="`path::describe::it`; for a file that cannot be loaded, its path",
    tools=frozenset({"rspec"}),
    environment=rspec_environment,
    closing="rspec",
    report=report_of("rspec"),
    single=rspec_single,
)
MINITEST: Final = Runner(
    name="minitest",
    ids="`path::Class::test`; a spec without its number",
    tools=frozenset({"rake"}),
    environment=minitest_environment,
    closing="minitest",
    report=report_of("minitest"),
    single=minitest_single,
)
