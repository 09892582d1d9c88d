# ruff: noqa: E501 - a row of a table is one line, so that columns can be compared
"""Header lines with which each test runner names a failing test."""

from typing import Final, Literal, NamedTuple

Below = Literal["why", "nothing", "above"]


class Header(NamedTuple):
    """A line that names a failing test."""

    runner: str
    needs: str
    """A literal somewhere in the output that shows this runner is speaking."""
    hint: str
    """A literal of the line itself."""
    pattern: str
    """Matched at the start of the line; group `test` is the name, `error` the reason if it is there too."""
    source: str
    below: Below = "why"
    """What is below it, down to the next header: the reason; nothing, in a list; or the reason is above."""
    only_if: str = ""
    """Some runners announce every test: a pattern, `{test}` for the name, found in the output if this one failed."""


def _numbered(runner: str, needs: str) -> Header:
    """The sections of runners that number their failures, `  1) Cart adds up`."""
    return Header(runner, needs, ") ", r"  \d+\) (?P<test>\S.*)$", "numbered section")


HEADERS: Final = (
    # Python
    Header("pytest", "___", "___", r"_{3,} (?:ERROR (?:at \w+ of |collecting ))?(?P<test>\S.*?) _{3,}$", "section"),
    Header("pytest", "FAILED ", "FAILED ", r"(?:\[gw\d+\] \[ *\d+%\] )?FAILED (?P<test>[^\s:()|]+\.\w+(?:::.+?)?)(?: - (?P<error>.+))?$", "summary", "nothing"),
    Header("pytest", "ERROR ", "ERROR ", r"ERROR (?P<test>[^\s:]+\.py(?:::.+?)?)(?: - (?P<error>.+))?$", "summary", "nothing"),
    Header("pytest", "::", " FAILED", r"(?P<test>[^\s:]+\.py::.+?) FAILED(?: +\[ *\d+%\])?$", "-v", "nothing"),
    Header("pytest-timeout", "+ Timeout +", ", in test", r'\s+File "[^"]+", line \d+, in (?P<test>test\w*)$', "--timeout-method=thread", "nothing"),
    Header("unittest", "======", "FAIL", r"FAIL: (?P<test>\w+ \([\w.<>]+\)(?: .*)?|\S.*)$", "section"),
    Header("unittest", "======", "ERROR", r"ERROR: (?P<test>\w+ \([\w.<>]+\).*)$", "section"),
    Header("unittest", "======", "UNEXPECTED SUCCESS", r"UNEXPECTED SUCCESS: (?P<test>\w+ \([\w.<>]+\).*)$", "section", "nothing"),
    Header("green", "Failure in ", " in ", r"(?:Failure|Error) in (?P<test>[\w.]+)$", "section"),
    Header("trial", "======", "test", r"(?P<test>(?:\w+\.)+test\w*)$", "below the traceback", "above"),
    Header("doctest", "***Test Failed***", ", in ", r'File "[^"]+", line \d+, in (?P<test>\S+)$', "section"),
    Header("behave", "Failing scenarios:", ".feature:", r"  \S+\.feature:\d+ +(?P<test>\S.*)$", "list", "nothing"),
    Header("robot", "| FAIL |", "| FAIL |", r"(?P<test>\S.*?) +\| FAIL \|$", "console"),
    # JavaScript
    Header("jest", "●", "●", r"\s*● (?P<test>(?!Validation|Console|Deprecation|Unrecognized).+)$", "section"),
    Header("jest", "✕", "✕", r"\s*✕ (?P<test>.+?)(?: \(\d[\d.]* m?s\))?$", "--verbose", "nothing"),
    Header("vitest", "Test Files ", " FAIL ", r" FAIL  (?P<test>(?!\").*?\S)(?: \[ .* \])?$", "section"),
    Header("uvu", "  Passed: ", " FAIL ", r"\s+FAIL  ?\"(?P<test>.+)\"$", "section"),
    _numbered("mocha", " failing"),
    Header("jasmine", "  Message:", ") ", r"\d+\) (?P<test>\S.*)$", "section"),
    Header("node", "failing tests:", "✖ ", r"\s*✖ (?P<test>(?!failing tests:).+?)(?: \(\d[\d.]*ms\))?$", "spec reporter"),
    Header("tap", "not ok ", "not ok ", r"\s*not ok (?:\d+ )?(?:- )?(?P<test>(?!.*# ?(?:TODO|SKIP|todo|skip))\S.*?)(?: # .*)?$", "TAP"),
    Header("automake", ":test-result: ", ":test-result: ", r":test-result: (?:FAIL|XPASS|ERROR) (?P<test>\S.*)$", "test driver", "nothing"),
    Header("teamcity", "##teamcity[testFailed", "##teamcity[testFailed", r"\s*##teamcity\[testFailed (?=[^\n]*?\bname='(?P<test>(?:[^'|]|\|.){1,300})')(?:(?=[^\n]*?\bmessage='(?P<error>(?:[^'|]|\|.){0,300})))?", "service messages", "nothing"),
    Header("cucumber", "scenario", "cucumber ", r"cucumber (?:-\S+ )*(?P<test>\S+\.feature:\d+.*)$", "list", "nothing"),
    Header("harness", "TEST-UNEXPECTED", "TEST-UNEXPECTED", r"(?:\S+ ){0,3}?TEST-UNEXPECTED-\w+ \| (?P<test>[^|]+?) \| (?P<error>.*)$", "per test", "nothing"),
    Header("ava", "[fail]: ", "[fail]: ", r"\s*✘ \[fail\]: (?P<test>.+)$", "list; one section for each follows"),
    Header("bun", "(fail)", "(fail)", r"\(fail\) (?P<test>.+?)(?: \[[\d.]+ms\])?$", "bun test", "above"),
    Header("deno", "FAILED |", " => ", r"(?P<test>\S.*) => (?:\./|file://)\S+:\d+:\d+$", "section"),
    Header("playwright", " › ", " › ", r"\s+\d+\) (?P<test>.*\S › .*?)(?: ─+)?$", "section"),
    Header("karma", " FAILED", " FAILED", r"\w[\w ]* [\d.]+ \(.*\) (?P<test>.+) FAILED$", "per test"),
    # Go, Rust
    Header("go", "--- FAIL:", "=== RUN", r"=== RUN +(?P<test>\S+)$", "-v: the log stands above the verdict", only_if=r"--- FAIL: {test} "),
    Header("go", "--- FAIL:", "--- FAIL:", r"\s*--- FAIL: (?P<test>\S+)(?: \([\d.]+s\))?$", "go test"),
    Header("go", "panic: test timed out", ".Test", r"\S+\.(?P<test>Test\w*)\(", "go test -timeout: a frame of the stack", "above"),
    Header("go", "FAIL\t", "FAIL\t", r"FAIL\t(?P<test>\S+) \[(?:build|setup) failed\]$", "go test", "nothing"),
    Header("cargo", "test result:", " stdout ----", r"---- (?P<test>\S.*) stdout ----$", "libtest"),
    Header("cargo", "... FAILED", "... FAILED", r"test (?P<test>\S.*?)(?: - should panic)? \.\.\. FAILED$", "libtest", "nothing"),
    Header("nextest", "FAIL [", "FAIL [", r"\s*FAIL \[ *[\d.]+s\](?: \([ \d/]+\))? (?P<test>\S.*)$", "nextest"),
    # JVM, .NET, Swift, Dart
    Header("surefire", "<<< ", "<<< ", r"(?:\[ERROR\] +)?(?P<test>[\w.$]+(?:\([\w.$]+\))?(?:\[.*\])?) +(?:--)? *Time elapsed: .*<<< (?:FAILURE|ERROR)!$", "per test"),
    Header("surefire", "[ERROR]", "Test", r"\[ERROR\] {2,}(?P<test>\w+(?:\.|->)\w+)(?::\d+(?:->\S+)?)? (?P<error>\S.*)$", "results", "nothing"),
    Header("ant", "Testcase: ", "Testcase: ", r"\s*Testcase: (?P<test>\S+) took ", "junit task", only_if=r"Testcase: {test} took [^\n]*\n\s*(?:FAILED|Caused an ERROR)"),
    Header("junit4", "Tests run:", ") ", r"\d+\) (?P<test>\w+\([\w.$]+\))$", "text runner"),
    Header("gradle", " > ", " FAILED", r"(?P<test>\w\S*(?: > .+)+) FAILED$", "test logging"),
    Header("scalatest", "*** FAILED ***", "*** FAILED ***", r"(?:\[info\] )?\s*- (?P<test>.+) \*\*\* FAILED \*\*\*", "per test"),
    Header("dotnet", "Failed", "Failed ", r"\s+Failed (?P<test>[\w.+]+(?:\(.*\))?) \[.*\]$", "vstest"),
    Header("xctest", "XCTest", ".swift:", r"\S+\.swift:\d+: error: (?:-\[)?(?P<test>\w[\w. ]*?)\]? : (?P<error>.+)$", "XCTest", "nothing"),
    Header("xctest", "Executed ", ".swift:", r"\S+\.swift:\d+: error: (?P<test>\w+\.\w+) : (?P<error>.+)$", "XCTest on Linux", "nothing"),
    Header("swift-testing", "recorded an issue", "recorded an issue", r".{0,3}Test (?P<test>.+?) recorded an issue at \S+: (?P<error>.+)$", "Swift Testing", "nothing"),
    Header("dart", " [E]", " [E]", r"\d\d:\d\d \+\d+(?: ~\d+)? -\d+: (?P<test>.+) \[E\]$", "dart test, flutter test"),
    # C, C++
    Header("ctest", "% tests passed", "***", r"\s*\d+/\d+ Test +#\d+: (?P<test>\S+) \.*\*\*\*(?P<error>\S.*?) +[\d.]+ sec$", "per test, with its output"),
    Header("ctest", "% tests passed", " (", r"\s+\d+ - (?P<test>\S+) \((?P<error>[^()]+)\)$", "list", "nothing"),
    Header("gtest", "[  FAILED  ]", "[ RUN      ]", r"\[ RUN      \] (?P<test>\S+)$", "announced", only_if=r"\[  FAILED  \] {test}\b"),
    Header("gtest", "[  FAILED  ]", "[  FAILED  ]", r"\[  FAILED  \] (?P<test>\w\S*\.[^\s,]+)", "verdict", "nothing"),
    Header("catch2", "test cases:", ": FAILED:", r"\S+:\d+: FAILED:(?P<test>)$", "the name stands above, between rules"),
    Header("doctest-cpp", "[doctest]", "TEST CASE:", r"TEST CASE: +(?P<test>.+)$", "section"),
    Header("check", "%: Checks", ":", r"\S+:\d+:[FE]:[^:]*:(?P<test>[^:]+):\d+: (?P<error>.+)$", "per test", "nothing"),
    Header("meson", "Expected Fail:", "s ", r"\s*\d+/\d+ (?:\S+ / )?(?P<test>\S.*?) +(?P<error>(?:FAIL|TIMEOUT|ERROR) +[\d.]+s.*)$", "list"),
    Header("bazel", "Executed ", "FAILED", r"(?P<test>//\S+) +(?P<error>FAILED in .+)$", "summary", "nothing"),
    # Ruby, PHP, Elixir, Perl, shell, the rest
    Header("rspec", "examples,", "rspec ", r"rspec \./\S+:\d+ # (?P<test>.+)$", "list", "nothing"),
    Header("rspec", "outside of examples", "while loading", r"An error occurred while loading (?P<test>\S+?)\.?$", "section"),
    _numbered("rspec", "Failure/Error"),
    _numbered("hspec", "but got:"),
    Header("minitest", "assertions,", "#test", r"(?P<test>[\w:]+#test\w*)(?: \[.*\])?:$", "section"),
    Header("test-unit", "assertions,", "(", r"(?:Failure|Error): (?P<test>test\w*\([\w:]+\))(?P<error>.*)$", "section"),
    Header("phpunit", "Assertions:", "::", r"\d+\) (?P<test>[\w\\]+::\w+.*)$", "section"),
    Header("phpunit", "Assertions:", "✘", r"\s*✘ (?P<test>.+?)(?: \[[\d.]+ m?s\])?$", "--testdox"),
    Header("exunit", "failure", ") ", r"  \d+\) (?P<test>(?:test|doctest|property) .+) \([\w.]+\)$", "section"),
    Header("eunit", "*failed*", "*failed*", r"(?P<test>\S+?)(?: \(.*\))?\.\.\.\*failed\*$", "per test"),
    Header("perl", "Failed test", "Failed test", r"\s*# +Failed test '(?P<test>.+)'$", "Test::More"),
    Header("prove", "Result: FAIL", "(Wstat:", r"(?P<test>\S+\.t) +\(Wstat: .*(?:Failed: [1-9]|exited [1-9])", "summary report", "nothing"),
    Header("bats", "✗", "✗", r"\s*✗ (?P<test>.+?)(?: \[\d+\])?$", "pretty"),
    Header("busted", " / ", " @ ", r"(?:Failure|Error) (?:→|->) .+ @ \d+(?P<test>)$", "section; the name stands below"),
    Header("testthat", "── ", "── ", r"── (?:\d+\. )?(?:Failure|Error) \(.*?\): (?P<test>.+?) ─+$", "section"),
    Header("julia", "Test Failed at", "Test Failed at", r"(?P<test>\S.*): Test Failed at ", "section"),
)  # fmt: skip
