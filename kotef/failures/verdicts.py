# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""How does each test runner say that tests failed, and how that all went well?"""

from typing import Final

from kotef.failures.rules import Rule

TEST: Final = "test_failure"

FAILED: Final = (
    Rule("pytest", "failed", r"^(?:=+ )?(?:\d+ \w+, )*\d+ failed\b.* in [\d.]+ ?s", TEST, "failed", "closing line"),
    Rule("pytest", " error", r"^(?:=+ )?(?:\d+ \w+, )*\d+ errors?\b.* in [\d.]+ ?s", TEST, "failed", "closing line"),
    Rule("pytest", "while loading conftest", r"^ImportError while loading conftest", TEST, "failed", "before collection"),
    Rule("pytest", "FAILED ", r"^FAILED \S+::", TEST, "failed", "short summary, when the closing line is cut off"),
    Rule("pytest", "!!!", r"^!+ (?:stopping after|Interrupted: \d+ error)", TEST, "failed", "-x, --maxfail"),
    Rule("pytest", "_ ERROR collecting", r"^_+ ERROR collecting ", TEST, "failed", "section header"),
    Rule("unittest", "FAILED (", r"^FAILED \(.*(?:failures|errors|unexpected successes)=\d", TEST, "failed", "last line"),
    Rule("doctest", "***Test Failed***", r"^\*\*\*Test Failed\*\*\* \d+ failure", TEST, "failed", "last line"),
    Rule("nose2/trial", "FAILED (", r"^FAILED \((?:\w+=\d+,? ?)+\)", TEST, "failed", "last line"),
    Rule("behave", "scenario", r"^\d+ scenarios? passed, [1-9]\d* failed", TEST, "failed", "summary"),
    Rule("jest", "Tests:", r"^\s*Tests:\s+[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("jest", "Test Suites:", r"^\s*Test Suites:\s+[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("jest", "coverage threshold", r"^Jest: .*coverage threshold .*not met", TEST, "coverage", "after the table"),
    Rule("vitest", "Tests ", r"^\s*Tests\s+[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("vitest", "Test Files ", r"^\s*Test Files\s+[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("vitest", "Unhandled Error", r"^\s*⎯+ Unhandled (?:Errors?|Rejection) ⎯+", TEST, "failed", "section header"),
    Rule("vitest", "does not meet", r"^ERROR: Coverage for .* does not meet .*threshold", TEST, "coverage", "after the table"),
    Rule("mocha", " failing", r"^\s+[1-9]\d* failing\b", TEST, "failed", "spec reporter"),
    Rule("node:test", "fail ", r"^(?:#|ℹ) fail\s+[1-9]", TEST, "failed", "TAP and spec reporter"),
    Rule("tape", "# fail", r"^# fail\s+[1-9]", TEST, "failed", "TAP"),
    Rule("ava", "failed", r"^\s*[1-9]\d* (?:tests?|uncaught exceptions?|known failures?) failed$", TEST, "failed", "last lines"),
    Rule("ava", "rejection", r"^\s*[1-9]\d* unhandled rejections?$", TEST, "failed", "last lines"),
    Rule("bun", " fail", r"^\s*[1-9]\d* fail$", TEST, "failed", "summary"),
    Rule("deno", "FAILED |", r"^FAILED \| \d+ passed", TEST, "failed", "last line"),
    Rule("jasmine/karma", "failure", r"^\d+ specs?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("karma", "FAILED", r"Executed \d+ of \d+ .*\([1-9]\d* FAILED\)", TEST, "failed", "progress line"),
    Rule("playwright", " failed", r"^\s+[1-9]\d* failed$", TEST, "failed", "list reporter"),
    Rule("cypress", "Failing:", r"^\s*│? ?Failing:\s+[1-9]", TEST, "failed", "result box"),
    Rule("go", "--- FAIL:", r"^\s*--- FAIL: ", TEST, "failed", "go test"),
    Rule("go", "FAIL\t", r"^FAIL\t\S+ \[(?:build|setup) failed\]", TEST, "compile", "go test"),
    Rule("go", "FAIL\t", r"^FAIL\t\S+\t[\d.]+s", TEST, "failed", "go test"),
    Rule("go", "panic: test timed out", r"^panic: test timed out after", TEST, "failed", "go test -timeout"),
    Rule("cargo", "test result: FAILED", r"^test result: FAILED", TEST, "failed", "libtest"),
    Rule("cargo", "test failed, to rerun", r"^error: (?:\d+ )?(?:doc)?test failed, to rerun", TEST, "failed", "cargo"),
    Rule("nextest", "failed", r"^\s*Summary \[.*[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("surefire", "Tests run:", r"Tests run: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])", TEST, "failed", "per class"),
    Rule("surefire", "There are test failures", r"There are test failures", TEST, "failed", "plugin"),
    Rule("gradle", "failing tests", r"^> There were failing tests", TEST, "failed", "what went wrong"),
    Rule("gradle", "failed", r"^\d+ tests? completed, [1-9]\d* failed", TEST, "failed", "test task"),
    Rule("junit", "tests failed", r"^\[\s+[1-9]\d* tests failed\s+\]", TEST, "failed", "console launcher"),
    Rule("junit4", "Failures:", r"^Tests run: \d+,\s+Failures: [1-9]", TEST, "failed", "text runner"),
    Rule("ctest", "tests failed out of", r"^\d+% tests passed, [1-9]\d* tests? failed out of", TEST, "failed", "summary"),
    Rule("gtest", "FAILED", r"^\[  FAILED  \] ", TEST, "failed", "per test and summary"),
    Rule("catch2", "test cases:", r"^test cases:\s+\d+ \|.*\b[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("doctest-cpp", "[doctest]", r"^\[doctest\] test cases:.*\| +[1-9]\d* failed", TEST, "failed", "summary"),
    Rule("meson", "Fail:", r"^Fail:\s+[1-9]", TEST, "failed", "summary"),
    Rule("rspec", "failure", r"^\d+ examples?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("rspec", "outside of examples", r"^\d+ examples?, .*[1-9]\d* errors? occurred outside", TEST, "collection", "summary"),
    Rule("minitest", "assertions,", r"^\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|0 failures, [1-9]\d* errors)", TEST,
         "failed", "summary"),
    Rule("phpunit", "Assertions:", r"^Tests: \d+, Assertions: \d+.*(?:Failures|Errors): [1-9]", TEST, "failed", "summary"),
    Rule("dotnet", "Failed!", r"^Failed!\s+- Failed:\s+[1-9]", TEST, "failed", "vstest"),
    Rule("swift", "with ", r"^\s*Executed \d+ tests?, with [1-9]\d* failures?", TEST, "failed", "XCTest"),
    Rule("exunit", "failure", r"^\d+ (?:doctests?, \d+ )?tests?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("prove", "Result: FAIL", r"^Result: FAIL", TEST, "failed", "summary"),
    Rule("tap", "not ok ", r"^not ok \d+(?!.*# (?:TODO|SKIP))", TEST, "failed", "TAP: bats, node, tape, tap"),
    Rule("coverage", "fail-under", r"^(?:ERROR: )?Coverage failure: total of", TEST, "coverage", "pytest-cov, coverage report"),
    Rule("coverage", "Required test coverage", r"^(?:ERROR|FAIL):? Required test coverage of", TEST, "coverage", "pytest-cov"),
    Rule("nyc", "does not meet", r"^ERROR: Coverage for \w+ \([\d.]+%\) does not meet", TEST, "coverage", "check-coverage"),
)  # fmt: skip
"""Any of these lines means that a test runner ran and was not content. `failed` is refined by what the tests say."""

PASSED: Final = (
    Rule(
        "pytest", " passed", r"^(?:=+ )?(?!.*(?:failed|errors?\b))\d+ passed\b.* in [\d.]+ ?s", TEST, "", "closing line"
    ),
    Rule("unittest", "OK", r"^OK(?: \(.*\))?$", TEST, "", "last line"),
    Rule("jest", "Tests:", r"^\s*Tests:\s+(?!.*failed).*\d+ passed", TEST, "", "summary"),
    Rule("cargo", "test result: ok", r"^test result: ok", TEST, "", "libtest"),
)
"""Closing lines of a pass, needed only where the command exited 0: an inner runner's failure, printed on the way by a
test of a test tool, counts for nothing when the outer runner's closing line comes later."""

PROBLEMS: Final = (
    Rule("mypy", "Found ", r"^Found [1-9]\d* errors? in \d+ files?", "lint_failure", "types", "last line"),
    Rule("ruff", "Found ", r"^Found [1-9]\d* errors?\b", "lint_failure", "lint", "last line"),
    Rule("eslint", "problem", r"^✖ \d+ problems? \([1-9]\d* errors?", "lint_failure", "lint", "last line"),
    Rule("pyright", " error", r"^[1-9]\d* errors?, \d+ warnings?", "lint_failure", "types", "last line"),
    Rule("tsc", "error TS", r"^\S+\(\d+,\d+\): error TS\d+: ", "lint_failure", "types", "each"),
)
"""Linters' and type checkers' closing lines that contradict an exit status of 0 when a pipe or `;` hid the real one."""
