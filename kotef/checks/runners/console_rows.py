"""Runners whose verbose lines tell of each test: believed where as many ran and failed as the closing line counts."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from kotef.checks.model import TestStatus
from kotef.checks.reports import worse
from kotef.checks.runners.records import name_part
from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.failures.output import plain_lines

MAX_LINES: Final = 200_000
"""Lines of an output that are read."""


class Lines(NamedTuple):
    """How one runner prints the end of a test."""

    hint: str
    """A literal that every such line holds."""
    pattern: re.Pattern[str]
    """Matched at the start of a line; groups `name` and `status`, and perhaps `place`."""
    statuses: Mapping[str, TestStatus]
    """By the beginning of what `status` matched, first hit; what is in none of them is no end of a test."""
    heading: re.Pattern[str] | None = None
    """A line that names the place of the tests below it."""


def status_in(statuses: Mapping[str, TestStatus], text: str) -> TestStatus | None:
    """The status a word of the runner stands for."""
    return next((status for word, status in statuses.items() if text.startswith(word)), None)


def tests_in(rows: Lines, texts: Iterable[str]) -> Statuses:
    """Status of each test that the lines tell of; of several lines for one id the worst counts."""
    tests: Statuses = {}
    for text in texts:
        place = ""
        for line in plain_lines(text)[:MAX_LINES]:
            if rows.heading and (above := rows.heading.match(line)):
                place = above["place"]
            if rows.hint not in line or not (found := rows.pattern.match(line)):
                continue
            status = status_in(rows.statuses, found["status"])
            if status is None:
                continue
            said = found.groupdict()
            parts = [part for part in (said.get("place") or place, said["name"]) if part]
            test = "::".join(map(name_part, parts))
            tests[test] = worse(tests[test], status) if test in tests else status
    return tests


def read_by(rows: Lines) -> Callable[[Leavings], Statuses | None]:
    """What the output says, by one kind of lines."""

    def read(left: Leavings) -> Statuses | None:
        return tests_in(rows, (left.stdout, left.stderr)) or None

    return read


_CARGO_HEADING: Final = re.compile(
    r" *(?:Running (?:unittests )?(?P<path>\S+) \((?:\S*[/\\])?(?P<crate>[\w-]+?)(?:-[0-9a-f]{8,})?(?:\.exe)?\)"
    r"|Doc-tests (?P<doc>\S+))$"
)
_CARGO_TEST: Final = re.compile(
    r"test (?P<name>\S.*?)(?: - should panic)?(?: - compile(?: fail)?)? \.\.\. (?P<status>ok|FAILED|ignored)"
)
_CARGO_DOCTEST: Final = re.compile(r"(?P<path>\S+) - (?P<name>.*?) ?\(line \d+\)")
_CARGO: Final[dict[str, TestStatus]] = {"ok": "passed", "FAILED": "failed", "ignored": "skipped"}


def cargo_lines(left: Leavings) -> Statuses | None:
    """Cargo's test lines, each with the target it is under; the headings are on the other stream."""
    out, err = plain_lines(left.stdout), plain_lines(left.stderr)
    headings = [found for line in (*out, *err) if (found := _CARGO_HEADING.match(line))]
    blocks = list(_cargo_blocks(out if any(line.startswith("running ") for line in out) else err))
    paths = Counter(found["path"] for found in headings)
    places = [_cargo_place(found, paths) for found in headings] if len(headings) == len(blocks) else [""] * len(blocks)
    tests: Statuses = {}
    for place, block in zip(places, blocks, strict=True):
        seen: Counter[str] = Counter()
        for name, status in block:
            test = _cargo_id(place, name, seen)
            tests[test] = worse(tests[test], status) if test in tests else status
    return tests or None


def _cargo_blocks(lines: Iterable[str]) -> Iterator[list[tuple[str, TestStatus]]]:
    block: list[tuple[str, TestStatus]] | None = None
    for line in lines:
        if re.match(r"running \d+ tests?$", line):
            if block is not None:
                yield block
            block = []
        elif block is not None and (found := _CARGO_TEST.match(line)):
            block.append((found["name"], _CARGO[found["status"]]))
    if block is not None:
        yield block


def _cargo_place(found: re.Match[str], paths: Mapping[str, int]) -> str:
    """The file of the target, with its crate in front where two targets have the same; doctests name their own."""
    if found["doc"]:
        return ""
    return found["path"] if paths[found["path"]] == 1 else f"{found['crate']}/{found['path']}"


