"""bun test (JUnit report) and deno test (output lines)."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final

from kotef.checks.reports import status_of_case
from kotef.checks.runners.javascript_rows import by_titles
from kotef.checks.runners.line_reports import Lines, add, read_by, tests_in
from kotef.checks.runners.plugin_reports import place_of
from kotef.checks.runners.row import Leavings, Runner, RunnerCommand, Statuses, as_counted_exactly
from kotef.checks.runners.xml_reports import cases_in
from kotef.integrity import name_part, numbered, test_id

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from kotef.checks.types import TestStatus

_BUN_PLACE: Final = re.compile(r"(?P<place>[\w./-]+\.\w+):$")
_BUN: Final = Lines(
    "",
    re.compile(r"(?P<status>\(pass\)|\(fail\)|\(skip\)|\(todo\)|✓|✗|»|✎) (?P<name>\S.*?)(?: \[[\d.]+m?s\])?$"),
    {"(pass": "passed", "✓": "passed", "(fail": "failed", "✗": "failed", "(skip": "skipped", "»": "skipped",
     "(todo": "skipped", "✎": "skipped"},
    _BUN_PLACE,
)  # fmt: skip
_DENO: Final = Lines(
    " ... ",
    re.compile(r"(?P<name>\S.*?) \.\.\. (?P<status>ok|FAILED|ignored)(?: \(.*\))?$"),
    {"ok": "passed", "FAILED": "failed", "ignored": "skipped"},
    re.compile(r"running \d+ tests? from (?:\./)?(?P<place>\S+)$"),
)
_DENO_UNCAUGHT: Final = re.compile(r"Uncaught error from (?:\./)?(?P<place>\S+) FAILED$")
_DENO_TAKEN: Final = re.compile(
    r"-c|--(?:config|import-map|lock|reporter|filter|junit-path|cert|env-file|ignore|shuffle|doc|no-run|fail-fast)(?:=.*)?"
)


def bun_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """Options for `bun test`, which other commands of bun ignore; bun still prints its usual lines."""
    path = command.folder / "bun.xml"
    before = env.get("BUN_OPTIONS", "")
    if "--reporter" in before or re.search(r"\s", str(path)):
        return {}
    return {"BUN_OPTIONS": f"{before} --reporter=junit --reporter-outfile={path}".strip()}


def bun_report(left: Leavings) -> Statuses | None:
    """The tests of the report, and the files that cannot be run, which only the output names."""
    root = left.command.root.resolve()

    def cases(report: "Element") -> Iterator[tuple[str, "TestStatus"]]:
        seen: Counter[str] = Counter()
        for file in report.findall("testsuite"):
            place = place_of(str(root / (file.get("file") or "")), file.get("name") or "", root)
            for parts, case in _below(file, ()):
                yield numbered(seen, test_id(place, *parts)), status_of_case(case)

    tests = cases_in(left.command.folder, r"bun\.xml", cases)
    if tests is None:
        return None
    for file in _bun_errors((*left.out, *left.err)):
        add(tests, name_part(file), "error")
    return tests


def _below(suite: "Element", above: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], "Element"]]:
    for child in suite:
        names = (*above, child.get("name") or "")
        if child.tag == "testcase":
            yield names, child
        elif child.tag == "testsuite":
            yield from _below(child, names)


def _bun_errors(lines: Sequence[str]) -> Iterator[str]:
    place = ""
    for line in lines:
        if found := _BUN_PLACE.match(line):
            place = found["place"]
        elif line == "# Unhandled error between tests" and place:
            yield place


def deno_lines(left: Leavings) -> Statuses | None:
    """The lines of tests and of files that cannot be run; a step belongs to its test."""
    lines = (*left.out, *left.err)
    tests = tests_in(_DENO, lines)
    for found in filter(None, map(_DENO_UNCAUGHT.match, lines)):
        add(tests, name_part(found["place"]), "error")
    return tests or None


def deno_single(arguments: Sequence[str], tests: Sequence[str], exists: Callable[[str], bool]) -> list[str] | None:
    """`--filter` with the names, and the files of the tests."""
    files = dict.fromkeys(test.partition("::")[0] for test in tests)
    chosen = arguments[:1] != ["test"] or any(_DENO_TAKEN.fullmatch(word) for word in arguments)
    if chosen or not all(map(exists, files)) or any("::" not in test for test in tests):
        return None
    names = "|".join(re.escape(test.partition("::")[2]).replace("/", r"\/") for test in tests)
    return [*(word for word in arguments if word == "test" or word.startswith("-")), f"--filter=/^({names})$/", *files]


BUN: Final = Runner(
    name="bun test",
    ids="`path::describe::test`; for a file that cannot be run, its path",
    tools=frozenset({"bun"}),
    environment=bun_environment,
    report=bun_report,
    lines=read_by(_BUN),
    closing="bun",
    single=by_titles("-t", r"-t|--test-name-pattern|--bail", command="test"),
)
DENO: Final = Runner(
    name="deno test",
    ids="`path::name`; for a file that cannot be run, its path",
    tools=frozenset({"deno"}),
    lines=deno_lines,
    closing="deno",
    agrees=as_counted_exactly,
    single=deno_single,
)
