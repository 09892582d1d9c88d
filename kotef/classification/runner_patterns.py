# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Patterns with which each test runner reports failed tests or success."""

from typing import Final

from kotef.classification.rules import Rule

TEST: Final = "test_failure"
LINT: Final = "lint_failure"

FAILED: Final = (
    Rule("pytest", "failed", r"^(?:=+ )?(?:\d+ \w+, )*\d+ failed\b.* in [\d.]+ ?s", TEST, "failed", "closing line"),
    Rule("pytest", " error", r"^(?:=+ )?(?:\d+ \w+, )*\d+ errors?\b.* in [\d.]+ ?s", TEST, "failed", "closing line"),
    Rule("pytest", "while loading conftest", r"^ImportError while loading conftest", TEST, "failed", "before collection"),
    Rule("pytest", "FAILED ", r"^FAILED \S+::", TEST, "failed", "short summary, when the closing line is cut off"),
    Rule("pytest", "!!!", r"^!+ (?:stopping after|Interrupted: \d+ error)", TEST, "failed", "-x, --maxfail"),
    Rule("pytest", "_ ERROR collecting", r"^_+ ERROR collecting ", TEST, "failed", "section header"),
    Rule("pytest-timeout", "+ Timeout +", r"^\++ Timeout \++$", TEST, "timeout", "--timeout-method=thread ends the process"),
    Rule("unittest", "FAILED (", r"^FAILED \(.*(?:failures|errors|unexpected successes)=\d", TEST, "failed", "last line"),
    Rule("doctest", "***Test Failed***", r"^\*\*\*Test Failed\*\*\* \d+ failure", TEST, "failed", "last line"),
    Rule("nose2/trial", "FAILED (", r"^FAILED \((?:\w+=\d+,? ?)+\)", TEST, "failed", "last line"),
    Rule("behave", "scenario", r"^\d+ scenarios? passed, [1-9]\d* failed", TEST, "failed", "summary"),
    Rule("robot", " failed", r"^\d+ tests?, \d+ passed, [1-9]\d* failed", TEST, "failed", "console"),
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
    Rule("uvu", "FAIL", r"^\s+FAIL  ?\"", TEST, "failed", "section header"),
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
    Rule("check", "%: Checks:", r"^\d+%: Checks: \d+, (?:Failures: [1-9]|Failures: 0, Errors: [1-9])", TEST, "failed", "summary"),
    Rule("bazel", " fail", r"^Executed \d+ out of \d+ tests?: .*\bfails?\b", TEST, "failed", "summary"),
    Rule("meson", "Fail:", r"^Fail:\s+[1-9]", TEST, "failed", "summary"),
    Rule("rspec", "failure", r"^\d+ examples?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("rspec", "outside of examples", r"^\d+ examples?, .*[1-9]\d* errors? occurred outside", TEST, "collection", "summary"),
    Rule("minitest", "assertions,", r"^\d+ (?:runs|tests), \d+ assertions, (?:[1-9]\d* failures|0 failures, [1-9]\d* errors)", TEST,
         "failed", "summary"),
    Rule("phpunit", "Assertions:", r"^Tests: \d+, Assertions: \d+.*(?:Failures|Errors): [1-9]", TEST, "failed", "summary"),
    Rule("dotnet", "Failed!", r"^Failed!\s+- Failed:\s+[1-9]", TEST, "failed", "vstest"),
    Rule("swift", "with ", r"^\s*Executed \d+ tests?, with [1-9]\d* failures?", TEST, "failed", "XCTest"),
    Rule("exunit", "failure", r"^\d+ (?:doctests?, \d+ )?tests?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("swift-testing", "Test run with", r"^.{0,3}Test run with \d+ tests? .*failed", TEST, "failed", "Swift Testing"),
    Rule("dart", "Some tests failed", r"Some tests failed\.$", TEST, "failed", "last line"),
    Rule("scalatest", "TEST", r"^(?:\[info\] )?\*\*\* [1-9]\d* (?:TESTS?|SUITES?) (?:FAILED|ABORTED) \*\*\*", TEST, "failed", "summary"),
    Rule("eunit", "Failed:", r"^\s*Failed: [1-9]\d*\.\s+Skipped:", TEST, "failed", "summary"),
    Rule("hspec", "failure", r"^\d+ examples?, [1-9]\d* failures?", TEST, "failed", "summary"),
    Rule("busted", "failure", r"^\d+ success(?:es)? / (?:[1-9]\d* failures?|\d+ failures? / [1-9]\d* errors?)", TEST, "failed", "summary"),
    Rule("testthat", "Test failures", r"^Error: Test failures", TEST, "failed", "stop_on_failure"),
    Rule("testthat", "FAIL", r"^\[ FAIL [1-9]", TEST, "failed", "reporters"),
    Rule("julia", "did not pass", r"Some tests did not pass: ", TEST, "failed", "last line"),
    Rule("prove", "Result: FAIL", r"^Result: FAIL", TEST, "failed", "summary"),
    Rule("tap", "not ok", r"^not ok(?: \d+\b| (?:\S+ )?- |\s*$)(?!.*# ?(?i:TODO|SKIP))", TEST, "failed", "TAP: bats, node, tape, tap"),
    Rule("tap", "Bail out!", r"^Bail out!", TEST, "failed", "TAP: the run was given up"),
    Rule("cucumber", "scenario", r"^\d+ scenarios? \(.*\b[1-9]\d* failed\b", TEST, "failed", "summary"),
    Rule("automake", ":test-result: ", r"^:test-result: (?:FAIL|XPASS|ERROR)\b", TEST, "failed", "test driver"),
    Rule("automake", "# ", r"^# (?:FAIL|XPASS|ERROR): +[1-9]", TEST, "failed", "summary of `make check`, DejaGnu's alike"),
    Rule("teamcity", "##teamcity[testFailed", r"^\s*##teamcity\[testFailed\b", TEST, "failed", "service messages"),
    Rule("coverage", "fail-under", r"^(?:ERROR: )?Coverage failure: total of", TEST, "coverage", "pytest-cov, coverage report"),
    Rule("coverage", "Required test coverage", r"^(?:ERROR|FAIL):? Required test coverage of", TEST, "coverage", "pytest-cov"),
    Rule("nyc", "does not meet", r"^ERROR: Coverage for \w+ \([\d.]+%\) does not meet", TEST, "coverage", "check-coverage"),
)  # fmt: skip
"""Any of these lines means that a test runner ran and was not content. `failed` is refined by what the tests say."""

PASSED: Final = (
    Rule("pytest", " passed", r"^(?:=+ )?(?!.*(?:failed|errors?\b))\d+ passed\b.* in [\d.]+ ?s", TEST, "", "closing line"),
    Rule("unittest", "OK", r"^OK(?: \(.*\))?$", TEST, "", "last line"),
    Rule("jest", "Tests:", r"^\s*Tests:\s+(?!.*failed).*\d+ passed", TEST, "", "summary"),
    Rule("vitest", "Tests ", r"^\s*Tests\s+(?!.*failed).*\d+ passed", TEST, "", "summary"),
    Rule("node:test", "fail 0", r"^(?:#|ℹ) fail 0$", TEST, "", "TAP and spec reporter"),
    Rule("cargo", "test result: ok", r"^test result: ok", TEST, "", "libtest"),
    Rule("go", "ok", r"^ok  ?\t?\S+\t[\d.(]", TEST, "", "per package"),
    Rule("maven", "BUILD SUCCESS", r"BUILD SUCCESS", TEST, "", "reactor"),
    Rule("ctest", "100% tests passed", r"^100% tests passed", TEST, "", "summary"),
    Rule("gtest", "[  PASSED  ]", r"^\[  PASSED  \] \d+ tests?", TEST, "", "summary"),
    Rule("rspec", " 0 failures", r"^\d+ examples?, 0 failures|^\d+ (?:runs|tests), .*\b0 failures, 0 errors|^\d+ tests?, 0 failures", TEST,
         "", "summary; minitest; ExUnit, Bats"),
    Rule("phpunit", "OK (", r"^OK \(\d+ tests?", TEST, "", "summary"),
    Rule("prove", "Result: PASS", r"^Result: PASS", TEST, "", "summary"),
)  # fmt: skip
"""Closing lines of a pass, needed only where the command exited 0 or no one knows: an inner runner's failure, printed
on the way by a test of a test tool, counts for nothing when the outer runner's closing line comes later."""

COMPLAINED: Final = (
    Rule("pre-commit", "files were modified", r"^- files were modified by this hook", LINT, "format", "under the hook's name"),
    Rule("mix", "check-formatted", r"failed due to --check-formatted", LINT, "format", "mix format"),
    Rule("cargo", "could not compile", r"^error: could not compile `", LINT, "compile", "last line"),
    Rule("webpack", "compiled with", r"compiled with \d+ errors?", LINT, "compile", "last line"),
    Rule("deno", "Type checking failed", r"^error: Type checking failed", LINT, "types", "last line"),
    Rule("interrogate", "FAILED (minimum", r"RESULT: FAILED \(minimum", LINT, "lint", "last line"),
    Rule("import-linter", " broken", r"^Contracts: \d+ kept, [1-9]\d* broken", LINT, "lint", "summary"),
    Rule("rollup", "[!] ", r"^\[!\] (?:\(.*\) )?(?:\w*Error: )?(?:Could not resolve|Unexpected|\S.* is not exported)", LINT, "compile", "first line"),
    Rule("vite", "failed to resolve import", r"(?:failed to|Could not) resolve (?:import|entry)", LINT, "compile", "Rollup's error"),
    Rule("vite", "error during build", r"^error during build:", LINT, "compile", "above the bundler's error"),
    Rule("deno", "not formatted file", r"^error: Found \d+ not formatted files?", LINT, "format", "deno fmt --check"),
    Rule("djlint", " would be ", r"^\d+ files? would be (?:updated|reformatted)", LINT, "format", "djlint, and black's closing line"),
    Rule("perl", "compilation errors", r"(?:aborted due to|had) compilation errors", LINT, "compile", "last line"),
    Rule("ld", "undefined", r"(?:undefined (?:reference|symbol)|[Uu]nresolved external|[Ss]ymbol \S+ .*is undefined)", LINT, "compile", "linkers"),
    Rule("ld", "ld", r"^(?:\S*/)?(?:[\w-]*\b)?l?ld(?:[.-][\w.]+)?: (?:error|fatal|cannot find -l)", LINT, "compile", "linkers"),
    Rule("php", "Errors parsing ", r"^Errors parsing ", LINT, "compile", "php -l"),
    Rule("dotnet format", "whitespace", r"error WHITESPACE: ", LINT, "format", "per place"),
    Rule("spotless", "format violations", r"The following files had format violations", LINT, "format", "Maven, Gradle"),
    Rule("checkstyle", "Checkstyle", r"(?:You have \d+ Checkstyle violation|Checkstyle rule violations were found)", LINT, "lint", "Maven, Gradle"),
    Rule("detekt", "weighted issues", r"Analysis failed with \d+ weighted issues", LINT, "lint", "last line"),
    Rule("gofmt", "diff ", r"^diff (?:-u )?\S+\.orig \S+", LINT, "format", "gofmt -d"),
)  # fmt: skip
"""What tools that look at code say in closing when no single complaint can be read."""

PROBLEMS: Final = (
    Rule("mypy", "Found ", r"^Found [1-9]\d* errors? in \d+ files?", LINT, "types", "last line"),
    Rule("ruff", "Found ", r"^Found [1-9]\d* errors?\b", LINT, "lint", "last line"),
    Rule("eslint", "problem", r"^✖ \d+ problems? \([1-9]\d* errors?", LINT, "lint", "last line"),
    Rule("pyright", " error", r"^[1-9]\d* errors?, \d+ warnings?", LINT, "types", "last line"),
    Rule("tsc", "error TS", r"^\S+\(\d+,\d+\): error TS\d+: ", LINT, "types", "each"),
)
"""Linters' and type checkers' closing lines that contradict an exit status of 0 when a pipe or `;` hid the real one."""

_TESTS: Final = r"(?:unit |integration )?(?:tests?|test ?(?:cases|suites|files)|test ?case|specs?|examples?|scenarios?|suites?|assertions?)"
_BAD: Final = r"(?:failed|failures?|failing|errors?|errored|broken|unexpected)"

_HINTS: Final = ("est", "EST", "pec", "cenario", "xample", "uite", "ssertion")
_SUMS: Final = (
    ("tests … N failed", rf"(?i)^\W{{0,6}}{_TESTS}\b[^\n]{{0,80}}?(?:\b[1-9]\d* {_BAD}|\b{_BAD}\s*[:=]\s*[1-9])"),
    ("N tests, M failed", rf"(?i)^\W{{0,6}}(?:[a-z]+:? ){{0,2}}\d+ {_TESTS}\b[^\n]{{0,80}}?(?:\b[1-9]\d* {_BAD}|\b{_BAD}\s*[:=]\s*[1-9])"),
    ("N tests failed", rf"(?i)^\W{{0,6}}(?:\w+ ){{0,4}}?[1-9]\d*(?: of \d+| out of \d+|/\d+)? {_TESTS} (?:have |had |has )?(?:failed|failing|errored)\b"),
)  # fmt: skip

COUNTED: Final = (
    *(Rule("any", hint, pattern, TEST, "failed", source) for source, pattern in _SUMS for hint in _HINTS),
    Rule("cucumber", "scenario", r"^\d+ scenarios? \(.*\b[1-9]\d* (?:undefined|ambiguous|pending)\b", TEST, "failed", "summary, --strict"),
    Rule("any", "ass", r"(?i)\b\d+ (?:passed|passing|passes)\b[^\n]{0,30}?\b[1-9]\d* (?:failed|failures?|failing|errors?|broken)\b", TEST, "failed", "N passed, M failed"),
    Rule("any", "ass", r"(?i)\b[1-9]\d* (?:failed|failures?|failing|errors?|broken)\b[^\n]{0,30}?\b\d+ (?:passed|passing|passes)\b", TEST, "failed", "M failed, N passed"),
    Rule("any", "FAIL: ", r"^FAIL: +\S", TEST, "failed", "per test: DejaGnu, automake"),
    Rule("any", "TEST-UNEXPECTED-", r"^(?:\S+ +){0,3}?TEST-UNEXPECTED-\w+ \|", TEST, "failed", "per test: harnesses of browsers"),
    Rule("any", "FAIL", r"^\s*\[\s*FAIL(?:ED|URE)?\s*\]", TEST, "failed", "per test"),
    Rule("any", "nexpected", r"(?i)\b[1-9]\d* unexpected (?:\w+ )?(?:results?|status\w*|crash\w*|fail\w*|pass\w*|errors?)\b|\bunexpected: +[1-9]", TEST, "failed", "harnesses"),
    Rule("any", "ailed:", r"^\s*(?:[\w-]+ ){0,2}(?:F|f)ailed:\s+[1-9]\d*\s*$", TEST, "failed", "a column of counts"),
    Rule("any", "tests failed", r"(?i)^\W*(?:one or more|some|\d+) (?:unit ?)?tests? (?:have )?failed", TEST, "failed", "last line"),
)  # fmt: skip
"""How runners that no one listed count what failed; heard only where the command was not for looking at code."""
