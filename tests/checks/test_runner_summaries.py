"""Closing lines of test runners, as their own documentation and real runs show them."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.checks import runner_summaries
from kotef.checks.runner_summaries import console_counts

CASES = {
    "pytest": ("=== 3 failed, 6 passed, 2 skipped, 1 xfailed, 1 xpassed, 3 errors in 0.92s ===", (14, 6, 8, 2)),
    "pytest -q": ("2 passed, 1 deselected, 4 warnings in 61.20s (0:01:01)", (2, 0, 2, 0)),
    "pytest, nothing": ("no tests ran in 0.01s", (0, 0, 0, 0)),
    "pytest, deselected": ("====== 3 deselected in 0.10s ======", (0, 0, 0, 0)),
    "pytest, skipped": ("== 2 skipped in 0.10s ==", (0, 0, 0, 2)),
    "pytest, colours": ("\x1b[32m\x1b[1m5 passed\x1b[0m\x1b[32m in 0.10s\x1b[0m", (5, 0, 5, 0)),
    "pytest, subtests": ("2 failed, 1 passed, 3 subtests passed in 0.02s", (3, 2, 1, 0)),
    "unittest": (
        "Ran 7 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=2, expected failures=1, unexpected successes=1)",
        (5, 3, 2, 2),
    ),
    "unittest, ok": ("Ran 3 tests in 0.001s\n\nOK", (3, 0, 3, 0)),
    "unittest, some skipped": ("Ran 3 tests in 0.001s\n\nOK (skipped=1)", (2, 0, 2, 1)),
    "unittest, nothing": ("Ran 0 tests in 0.000s\n\nNO TESTS RAN", (0, 0, 0, 0)),
    "jest": (
        "Test Suites: 1 failed, 1 total\nTests:       1 failed, 2 skipped, 1 todo, 5 passed, 9 total\nSnapshots:   0 total",
        (6, 1, 5, 3),
    ),
    "vitest": (" Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 2 passed | 1 skipped (4)", (3, 1, 2, 1)),
    "mocha": ("  5 passing (10ms)\n  2 pending\n  1 failing\n", (6, 1, 5, 2)),
    "node:test": ("ℹ tests 5\nℹ suites 0\nℹ pass 2\nℹ fail 1\nℹ cancelled 1\nℹ skipped 1\nℹ todo 0", (4, 2, 2, 1)),
    "node:test, TAP": ("# tests 2\n# suites 0\n# pass 2\n# fail 0\n# cancelled 0\n# skipped 0\n# todo 0", (2, 0, 2, 0)),
    "cargo": (
        (
            "test result: FAILED. 3 passed; 1 failed; 1 ignored; 0 measured; 2 filtered out; finished in 0.00s\n"
            "test result: ok. 2 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"
        ),
        (6, 1, 5, 1),
    ),
    "nextest": ("     Summary [   0.005s] 5 tests run: 4 passed, 1 failed, 2 skipped", (5, 1, 4, 0)),
    "surefire": (
        (
            "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.05 s -- in AppTest\n"
            "[ERROR] Tests run: 5, Failures: 1, Errors: 1, Skipped: 1\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0"
        ),
        (6, 2, 4, 1),
    ),
    "ctest": ("80% tests passed, 1 tests failed out of 5", (5, 1, 4, 0)),
    "ctest, nothing": ("No tests were found!!!", (0, 0, 0, 0)),
    "gtest": (
        "[==========] 5 tests from 2 test suites ran. (0 ms total)\n[  PASSED  ] 4 tests.\n[  FAILED  ] 1 test, listed below:",
        (5, 1, 4, 0),
    ),
    "rspec": ("5 examples, 1 failure, 2 pending", (3, 1, 2, 2)),
    "minitest": ("5 runs, 9 assertions, 1 failures, 1 errors, 1 skips", (4, 2, 2, 1)),
    "phpunit": ("Tests: 5, Assertions: 9, Errors: 1, Failures: 1, Warnings: 1, Skipped: 1.", (4, 2, 2, 1)),
    "phpunit, ok": ("OK (5 tests, 9 assertions)", (5, 0, 5, 0)),
    "exunit": ("2 doctests, 5 tests, 1 failure, 1 skipped", (6, 1, 5, 1)),
    "dotnet": (
        "Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5, Duration: 3 ms - t.dll",
        (5, 1, 4, 0),
    ),
    "xctest": ("\t Executed 5 tests, with 1 failure (0 unexpected) in 0.005 (0.006) seconds", (5, 1, 4, 0)),
    "deno": ("FAILED | 4 passed | 1 failed (10ms)", (5, 1, 4, 0)),
    "bun": (" 5 pass\n 1 skip\n 1 fail\n 9 expect() calls\nRan 7 tests across 2 files.", (6, 1, 5, 1)),
    "playwright": ("  1 failed\n    a.spec.ts:3:1 › x\n  2 skipped\n  5 passed (3.0s)", (6, 1, 5, 2)),
    "go": (
        "ok  \ta/b\t0.003s\n--- FAIL: TestX (0.00s)\nFAIL\ta/c\t0.1s\n?   \ta/d\t[no test files]\nok  \ta/e\t(cached)\nFAIL",
        (3, 1, 2, 0),
    ),
    "go, nothing": ("?   \ta/d\t[no test files]\nok  \ta/e\t0.002s [no tests to run]", (0, 0, 0, 0)),
    "prove": ("Files=2, Tests=10,  0 wallclock secs\nResult: PASS", (10, 0, 10, 0)),
    "catch2": ("test cases:  5 |  4 passed | 1 failed\nassertions: 10 | 9 passed | 1 failed", (5, 1, 4, 0)),
    "doctest-cpp": ("[doctest] test cases:  5 |  4 passed | 1 failed | 0 skipped", (5, 1, 4, 0)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_closing_line_is_counted(name: str):
    text, counts = CASES[name]

    assert console_counts(f"some output before\n{text}\n") == counts


def test_the_runner_that_speaks_last_counts():
    inner = "1 failed, 2 passed in 0.1s\n"

    assert console_counts(inner + "Ran 4 tests in 0.1s\n\nOK\n") == (4, 0, 4, 0)
    assert console_counts(inner + "5 passed in 0.1s\n") == (5, 0, 5, 0)
    assert console_counts("  5 passing (1ms)\n  1 failing\n  3 passing (2ms)\n") == (3, 0, 3, 0)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "All checks passed!",
        "Found 2 errors.",
        "5 passed the exam in 3 days",
        "> Task :test",
        "12 failed logins",
        "BUILD SUCCESSFUL in 3s",
    ],
)
def test_other_text_counts_nothing(text: str):
    assert console_counts(text) is None


@example_count(60)
@given(st.text(), st.sampled_from([text for text, _ in CASES.values()]))
def test_counts_are_never_negative_whatever_stands_around(noise: str, closing: str):
    counts = console_counts(f"{noise}\n{closing}\n{noise}")

    assert counts is None or min(counts) >= 0


@pytest.mark.parametrize(
    "nasty", ["1 a, " * 400_000, "Tests: " * 300_000, "\n1 passed" * 200_000, "=" * 3_000_000, "1" * 2_000_000]
)
def test_long_output_takes_linear_time(nasty: str):
    with bounded_cpu():
        console_counts(nasty + "\n3 passed in 1s")


def test_a_closing_line_of_every_runner_has_a_blank() -> None:
    """A line without one is passed over before any pattern is tried."""
    for closing, pattern in runner_summaries._COMPILED:
        assert re.search(r" (?![*?])(?!\{0)|\\s\+", pattern.pattern), closing
