"""RSpec, minitest, PHPUnit, ExUnit and nextest with the real tools, where they are installed."""

import sys
from pathlib import Path

import pytest
from test_runner_table import checked, needs, write

from kotef.checks.single_test_command import alone, passed_alone
from kotef.checks.types import CommandResult

SPEC = """\
RSpec.describe "Calc" do
  it("adds") { expect(1).to eq 1 }
  it("fails") { expect(1).to eq 2 }
  it("later")
  xit("off") { }
  it("known") { pending "x"; expect(1).to eq 2 }
  context "#deep" do
    [1, 2].each { |n| it("same") { expect(n).to eq 1 } }
    it { expect(3).to eq 3 }
    it { expect(3).to eq 4 }
  end
end
RSpec.describe("boom") { before(:context) { raise "no" }; it("never") {} }
"""
OF_RSPEC = {
    "spec/a_spec.rb::Calc::adds": "passed",
    "spec/a_spec.rb::Calc::fails": "failed",
    "spec/a_spec.rb::Calc::later": "skipped",
    "spec/a_spec.rb::Calc::off": "skipped",
    "spec/a_spec.rb::Calc::known": "xfailed",
    "spec/a_spec.rb::Calc::#deep::same": "passed",
    "spec/a_spec.rb::Calc::#deep::same [2]": "failed",
    "spec/a_spec.rb::Calc::#deep::is expected to eq 3": "passed",
    "spec/a_spec.rb::Calc::#deep::is expected to eq 4": "failed",
    "spec/a_spec.rb::boom::never": "failed",
}
MINITEST = """\
require "minitest/autorun"
class ATest < Minitest::Test
  def test_ok; assert true; end
  def test_bad; assert_equal 1, 2; end
  def test_boom; raise "x"; end
  def test_off; skip "no"; end
  def test_starts_another; refute system("ruby", "-e", 'require "minitest/autorun"; class I < Minitest::Test; def test_i; flunk; end; end', out: File::NULL); end
end
describe "Calc" do
  it("adds it") { _(1).must_equal 1 }
end
"""
OF_MINITEST = {
    "test/a_test.rb::ATest::test_ok": "passed",
    "test/a_test.rb::ATest::test_bad": "failed",
    "test/a_test.rb::ATest::test_boom": "error",
    "test/a_test.rb::ATest::test_off": "skipped",
    "test/a_test.rb::ATest::test_starts_another": "passed",
    "test/a_test.rb::Calc::adds it": "passed",
}
PHPUNIT = """\
<?php
namespace Shop\\Tests;
use PHPUnit\\Framework\\TestCase;
final class CalcTest extends TestCase {
  public function testOk(): void { $this->assertSame(1, 1); }
  public function testBad(): void { $this->assertSame(1, 2); }
  public function testBoom(): void { throw new \\RuntimeException("x"); }
  public function testOff(): void { $this->markTestSkipped("no"); }
  public function testLater(): void { $this->markTestIncomplete("no"); }
  /** @dataProvider two */
  public function testEach(int $n): void { $this->assertSame(1, $n); }
  public static function two(): array { return [[1], 'named one' => [2]]; }
  public function testRisky(): void { }
}
"""
OF_PHPUNIT = {
    "tests/CalcTest.php::CalcTest::testOk": "passed",
    "tests/CalcTest.php::CalcTest::testBad": "failed",
    "tests/CalcTest.php::CalcTest::testBoom": "error",
    "tests/CalcTest.php::CalcTest::testOff": "skipped",
    "tests/CalcTest.php::CalcTest::testLater": "skipped",
    "tests/CalcTest.php::CalcTest::testEach with data set #0": "passed",
    'tests/CalcTest.php::CalcTest::testEach with data set "named one"': "failed",
    "tests/CalcTest.php::CalcTest::testRisky": "passed",
}


def run_alone(root: Path, command: str, *wanted: str) -> CommandResult:
    line = alone(command, wanted, exists=lambda path: (root / path).exists())
    assert line
    result = checked(root, line)
    assert passed_alone(wanted, result) == wanted, line
    return result


@pytest.mark.parametrize("command", ["rspec", "sh -c 'rspec --format documentation'", "make specs"])
def test_rspec_tells_of_each_example(tmp_path: Path, command: str) -> None:
    needs("rspec")
    root = write(tmp_path, {"spec/a_spec.rb": SPEC, "Makefile": "specs:\n\trspec\n"})
    result = checked(root, command, SPEC_OPTS="--no-color")
    assert (result.tests, result.evidence) == (OF_RSPEC, "report")
    assert result.detail != "contradiction"
    if command == "rspec":
        assert "Finished in" in result.stdout
        again = run_alone(root, command, "spec/a_spec.rb::Calc::adds")
        assert again.tests_executed == 1


