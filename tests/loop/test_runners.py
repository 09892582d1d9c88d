"""Runs whose checks are not pytest's: what is promised test by test holds for each runner that is installed."""

import json
import os
import shutil
from pathlib import Path

import pytest
from support.loop import DONE, Agent, edit, git

HOME = Path.home()
GOAL = "make every test pass"
BROKEN = {
    "unittest": (
        "python -m unittest -q",
        "calc.py",
        "def one(): return 0\ndef two(): return 0\ndef three(): return 0\ndef four(): return 4\n",
        {
            "test_calc.py": "import unittest\nfrom calc import one, two, three, four\nclass Calc(unittest.TestCase):\n"
            + "".join(
                f"    def test_{name}(self): self.assertEqual({name}(), {number})\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
        },
        "test_calc.py::Calc::test_three",
        "def {name}(): return {number}",
    ),
    "node": (
        "npm test",
        "calc.js",
        "exports.one = () => 0;\nexports.two = () => 0;\nexports.three = () => 0;\nexports.four = () => 4;\n",
        {
            "package.json": json.dumps({"name": "calc", "scripts": {"test": "node --test"}}),
            "test/calc.test.js": "const { describe, it } = require('node:test');\nconst assert = require('node:assert');\n"
            "const calc = require('../calc.js');\ndescribe('calc', () => {\n"
            + "".join(
                f"  it('gives {name}', () => assert.equal(calc.{name}(), {number}));\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
            + "});\n",
        },
        "test/calc.test.js::calc::gives three",
        "exports.{name} = () => {number};",
    ),
    "go": (
        "go test ./...",
        "calc.go",
        "package calc\n\n"
        + "".join(f"func {name}() int {{ return 0 }}\n" for name in ("one", "two", "three"))
        + "func four() int { return 4 }\n",
        {
            "go.mod": "module example.com/calc\n\ngo 1.18\n",
            "calc_test.go": 'package calc\n\nimport "testing"\n\n'
            + "".join(
                f'func Test_{name}(t *testing.T) {{ if got := {name}(); got != {number} {{ t.Errorf("got %d", got) }} }}\n'
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            ),
        },
        "calc::Test_three",
        "func {name}() int {{ return {number} }}",
    ),
    "cargo": (
        "cargo test --offline",
        "src/lib.rs",
        "pub fn one() -> u8 { 0 }\npub fn two() -> u8 { 0 }\npub fn three() -> u8 { 0 }\npub fn four() -> u8 { 4 }\n",
        {
            "Cargo.toml": '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n',
            ".gitignore": "target/\nCargo.lock\n",
            "tests/calc.rs": "".join(
                f"#[test] fn gives_{name}() {{ assert_eq!(calc::{name}(), {number}); }}\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            ),
        },
        "tests/calc.rs::gives_three",
        "pub fn {name}() -> u8 {{ {number} }}",
    ),
    "ctest": (
        "ctest",
        "calc.sh",
        "one=0\ntwo=0\nthree=0\nfour=4\n",
        {
            "CTestTestfile.cmake": "".join(
                f'add_test(gives_{name} sh -c ". ./calc.sh; test $' + name + f' = {number}")\n'
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            ),
            ".gitignore": "Testing/\n",
        },
        "gives_three",
        "{name}={number}",
    ),
    "ctest, one program": (
        "make --version && ctest",
        "calc.sh",
        "one=0\ntwo=0\nthree=0\nfour=4\n",
        {
            "CTestTestfile.cmake": "add_test(all sh tests.sh)\n",
            "tests.sh": ". ./calc.sh\necho 1..4\nend=0\ncheck() {\n"
            '  if test "$2" = "$3"; then echo "ok - $1"; else echo "not ok - $1"; end=1; fi\n}\n'
            + "".join(
                f"check gives_{name} ${name} {number}\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
            + "exit $end\n",
            ".gitignore": "Testing/\n",
        },
        "all::gives_three",
        "{name}={number}",
    ),
    "prove": (
        "prove -Ilib -r t",
        "lib/Calc.pm",
        "package Calc;\nsub one { 0 }\nsub two { 0 }\nsub three { 0 }\nsub four { 4 }\n1;\n",
        {
            "t/calc.t": "use Test::More tests => 4;\nuse Calc;\n"
            + "".join(
                f"is(Calc::{name}(), {number}, 'gives {name}');\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
        },
        "t/calc.t::gives three",
        "sub {name} {{ {number} }}",
    ),
    "rspec": (
        "rspec",
        "lib/calc.rb",
        "class Calc\n  def one = 0\n  def two = 0\n  def three = 0\n  def four = 4\nend\n",
        {
            "spec/calc_spec.rb": "require 'calc'\nRSpec.describe Calc do\n"
            + "".join(
                f"  it('gives {name}') {{ expect(Calc.new.{name}).to eq {number} }}\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
            + "end\n"
        },
        "spec/calc_spec.rb::Calc::gives three",
        "def {name} = {number}",
    ),
    "rake": (
        "rake test",
        "lib/calc.rb",
        "class Calc\n  def one = 0\n  def two = 0\n  def three = 0\n  def four = 4\nend\n",
        {
            "Rakefile": "require 'rake/testtask'\nRake::TestTask.new { |t| t.pattern = 'test/*_test.rb' }\n",
            "test/calc_test.rb": "require 'minitest/autorun'\nrequire 'calc'\nclass CalcTest < Minitest::Test\n"
            + "".join(
                f"  def test_{name} = assert_equal({number}, Calc.new.{name})\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
            + "end\n",
        },
        "test/calc_test.rb::CalcTest::test_three",
        "def {name} = {number}",
    ),
    "phpunit": (
        "phpunit tests",
        "calc.php",
        (
            "<?php\nfunction one() { return 0; }\nfunction two() { return 0; }\nfunction three() { return 0; }\n"
            "function four() { return 4; }\n"
        ),
        {
            ".gitignore": ".phpunit*\n",
            "tests/CalcTest.php": "<?php\nrequire __DIR__ . '/../calc.php';\n"
            "class CalcTest extends PHPUnit\\Framework\\TestCase {\n"
            + "".join(
                f"  public function test{name}(): void {{ $this->assertSame({number}, {name}()); }}\n"
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            )
            + "}\n",
        },
        "tests/CalcTest.php::CalcTest::testthree",
        "function {name}() {{ return {number}; }}",
    ),
    "bats": (
        "bats tests",
        "calc.sh",
        "one=0\ntwo=0\nthree=0\nfour=4\n",
        {
            "tests/calc.bats": "setup() { . ./calc.sh; }\n"
            + "".join(
                f'@test "gives {name}" {{ test "${name}" = {number}; }}\n'
                for number, name in enumerate(("one", "two", "three", "four"), 1)
            ),
        },
        "gives three",
        "{name}={number}",
    ),
}
CACHES = {"GOCACHE": HOME / ".cache/go-build", "RUSTUP_HOME": HOME / ".rustup", "CARGO_HOME": HOME / ".cargo"}
TOOLS = {"unittest": "python", "node": "npm", "ctest, one program": "ctest"}


@pytest.fixture(params=BROKEN)
def broken(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, Path]:
    """A repository with three failing tests and a passing one."""
    runner: str = request.param
    tool = TOOLS.get(runner, runner)
    if shutil.which(tool) is None:
        pytest.skip(f"{tool} is not installed")
    for name, path in CACHES.items():
        if path.is_dir():
            monkeypatch.setenv(name, os.fspath(path))
    _, path, content, others, _, _ = BROKEN[runner]
    root = tmp_path / "project"
    for name, text in {".gitignore": "__pycache__/\n", path: content, **others}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    git(root, "init", "-q")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "start")
    return runner, root


@pytest.mark.examples(1)  # each runner's reports have tests of their own
def test_an_attempt_that_fixes_two_of_three_is_kept_and_the_third_is_named(broken: tuple[str, Path], run) -> None:
    runner, root = broken
    command, path, _, _, left, line = BROKEN[runner]
    fixes = [
        edit(path, line.format(name=name, number=0), line.format(name=name, number=number))
        for name, number in (("one", 1), ("two", 2))
    ]
    worse = edit(path, line.format(name="four", number=4), line.format(name="four", number=5))
    agent = Agent(coder=[*fixes, DONE, worse, DONE])
    ran = run(root, agent, GOAL, "--check", command, "--max-attempts", "2")

    assert (ran.code, ran.result["treeVisit"]) == (3, 1), ran.stdout
    text = (root / path).read_text()
    assert line.format(name="two", number=2) in text
    assert line.format(name="four", number=4) in text
    assert left in ran.stdout + json.dumps(ran.result)
    assert len(ran.result["fixed"]) == 2
    assert ran.result["broken"] == [left.replace("three", "four")]
    (check,) = ran.result["checks"]
    assert check["executed"] == (1 if runner == "ctest, one program" else 4)
