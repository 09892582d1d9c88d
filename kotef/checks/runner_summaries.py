"""Summary lines of test runners: how many tests ran and how they ended."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal, NamedTuple

from kotef.checks.tap import leaves, read_tap
from kotef.classification import plain_lines


class SummaryCounts(NamedTuple):
    """How many tests a runner says it ran. Expected failures count as passed."""

    executed: int
    """Passed and failed; skipped and deselected tests did not run."""
    failed: int
    """Errors included."""
    passed: int
    skipped: int

    def __add__(self, other: object) -> "SummaryCounts":
        """Both together."""
        if not isinstance(other, SummaryCounts):
            return NotImplemented
        return SummaryCounts(*(one + another for one, another in zip(self, other, strict=True)))


class _Closing(NamedTuple):
    """A line with which one runner closes its output."""

    runner: str
    hint: str
    """A literal of the line, looked for first."""
    pattern: str
    """Matched at the start of the line; `<passed>` is a number and what it counts, `<>` a number of something else.
    Where a pattern names no count, the line is a list such as `3 failed, 2 passed`."""
    repeats: Literal["replaces", "adds", "joins"] = "replaces"
    """What a further line of the same runner does: a run of its own replaces the last, one line per package adds up,
    one of several lines about one run joins them."""


_CLOSINGS: Final = (
    _Closing(
        "pytest", " in ", r"(?:=+ )?(?:(?:<> [a-z]+(?: [a-z]+)?, )*<> [a-z]+(?: [a-z]+)?|no tests ran) in <>[\d.]*s"
    ),
    _Closing("unittest", "Ran ", r"Ran <total> tests? in <>[\d.]*s", "joins"),
    _Closing(
        "unittest",
        " (",
        r"(?:OK|FAILED) \((?:failures=<failed>)?(?:, )?(?:errors=<failed_error>)?(?:, )?(?:skipped=<skipped>)?(?:, )?"
        r"(?:expected failures=<>)?(?:, )?(?:unexpected successes=<failed_pass>)?\)",
        "joins",
    ),
    _Closing("jest", "Tests:", r"Tests:\s+(?:<> [a-z]+, )*<> total"),
    _Closing("vitest", "Tests ", r"\s*Tests  <> [a-z]+.*"),
    _Closing("vitest", "No test files", r"No test files found"),
    _Closing("mocha", "ing", r" +<> (?:passing(?: \(\d+(?:ms|[smh])\))?|failing|pending)$", "joins"),
    _Closing(
        "node:test",
        " ",
        r"[#ℹ] (?:tests +<total>|pass +<passed>|fail +<failed>|cancelled <failed_cancelled>|skipped <skipped>)$",
        "joins",
    ),
    _Closing("cargo", "test result:", r"test result: \w+\. <> passed; <> failed; <> ignored", "adds"),
    _Closing("nextest", "Summary [", r"\s*Summary \[.*?\] +<total>(?:/<>)? tests? run:(?:.*? <failed> failed)?"),
    _Closing(
        "surefire",
        "Tests run:",
        r"(?:\[\w+\] +)?Tests run: <total>, +Failures: <failed>, +Errors: <failed_error>(?:, +Skipped: <skipped>)?$",
        "adds",
    ),
    _Closing("ctest", "tests passed", r"<>% tests passed(?:, <failed> tests? failed)? out of <total>"),
    _Closing("ctest", "No tests were found", r"No tests were found!!!"),
    _Closing(
        "automake",
        "# ",
        r"# (?:TOTAL: +<total>|PASS: +<>|SKIP: +<skipped>|XFAIL: +<>|FAIL: +<failed>|XPASS: +<failed_pass>"
        r"|ERROR: +<failed_error>)$",
        "joins",
    ),
    _Closing(
        "meson",
        ": ",
        r"(?:Ok: +<passed>|Expected Fail: +<passed_red>|Fail: +<failed>|Unexpected Pass: +<failed_pass>"
        r"|Skipped: +<skipped>|Timeout: +<failed_late>)$",
        "joins",
    ),
    _Closing("gtest", " ran.", r"\[=+\] <total> tests? from .* ran\.", "joins"),
    _Closing("gtest", "[  FAILED  ]", r"\[  FAILED  \] <failed> tests?, listed below", "joins"),
    _Closing("cmocka", " run.", r"\[=+\] (?:\S.*: )?<total> test\(s\) run\.", "joins"),
    _Closing("cmocka", "listed below", r"\[  FAILED  \] (?:\S.*: )?<failed> test\(s\), listed below", "joins"),
    _Closing("cmocka", "listed below", r"\[  SKIPPED \] (?:\S.*: )?<skipped> test\(s\), listed below", "joins"),
    _Closing("unity", " Tests ", r"<total> Tests <failed> Failures <skipped> Ignored"),
    _Closing("check", "Checks:", r"<>%: Checks: <total>, Failures: <failed>, Errors: <failed_error>"),
    _Closing("boost", "Running ", r"Running <total> test cases?\.\.\.", "joins"),
    _Closing("boost", " detected", r"\*\*\* <failed> failures? (?:is|are) detected in the test module", "joins"),
    _Closing(
        "criterion",
        "Tested:",
        r"\[====\] Synthesis: Tested: <total> \| Passing: <> \| Failing: <failed> \| Crashing: <>",
    ),
    _Closing(
        "busted",
        " success",
        r"<passed> success(?:es)? / <failed> failures? / <failed_error> errors? / <skipped> pending",
    ),
    _Closing(
        "rspec",
        " example",
        r"<total> examples?, <failed> failures?(?:, <skipped> pending)?(?:, <failed_error> errors? occurred outside)?",
    ),
    _Closing(
        "test-unit",
        " omissions",
        r"<total> tests?, <> assertions, <failed> failures, <failed_error> errors, <skipped_pending> pendings, "
        r"<skipped> omissions",
    ),
    _Closing(
        "minitest",
        " assertions",
        r"<total> (?:runs|tests), <> assertions, <failed> failures, <failed_error> errors(?:, <skipped> skips)?",
    ),
    _Closing("phpunit", "OK", r"OK.* \(<total> tests?, <> assertions?\)"),
    _Closing(
        "phpunit",
        "Assertions:",
        r"Tests: <total>, Assertions: <>(?:, Errors: <failed_error>)?(?:, Failures: <failed>)?"
        r"(?:.*, Skipped: <skipped>)?(?:.*, Incomplete: <skipped_later>)?",
    ),
    _Closing("phpunit", "No tests executed", r"No tests executed!"),
    _Closing(
        "exunit",
        " failure",
        r"(?:<total_doc> doctests?, )?<total> tests?, <failed> failures?(?:, <> excluded)?"
        r"(?:, <failed_invalid> invalid)?(?:, <skipped> skipped)?",
    ),
    _Closing("dotnet", "Total:", r"(?:Passed|Failed|Skipped)! +- Failed: +<failed>, Passed: +<passed>", "adds"),
    _Closing(
        "xctest", "Executed ", r"\s*Executed <total> tests?, with (?:<skipped> tests? skipped and )?<failed> failures?"
    ),
    _Closing(
        "swift-testing",
        " Test run ",
        r"\S+ Test run with (?!0 )<total> tests? (?:in <> suites? )?(?:passed|failed) after"
        r"(?:.* with <failed> issues?)?",
    ),
    _Closing("deno", " passed", r"(?:ok|FAILED) \| <passed> passed.*? \| <failed> failed"),
    _Closing("bun", " ", r"\s*<> (?:pass|fail|skip)$", "joins"),
    _Closing("playwright", "ed", r"  <> (?:passed|failed|skipped)(?: \(.*\))?$", "joins"),
    _Closing("prove", "Tests=", r"Files=<>, Tests=<total>", "adds"),
    _Closing("prove", " subtests", r"Failed <failed>/<> subtests", "adds"),
    _Closing("node-tap", "# { total:", r"# \{ total: <total>, pass: <>(?:, fail: <failed>)?(?:.*, skip: <skipped>)?"),
    _Closing("catch2", "test case", r"All tests passed \(<> assertions? in <total> test cases?\)"),
    _Closing("catch2", "test cases:", r"test cases: +<total> \|(?:.*? <failed> failed(?! as expected))?"),
    _Closing("doctest-cpp", "test cases:", r"\[doctest\] test cases: +<> \| +<passed> passed \| +<failed> failed"),
)
"""Only lines that a runner writes on success and on failure alike, or the counts of two runs could not be compared
(Gradle, for one, counts its tests only when one failed)."""


def _compiled(pattern: str) -> re.Pattern[str]:
    named = re.sub(r"<(\w+)>", lambda count: rf"(?P<{count[1]}>\d+)", pattern.replace("<>", r"\d+"))
    return re.compile(named)


_COMPILED: Final = tuple((closing, _compiled(closing.pattern)) for closing in _CLOSINGS)
_GOES_ON: Final = re.compile(r"\w| [A-Za-z]")
"""What follows the counts in a sentence of someone else's."""
_EVERYDAY: Final = frozenset({"bun", "playwright", "meson", "boost"})
"""Runners whose closing lines are words that any program might print: ` 2 failed`."""
_PROGRAMS: Final = frozenset(
    {"gtest", "catch2", "doctest-cpp", "boost", "check", "cmocka", "unity", "criterion", "automake"}
)
"""Runners of which one command usually starts several, one after the other: their counts add up."""
_LISTED: Final = re.compile(r"(\d+) ([a-z]+)")
_COUNTED_AS: Final = {
    word: kind
    for kind, words in {
        "passed": "passed pass passing xfailed xpassed",
        "failed": "failed fail failing error errors",
        "skipped": "skipped skip pending ignored todo",
        "total": "total",
    }.items()
    for word in words.split()
}