def test_a_spec_that_cannot_be_loaded_is_an_error_of_its_file(tmp_path: Path) -> None:
    needs("rspec")
    result = checked(write(tmp_path, {"spec/a_spec.rb": SPEC, "spec/b_spec.rb": "raise 'no'\n"}), "rspec")
    assert (result.tests, result.detail) == ({"spec/b_spec.rb": "error"}, "collection")


@pytest.mark.parametrize("command", ["rake test", "ruby -Ilib test/a_test.rb"])
def test_minitest_tells_of_each_test(tmp_path: Path, command: str) -> None:
    needs(command.split(maxsplit=1)[0])
    rakefile = 'require "rake/testtask"\nRake::TestTask.new { |t| t.pattern = "test/*_test.rb" }\n'
    root = write(tmp_path, {"test/a_test.rb": MINITEST, "Rakefile": rakefile})
    result = checked(root, command)
    if "cannot load such file" in result.stderr:
        pytest.skip("minitest is not installed")
    assert (result.tests, result.evidence) == (OF_MINITEST, "report")
    if command == "rake test":
        wanted = ("test/a_test.rb::ATest::test_ok", "test/a_test.rb::Calc::adds it")
        assert run_alone(root, command, *wanted).tests_executed == 2


@pytest.mark.parametrize("command", ["phpunit tests", "make check", "composer test"])
def test_phpunit_tells_of_each_test(tmp_path: Path, command: str) -> None:
    needs("phpunit")
    needs(command.split(maxsplit=1)[0])
    root = write(
        tmp_path,
        {
            "tests/CalcTest.php": PHPUNIT,
            "Makefile": "check:\n\tphpunit tests\n",
            "composer.json": '{"scripts": {"test": "phpunit tests"}}',
        },
    )
    result = checked(root, command)
    assert (result.tests, result.evidence) == (OF_PHPUNIT, "report")
    if command.startswith("phpunit"):
        wanted = "tests/CalcTest.php::CalcTest::testEach with data set #0"
        assert run_alone(root, command, wanted).tests_executed == 1


def test_the_report_of_what_a_test_starts_is_nobodys(tmp_path: Path) -> None:
    """Of a runner without a row, or with lines alone, whose tests start one that reports."""
    needs("bats")
    nested = f"{sys.executable} -m unittest -q inner"
    root = write(
        tmp_path,
        {
            "inner.py": "import unittest\nclass I(unittest.TestCase):\n    def test_i(self): self.fail()\n",
            "a.bats": f'@test "inner fails" {{ run {nested}; test "$status" = 1; }}\n@test "two" {{ true; }}\n',
        },
    )
    result = checked(root, "bats a.bats")
    assert (result.passed, result.tests) == (True, {"inner fails": "passed", "two": "passed"})


EXUNIT = """\
defmodule CalcTest do
  use ExUnit.Case
  test "ok" do assert 1 == 1 end
  test "is \\"bad\\"" do assert 1 == 2 end
  @tag :skip
  test "off" do assert 1 == 2 end
  describe "deep" do
    test "down", do: :ok
  end
end
defmodule BoomTest do
  use ExUnit.Case
  setup_all do raise "no" end
  test "never" do :ok end
end
"""


def test_exunit_tells_of_each_test(tmp_path: Path) -> None:
    needs("mix")
    project = (
        'defmodule Calc.MixProject do\n  use Mix.Project\n  def project, do: [app: :calc, version: "0.1.0"]\nend\n'
    )
    files = {"mix.exs": project, "test/test_helper.exs": "ExUnit.start()\n", "test/calc_test.exs": EXUNIT}
    root = write(tmp_path, {**files, "Makefile": "check:\n\tmix test\n"})
    result = checked(root, "make check")
    assert result.tests == {
        "test/calc_test.exs::CalcTest::test ok": "passed",
        'test/calc_test.exs::CalcTest::test is "bad"': "failed",
        "test/calc_test.exs::CalcTest::test off": "skipped",
        "test/calc_test.exs::CalcTest::test deep down": "passed",
        "test/calc_test.exs::BoomTest::test never": "error",
    }
    assert (result.evidence, result.tests_executed, result.failed) == ("report", 4, 2)
    assert "1 failure" in result.stdout


def test_nextest_tells_of_each_test(tmp_path: Path) -> None:
    needs("cargo-nextest")
    library = "#[cfg(test)]\nmod tests {\n  #[test] fn ok() {}\n  #[test] fn bad() { panic!() }\n  #[test] #[ignore] fn off() {}\n}\n"
    manifest = '[package]\nname = "shop"\nversion = "0.1.0"\nedition = "2021"\n'
    root = write(tmp_path, {"Cargo.toml": manifest, "src/lib.rs": library, "tests/it.rs": "#[test] fn outer() {}\n"})
    result = checked(root, "cargo nextest run --offline --no-fail-fast")
    assert result.tests == {"shop::tests::ok": "passed", "shop::tests::bad": "failed", "shop::it::outer": "passed"}
    run_alone(root, "cargo nextest run --offline", "shop::tests::ok", "shop::it::outer")
