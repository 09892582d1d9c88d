"""Runners whose tools are not installed here, or take too long to build: recorded reports and outputs."""

from pathlib import Path

import pytest
from test_runner_table import leavings, write

from kotef.checks.runner_summaries import console_counts
from kotef.checks.runners import RunnerCommand, environment_for, reading_of
from kotef.checks.types import TestStatus
from kotef.shell import unwrap

CYPRESS = """\

  (Run Starting)

  Running:  cypress/e2e/cart.cy.js                                                          (1 of 2)


  cart
    ✓ adds (512ms)
    (Attempt 1 of 2) removes
    1) removes
    - pays
    prices
      ✓ sums (1s)


  2 passing (2s)
  1 pending
  1 failing

  1) cart
       removes:
     AssertionError: expected 1 to equal 0

  (Results)

  ┌────────────────────────────────────────────────┐
  │ Tests:        4                                │
  └────────────────────────────────────────────────┘

  Running:  cypress/e2e/login.cy.js                                                         (2 of 2)


  login
    1) "before each" hook for "greets"


  0 passing (10ms)
  1 failing

  1) login
       "before each" hook for "greets":
     Error: x
"""
OF_CYPRESS: dict[str, TestStatus] = {
    "cypress/e2e/cart.cy.js::cart::adds": "passed",
    "cypress/e2e/cart.cy.js::cart::removes": "failed",
    "cypress/e2e/cart.cy.js::cart::pays": "skipped",
    "cypress/e2e/cart.cy.js::cart::prices::sums": "passed",
    'cypress/e2e/login.cy.js::login::"before each" hook': "failed",
}
SWIFT = """\
Test Suite 'All tests' started at 2024-09-16 10:00:00.000
Test Suite 'All tests' passed at 2024-09-16 10:00:00.001
\t Executed 0 tests, with 0 failures (0 unexpected) in 0.000 (0.000) seconds
◇ Test run started.
↳ Testing Library Version: 6.0
◇ Test ok() started.
✔ Test ok() passed after 0.001 seconds.
◇ Test "two words" started.
✘ Test "two words" recorded an issue at a.swift:4:5: Expectation failed: 1 == 2
✘ Test "two words" failed after 0.001 seconds with 1 issue.
➜ Test off() skipped: "not yet"
✘ Test run with 3 tests failed after 0.002 seconds with 1 issue.
"""
OF_SWIFT: dict[str, TestStatus] = {"ok()": "passed", '"two words"': "failed", "off()": "skipped"}
CATCH = """\
<?xml version="1.0" encoding="UTF-8"?>
<Catch2TestRun name="c" rng-seed="1" catch2-version="3.7.1">
  <TestCase name="one" filename="c.cpp" line="3">
    <OverallResult success="true" skips="0"/>
  </TestCase>
  <TestCase name="two" filename="c.cpp" line="4">
    <Section name="in"><Expression success="false"/></Section>
    <OverallResult success="false" skips="0"/>
  </TestCase>
  <TestCase name="off" filename="c.cpp" line="5">
    <OverallResult success="true" skips="1"/>
  </TestCase>
  <TestCase name="may" tags="[!mayfail]" filename="c.cpp" line="7">
    <Expression success="false"/>
    <OverallResult success="true" skips="0"/>
  </TestCase>
</Catch2TestRun>
"""
OF_CATCH: dict[str, TestStatus] = {"one": "passed", "two": "failed", "off": "skipped", "may": "xfailed"}
DOCTEST = """\
<?xml version="1.0" encoding="UTF-8"?>
<doctest binary="./d" version="2.4.9">
  <TestSuite>
    <TestCase name="one" filename="d.cpp" line="3">
      <OverallResultsAsserts successes="1" failures="0" test_case_success="true"/>
    </TestCase>
  </TestSuite>
  <TestSuite name="s">
    <TestCase name="two" filename="d.cpp" line="6">
      <OverallResultsAsserts successes="0" failures="1" test_case_success="false"/>
    </TestCase>
    <TestCase name="exp" filename="d.cpp" line="6" should_fail="true">
      <Expression success="false" type="CHECK"/>
      <OverallResultsAsserts successes="0" failures="1" test_case_success="true"/>
    </TestCase>
    <TestCase name="off" filename="d.cpp" line="6" skipped="true"/>
  </TestSuite>
</doctest>
"""
OF_DOCTEST: dict[str, TestStatus] = {"one": "passed", "s::two": "failed", "s::exp": "xfailed", "s::off": "skipped"}
PRINTED = {
    "cypress": ("npx cypress run", CYPRESS, OF_CYPRESS),
    "swift": ("swift test", SWIFT, OF_SWIFT),
    "catch2": ("./tests -r xml", CATCH, OF_CATCH),
    "doctest": ("./tests -r=xml", DOCTEST, OF_DOCTEST),
}