_GO_PACKAGE: Final = re.compile(
    r"(?P<failed>FAIL)\t\S+(?:\t[\d.]+s| \[)|ok +\t\S+\t(?!.*\[no tests to run\])|(?P<none>(?:\?|ok) +\t)"
)


class _Session(NamedTuple):
    """What one runner says in closing of one run, in a line or in several that belong together."""

    runner: str
    numbers: dict[str, int]
    line: str
    """The first of its lines that counts a failure; empty without one."""

    @property
    def counts(self) -> SummaryCounts:
        """What its lines count together."""
        return _counts(self.numbers)

    def is_taken_back(self, later: Iterable["_Session"]) -> bool:
        """Whether its tests passed when they ran again, all or, as `pytest --lf` does, those alone that failed."""
        then = self.counts
        same = (session.counts for session in later if session.runner == self.runner)
        return any(not now.failed and now.executed in {then.executed, then.failed} for now in same)


def console_counts(output: str) -> SummaryCounts | None:
    """The counts of the runner whose closing line is last in the output; None when no known one is there.

    Linear: of a long output the beginning and the end are read. `go test` without `-v` gives packages, not tests; each
    package that ran tests counts as one.
    """
    lines = plain_lines(output)
    sessions = _sessions(lines)
    if not sessions:
        return _go_packages(lines) or tap_points(lines)
    last = sessions[-1]
    return _total(sessions, last.runner) if last.runner in _PROGRAMS else last.counts


