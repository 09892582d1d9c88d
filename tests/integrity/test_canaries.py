"""A canary is a test that must fail: each runner lists it red, and the other tests as before."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from kotef.integrity.probes.canaries import Canary, canary

HOME = Path.home()  # before a test gets another
CACHES = {"GOCACHE": HOME / ".cache/go-build", "RUSTUP_HOME": HOME / ".rustup", "CARGO_HOME": HOME / ".cargo"}


def made(path: str, text: str, test: str, seed: int = 3) -> Canary:
    found = canary(path, text.encode(), beside=f"{path}::{test}", seed=seed)
    assert found is not None
    assert b"kotef" not in found.content
    assert found.content != canary(path, text.encode(), beside=f"{path}::{test}", seed=seed + 1).content  # type: ignore[union-attr]
    return found


def run(folder: Path, *command: str) -> tuple[int, str]:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed")
    env = {**os.environ, **{name: str(path) for name, path in CACHES.items() if path.is_dir()}}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


PYTHON = """\
import unittest
import pytest


@pytest.mark.parametrize("n", [1])
def test_one(n):
    assert n == 1


class TestGroup:
    def test_two(self):
        assert True


class Cases(unittest.TestCase):
    def test_three(self):
        self.assertTrue(True)"""


@pytest.mark.parametrize("test", ["test_one[1]", "TestGroup::test_two", "Cases::test_three"])
def test_pytest(tmp_path: Path, test: str) -> None:
    found = made("test_a.py", PYTHON, test)
    (tmp_path / "test_a.py").write_bytes(found.content)
    status, output = run(tmp_path, sys.executable, "-m", "pytest", "-q", "-rA", "--tb=no")
    *above, _ = test.split("::")
    assert status == 1
    assert f"FAILED {'::'.join(['test_a.py', *above, found.name])}" in output
    assert "1 failed, 2 passed" in output


def test_unittest(tmp_path: Path) -> None:
    text = PYTHON.replace("import pytest\n", "").replace('@pytest.mark.parametrize("n", [1])\n', "")
    found = made("test_a.py", text, "Cases::test_three")
    (tmp_path / "test_a.py").write_bytes(found.content)
    status, output = run(tmp_path, sys.executable, "-m", "unittest", "-v")
    assert status == 1
    assert f"FAIL: {found.name} (test_a.Cases" in output


def test_node(tmp_path: Path) -> None:
    text = 'const { describe, it } = require("node:test");\ndescribe("group", () => {\n  it("adds", () => {});\n});\n'
    found = made("a.test.js", text, "group::adds")
    (tmp_path / "a.test.js").write_bytes(found.content)
    status, output = run(tmp_path, "node", "--test", "--test-reporter=tap", "a.test.js")
    assert status == 1
    assert f"not ok 2 - {found.name}" in output


def test_go(tmp_path: Path) -> None:
    text = 'package a\n\nimport "testing"\n\nfunc TestAdds(t *testing.T) {}\n'
    found = made("a_test.go", text, "TestAdds/sub")
    (tmp_path / "go.mod").write_text("module example.com/a\n\ngo 1.20\n")
    (tmp_path / "a_test.go").write_bytes(found.content)
    status, output = run(tmp_path, "go", "test", "-vet=off", "-v", ".")
    assert status == 1
    assert f"--- FAIL: {found.name} " in output


def test_rust(tmp_path: Path) -> None:
    text = "#[cfg(test)]\nmod tests {\n    #[test]\n    fn adds() {\n        assert!(true);\n    }\n}\n"
    found = made("a.rs", text, "tests::adds")
    (tmp_path / "a.rs").write_bytes(found.content)
    run(tmp_path, "rustc", "--test", "a.rs")
    status, output = run(tmp_path, str(tmp_path / "a")) if (tmp_path / "a").exists() else (1, "not built")
    assert status == 101
    assert f"test tests::{found.name} ... FAILED" in output


def test_a_c_program_and_a_script_end_red(tmp_path: Path) -> None:
    program = b"#include <assert.h>\nint main(void) {\n    assert(1);\n    return 0;\n}\n"
    found = canary("a.c", program, beside="a", seed=1)
    assert found is not None
    (tmp_path / "a.c").write_bytes(found.content)
    assert run(tmp_path, "gcc", "-Wall", "-Werror", "-o", "a", "a.c")[0] == 0
    assert (run(tmp_path, str(tmp_path / "a"))[0], found.name) == (1, "a")
    for text in (b"#!/bin/sh\ntrue", b"#!/bin/sh\ntrue\nexit 0\n"):
        found = canary("check.sh", text, beside="check.sh", seed=1)
        assert found is not None
        (tmp_path / "check.sh").write_bytes(found.content)
        assert (run(tmp_path, "sh", "check.sh")[0], found.name) == (1, "check.sh")


@pytest.mark.parametrize(
    ("path", "text", "test", "line"),
    [
        ("src/test/java/ATest.java", "class ATest {\n    @Test\n    void adds() {\n    }\n}\n", "adds", "@Test"),
        (
            "src/test/java/ATest.java",
            "class ATest extends TestCase {\n    public void testAdds() {}\n}\n",
            "testAdds",
            "throw new",
        ),
        (
            "t/ATest.php",
            "<?php\nclass ATest extends TestCase {\n    public function testAdds() {}\n}\n",
            "ATest::testAdds",
            "$this->fail",
        ),
        ("a_test.cc", "TEST_F(Group, Adds) {\n}\n", "Group.Adds", "TEST_F(Group, Adds"),
    ],
)
def test_other_conventions_are_followed(path: str, text: str, test: str, line: str) -> None:
    found = made(path, text, test)
    added = found.content.decode().replace(text, "")
    assert line in added
    assert found.name.rpartition(".")[2] in added


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "def test_other(): ..."),
        ("a.test.js", 'it.only("adds", () => {});'),
        ("a.txt", "adds"),
        ("a.go", "broken {"),
    ],
)
def test_where_the_convention_is_not_known_there_is_none(path: str, text: str) -> None:
    assert canary(path, text.encode(), beside=f"{path}::adds", seed=1) is None