@pytest.mark.parametrize("tool", PRINTED)
def test_an_output_tells_of_each_test(tmp_path: Path, tool: str) -> None:
    command, output, tests = PRINTED[tool]
    reading = reading_of(leavings(tmp_path, command, output))
    assert reading is not None
    assert (reading.tests, reading.evidence) == (tests, "lines")


@pytest.mark.parametrize("tool", ["cypress", "swift"])
def test_an_output_without_one_of_its_lines_tells_of_none(tmp_path: Path, tool: str) -> None:
    command, output, _ = PRINTED[tool]
    lines = [line for line in output.splitlines() if "✓ adds" not in line and "ok() passed" not in line]
    assert reading_of(leavings(tmp_path, command, "\n".join(lines))) is None


TRX = """\
<?xml version="1.0" encoding="utf-8"?>
<TestRun id="r" xmlns="http://microsoft.com/schemas/VisualStudio/TeamTest/2010">
  <Results>
    <UnitTestResult testId="1" testName="Shop.CartTests.Adds" outcome="Passed"/>
    <UnitTestResult testId="2" testName="Shop.CartTests.Sums(a: 1, b: 2)" outcome="Failed"><Output/></UnitTestResult>
    <UnitTestResult testId="3" testName="Pays" outcome="NotExecuted"/>
  </Results>
  <TestDefinitions>
    <UnitTest id="1" name="Shop.CartTests.Adds"><TestMethod className="Shop.CartTests" name="Adds"/></UnitTest>
    <UnitTest id="2" name="x"><TestMethod className="Shop.CartTests" name="Sums"/></UnitTest>
    <UnitTest id="3" name="Pays"><TestMethod className="Shop.PayTests, Shop, Version=1.0" name="Pays"/></UnitTest>
  </TestDefinitions>
</TestRun>
"""


def test_every_trx_file_is_read(tmp_path: Path) -> None:
    other = TRX.replace("CartTests", "UserTests")
    root = write(tmp_path, {"dotnet/a.trx": TRX, "dotnet/b/b.trx": other, "TestResults/old.trx": TRX})
    reading = reading_of(leavings(root, "dotnet test"))
    assert reading is not None
    assert reading.evidence == "report"
    assert reading.tests == {
        "Shop.CartTests::Adds": "passed",
        "Shop.CartTests::Sums(a: 1, b: 2)": "failed",
        "Shop.PayTests::Pays": "skipped",
        "Shop.UserTests::Adds": "passed",
        "Shop.UserTests::Sums(a: 1, b: 2)": "failed",
    }
    (root / "dotnet/a.trx").write_text(TRX[:300])
    assert reading_of(leavings(root, "dotnet test")) is None


BAZEL = """\
<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="c" errors="0" failures="2" skipped="0" tests="6">
    <testcase classname="c.global" name="one" status="run"/>
    <testcase classname="c.global" name="three/left, x" status="run"/>
    <testcase classname="c.global" name="three/right" status="run"><failure message="false" type="CHECK"/></testcase>
    <testcase classname="c.global" name="may" status="run">
      <skipped message="TEST_CASE tagged with !mayfail"/><failure message="false" type="REQUIRE"/>
    </testcase>
    <testcase classname="c.Cart" name="adds" status="run"/>
  </testsuite>
</testsuites>
"""
CLOSING = "test cases: {} | {} passed | {} failed | 1 failed as expected\nassertions: 6 | 4 passed | 2 failed\n"


def test_the_report_of_catch2_for_bazel_is_read_where_it_is_of_all_test_cases(tmp_path: Path) -> None:
    root = write(tmp_path, {"catch2.xml": BAZEL})
    reading = reading_of(leavings(root, "make test", CLOSING.format(4, 2, 1)))
    assert reading is not None
    assert reading.tests == {"one": "passed", "three": "failed", "may": "xfailed", "Cart::adds": "passed"}
    assert reading_of(leavings(root, "make test", CLOSING.format(9, 7, 1))) is None, "another program wrote before"


def test_catch2_is_asked_only_where_a_build_file_names_it(tmp_path: Path) -> None:
    reports = tmp_path / "reports"
    reports.mkdir()
    asked = []
    for text in ("find_package(GTest)", "find_package(Catch2 3 REQUIRED)"):
        write(tmp_path, {"tests/CMakeLists.txt": text})
        env = environment_for(RunnerCommand("make", unwrap("make"), tmp_path, reports), {})
        asked.append("BAZEL_TEST" in env)
    assert asked == [False, True]


def test_a_failure_that_catch2_expects_is_no_failure() -> None:
    counts = console_counts(
        "test cases: 6 | 5 passed | 1 failed as expected\nassertions: 6 | 5 passed | 1 failed as expected\n"
    )
    assert counts is not None
    assert (counts.executed, counts.failed) == (6, 0)