class Closings:
    """What all closing lines of an output say, each runner's apart."""

    def __init__(self, lines: Sequence[str]) -> None:
        self._sessions = _sessions(lines)
        runners = frozenset(session.runner for session in self._sessions)
        self.runners = runners or frozenset({"tap"} if tap_points(lines) else ())
        """Who has a closing line; `tap` where the output is a whole stream of TAP."""

    def of(self, runner: str) -> tuple[SummaryCounts, ...]:
        """What this runner counts: in its last run, then in all of its runs together; empty if it says nothing."""
        own = [session for session in self._sessions if session.runner == runner]
        return (own[-1].counts, _total(own, runner)) if own else ()


def tap_points(lines: Iterable[str]) -> SummaryCounts | None:
    """How many tests TAP lists, subtests instead of the tests they are of; None if points are missing or none are.

    Expected failures (`TODO`) count as passed.
    """
    stream = read_tap(lines)
    if not stream.is_whole:
        return None
    found = Counter(point.status for point in leaves(stream.points))
    failed, skipped = found["failed"], found["skipped"]
    return SummaryCounts(found.total() - skipped, failed, found.total() - skipped - failed, skipped)


def closed_red(output: str) -> str:
    """The first closing line that counts a failure and is not taken back by a later run of the same tests; else empty.

    For commands that may start several runners. What a runner started alone prints before its last closing line may
    be words of its tests.
    """
    sessions = [session for session in _sessions(plain_lines(output)) if session.runner not in _EVERYDAY]
    red = (at for at, session in enumerate(sessions) if session.line and not session.is_taken_back(sessions[at + 1 :]))
    return next((sessions[at].line for at in red), "")


