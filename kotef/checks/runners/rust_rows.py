"""cargo test and nextest: a line for each test, below its target."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from kotef.checks.runners.line_reports import Lines, add, read_by
from kotef.checks.runners.row import Leavings, Runner, Statuses
from kotef.checks.types import TestStatus
from kotef.integrity import name_part, test_id

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
    """Cargo's test lines, each below its target; the headings are on the other stream."""
    out, err = left.out, left.err
    headings = [found for line in (*out, *err) if (found := _CARGO_HEADING.match(line))]
    blocks = list(_cargo_blocks(out if any(line.startswith("running ") for line in out) else err))
    paths = Counter(found["path"] for found in headings)
    places = [_cargo_place(found, paths) for found in headings] if len(headings) == len(blocks) else [""] * len(blocks)
    tests: Statuses = {}
    for place, block in zip(places, blocks, strict=True):
        seen: Counter[str] = Counter()
        for name, status in block:
            add(tests, _cargo_id(place, name, seen), status)
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
    """The file of the target, with its crate if two targets share it; empty for doctests, which name a file."""
    if found["doc"]:
        return ""
    return found["path"] if paths[found["path"]] == 1 else f"{found['crate']}/{found['path']}"


def _cargo_id(place: str, name: str, seen: Counter[str]) -> str:
    """The id of a test; of a doctest without its line, which changes with every edit above it."""
    doctest = _CARGO_DOCTEST.match(name)
    if doctest is None:
        return test_id(place, name)
    whole = f"{doctest['path']}::{doctest['name']} (doctest"
    seen[whole] += 1
    return name_part(f"{whole} {seen[whole]})" if seen[whole] > 1 else f"{whole})")


def cargo_single(arguments: Sequence[str], tests: Sequence[str], _: Callable[[str], bool]) -> list[str] | None:
    """`--exact` with the names; for nextest an expression."""
    if arguments[:2] == ["nextest", "run"]:
        return _nextest_single(arguments, tests)
    if arguments[:1] != ["test"] or "--" in arguments or any("(doctest" in test for test in tests):
        return None
    if any(not word.startswith("-") for word in arguments[1:]) or "--doc" in arguments:
        return None
    names = dict.fromkeys(test.partition("::")[2] if "/" in test.partition("::")[0] else test for test in tests)
    return [*arguments, "--", "--exact", *names]


def _nextest_single(arguments: Sequence[str], tests: Sequence[str]) -> list[str] | None:
    """An expression with every possible test name, because an id does not show where the name of the binary ends."""
    if any(not word.startswith("-") or word in {"-E", "--", "--filterset"} for word in arguments[2:]):
        return None
    names = dict.fromkeys("::".join(test.split("::")[at:]) for test in tests for at in range(1, test.count("::") + 1))
    return [*arguments, "-E", " | ".join(f"test(={name})" for name in names)]


_NEXTEST: Final = Lines(
    "[",
    re.compile(r" +(?P<status>[A-Z][A-Z0-9 -]*?) \[ *[\d.]*s?\](?: \( *\d+/\d+\))? +(?P<place>\S+) +(?P<name>\S.*)"),
    {"PASS": "passed", "FLAKY": "passed", "LEAK": "passed", "SKIP": "skipped", "FAIL": "failed", "SIG": "failed",
     "TIMEOUT": "failed", "ABORT": "failed"},
)  # fmt: skip

CARGO: Final = Runner(
    name="cargo test",
    ids="`path of the target::module::test`; doctests as `path::item (doctest)`",
    tools=frozenset({"cargo"}),
    lines=cargo_lines,
    closing="cargo",
    single=cargo_single,
    failing_status=lambda status, _: status in {100, 101},  # nextest's and cargo's own
)
NEXTEST: Final = Runner(
    name="nextest",
    ids="`binary::module::test`",
    lines=read_by(_NEXTEST),
    closing="nextest",
    failing_status=lambda status, _: status == 100,  # noqa: PLR2004 - nextest's own
)