def _cargo_id(place: str, name: str, seen: Counter[str]) -> str:
    """A doctest by its file and item: the line would change with every edit above it."""
    doctest = _CARGO_DOCTEST.match(name)
    if doctest is None:
        return "::".join(name_part(part) for part in (place, name) if part)
    whole = f"{doctest['path']}::{doctest['name']} (doctest"
    seen[whole] += 1
    return name_part(f"{whole} {seen[whole]})" if seen[whole] > 1 else f"{whole})")


def cargo_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`--exact` with the names; targets without such a test run none."""
    if arguments[:1] != ["test"] or "--" in arguments or any("(doctest" in test for test in tests):
        return None
    if any(not word.startswith("-") for word in arguments[1:]) or "--doc" in arguments:
        return None
    names = dict.fromkeys(test.partition("::")[2] if "/" in test.partition("::")[0] else test for test in tests)
    return [*arguments, "--", "--exact", *names]


def ctest_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`-R` with the names."""
    if any(re.match(r"-[RELIUS]|--(?:tests-regex|rerun-failed|stop-on-failure|label)", word) for word in arguments):
        return None
    names = "|".join(re.sub(r"([^\w^\\-])", r"[\1]", test) for test in tests)
    return [*arguments, "-R", f"^({names})$"]


_CTEST: Final = Lines(
    "Test",
    re.compile(
        r" *\d+/\d+ +Test +#\d+: (?P<name>\S.*?) ?\.*(?: |\.)(?P<status> *Passed|\*\*\*\w+|   *(?:Failed|Skipped))"
    ),
    {" ": "passed", "Passed": "passed", "***Skipped": "skipped", "***Not": "failed", "***": "failed"},
)
_NEXTEST: Final = Lines(
    "[",
    re.compile(r" +(?P<status>[A-Z][A-Z0-9 -]*?) \[ *[\d.]*s?\](?: \( *\d+/\d+\))? +(?P<place>\S+) +(?P<name>\S.*)"),
    {"PASS": "passed", "FLAKY": "passed", "LEAK": "passed", "SKIP": "skipped", "FAIL": "failed", "SIG": "failed",
     "TIMEOUT": "failed", "ABORT": "failed"},
)  # fmt: skip
_UNITTEST: Final = Lines(
    " ... ",
    re.compile(
        r"(?P<name>\w+ \([\w.]+\)) \.\.\. (?P<status>ok|FAIL|ERROR|skipped|expected failure|unexpected success)\b"
    ),
    {"ok": "passed", "FAIL": "failed", "ERROR": "error", "skipped": "skipped", "expected": "xfailed", "unex": "failed"},
)
_GTEST: Final = Lines(
    "[ ",
    re.compile(r"\[ *(?P<status>OK|FAILED|SKIPPED) *\] (?P<name>[\w/]+\.[\w/]+)(?:,.*)? \(\d+ ms\)$"),
    {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"},
)
_EXUNIT: Final = Lines(
    "* ",
    re.compile(r"  \* (?P<name>(?:test|doctest) .*) (?P<status>\([\d.]+ms\)|\(skipped\)|\(excluded\)) \[L#\d+\]"),
    {"(skipped": "skipped", "(excluded": "skipped", "(": "passed"},
    re.compile(r"(?P<place>[A-Z][\w.]*Test) \[.*\.exs\]$"),
)
_XCTEST: Final = Lines(
    "Test Case",
    re.compile(r"Test Case '(?:-\[)?(?P<name>[\w. ]+)\]?' (?P<status>passed|failed|skipped) \("),
    {"passed": "passed", "failed": "failed", "skipped": "skipped"},
)
_DOTNET: Final = Lines(
    "[",
    re.compile(
        r"  (?P<status>Passed|Failed|Skipped) (?P<name>\S.*?)(?: \[< ?\d+ m?s\]| \[[\d.,]+ m?s?(?: \d+ m?s)?\])$"
    ),
    {"Passed": "passed", "Failed": "failed", "Skipped": "skipped"},
)
_DENO: Final = Lines(
    " ... ",
    re.compile(r"(?P<name>\S.*?) \.\.\. (?P<status>ok|FAILED|ignored)(?: \(.*\))?$"),
    {"ok": "passed", "FAILED": "failed", "ignored": "skipped"},
    re.compile(r"running \d+ tests? from (?:\./)?(?P<place>\S+)$"),
)
_BUN: Final = Lines(
    "",
    re.compile(r"(?P<status>\(pass\)|\(fail\)|\(skip\)|\(todo\)|✓|✗|»|✎) (?P<name>\S.*?)(?: \[[\d.]+m?s\])?$"),
    {"(pass": "passed", "✓": "passed", "(fail": "failed", "✗": "failed", "(skip": "skipped", "»": "skipped",
     "(todo": "skipped", "✎": "skipped"},
    re.compile(r"(?P<place>[\w./-]+\.(?:test|spec)\.\w+):$"),
)  # fmt: skip
_MINITEST: Final = Lines(
    " s = ",
    re.compile(r"(?P<name>\S+#\S.*?) = [\d.]+ s = (?P<status>[.FES])$"),
    {".": "passed", "F": "failed", "E": "error", "S": "skipped"},
)
_TAP_LINE: Final = re.compile(
    r"(?P<indent> *)(?P<status>not ok|ok) \d+(?: -)?(?: (?P<name>[^#]*))?(?: *# (?P<directive>\w+).*)?$"
)
_TAP_SUBTEST: Final = re.compile(r"(?P<indent> *)# Subtest: (?P<name>.*)")
_TAP_STEP: Final = 4


def tap_lines(left: Leavings) -> Statuses | None:
    """Test lines of TAP; of a test with subtests the subtests, and itself only where it failed without one."""
    tests: Statuses = {}
    open_names: dict[int, str] = {}
    below: set[str] = set()
    for line in plain_lines(left.stdout)[:MAX_LINES]:
        if begun := _TAP_SUBTEST.match(line):
            open_names[len(begun["indent"]) // _TAP_STEP] = begun["name"]
        if not (found := _TAP_LINE.match(line)):
            continue
        depth = len(found["indent"]) // _TAP_STEP
        parts = [open_names.get(above, "") for above in range(depth)] + [(found["name"] or "").strip()]
        test = "::".join(name_part(part) for part in parts if part)
        directive = (found["directive"] or "").upper()
        failed = found["status"] == "not ok"
        status: TestStatus = "failed" if failed else "passed"
        if directive == "SKIP":
            status = "skipped"
        elif directive == "TODO":
            status = "xfailed" if failed else "xpassed"
        if not test:
            return None
        below.add("::".join(name_part(part) for part in parts[:-1] if part))
        if test not in below:
            tests[test] = worse(tests[test], status) if test in tests else status
    return tests or None


CARGO: Final = Runner(
    name="cargo test",
    ids="`path of the target::module::test`; doctests as `path::item (doctest)`",
    tools=frozenset({"cargo"}),
    lines=cargo_lines,
    single=cargo_single,
    failing_status=lambda status, _: status in {100, 101},  # nextest's and cargo's own
)
CTEST: Final = Runner(
    name="ctest",
    ids="the name given to `add_test`",
    tools=frozenset({"ctest"}),
    lines=read_by(_CTEST),
    single=ctest_single,
    failing_status=lambda status, _: status == 8,  # noqa: PLR2004 - ctest's own
)
NEXTEST: Final = Runner(
    name="nextest",
    ids="`binary::module::test`",
    lines=read_by(_NEXTEST),
    failing_status=lambda status, _: status == 100,  # noqa: PLR2004 - nextest's own
    untried=True,
)
UNITTEST_LINES: Final = Runner(
    name="unittest -v", ids="`test (module.Class.test)`, as printed", lines=read_by(_UNITTEST)
)
TAP: Final = Runner(name="TAP", ids="`subtest::name`", lines=tap_lines)
OTHERS: Final = (
    Runner(name="GoogleTest", ids="`Suite.Test`", lines=read_by(_GTEST), untried=True),
    Runner(
        name="ExUnit --trace",
        ids="`Module::test name`",
        lines=read_by(_EXUNIT),
        failing_status=lambda status, _: status == 2,  # noqa: PLR2004 - mix test's own
        untried=True,
    ),
    Runner(name="XCTest", ids="`Class.test`", lines=read_by(_XCTEST), untried=True),
    Runner(name="dotnet test", ids="full name of the test", lines=read_by(_DOTNET), untried=True),
    Runner(name="deno test", ids="`path::name`", lines=read_by(_DENO), untried=True),
    Runner(name="bun test", ids="`path::describe > name`", lines=read_by(_BUN), untried=True),
    Runner(name="minitest -v", ids="`Class#test`", lines=read_by(_MINITEST), untried=True),
)