def _sessions(lines: Iterable[str]) -> Sequence[_Session]:
    """All closings, in the order of their last lines."""
    found: dict[tuple[str, int], _Session] = {}
    sessions: Counter[str] = Counter()
    for line in lines:
        if " " not in line:  # every closing line has a blank
            continue
        for closing, pattern in _COMPILED:
            if not (closing.hint in line and (match := pattern.match(line))):
                continue
            numbers, runner = _numbers(match), closing.runner
            red = "" if _GOES_ON.match(line, match.end()) or not _counts(numbers).failed else line.strip()
            known = found.get((runner, sessions[runner]), _Session(runner, {}, ""))
            together = {word: known.numbers.get(word, 0) + numbers.get(word, 0) for word in known.numbers | numbers}
            if closing.repeats == "replaces" or (
                closing.repeats == "joins" and not numbers.keys().isdisjoint(known.numbers)
            ):
                sessions[runner] += 1
                known, together = _Session(runner, {}, ""), numbers
            key = (runner, sessions[runner])
            found.pop(key, None)
            found[key] = _Session(runner, together, known.line or red)
            break
    return [*found.values()]


def _total(sessions: Iterable[_Session], runner: str) -> SummaryCounts:
    return sum((session.counts for session in sessions if session.runner == runner), SummaryCounts(0, 0, 0, 0))


def _numbers(match: re.Match[str]) -> dict[str, int]:
    """What a closing line counts: by its groups, else the words of its list."""
    if match.groupdict():
        return {name: int(number) for name, number in match.groupdict().items() if number}
    return {word: int(number) for number, word in _LISTED.findall(match[0]) if word in _COUNTED_AS}


def _counts(numbers: Mapping[str, int]) -> SummaryCounts:
    by_kind = {"passed": 0, "failed": 0, "skipped": 0, "total": 0}
    for name, number in numbers.items():
        by_kind[_COUNTED_AS[name.split("_")[0]]] += number
    failed, skipped = by_kind["failed"], by_kind["skipped"]
    ran = by_kind["total"] - skipped if "total" in numbers else by_kind["passed"] + failed
    return SummaryCounts(executed=max(ran, 0), failed=failed, passed=max(ran - failed, 0), skipped=skipped)


def _go_packages(lines: Iterable[str]) -> SummaryCounts | None:
    matches = [match for line in lines if "\t" in line and (match := _GO_PACKAGE.match(line))]
    ran = sum(match["none"] is None for match in matches)
    failed = sum(match["failed"] is not None for match in matches)
    return SummaryCounts(ran, failed, ran - failed, 0) if matches else None
