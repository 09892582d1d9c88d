"""What is promised test by test, for each toolchain: real projects, directly and behind make, npm, tox and a shell."""

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from support.javascript import installed
from test_runner_table import checked, needs, write

from kotef.checks.types import Check
from kotef.checks.verdict import judge, judge_baseline

States = Mapping[str, str]
"""Whether each test passes, fails or is skipped; a test that is not there has none."""
BEFORE = {"one": "fail", "two": "fail", "three": "fail", "four": "pass", "five": "pass", "six": "pass", "seven": "pass"}
AFTER = {"one": "pass", "two": "pass", "three": "fail", "four": "fail", "six": "skip", "seven": "pass"}
"""Two fixed, one left, one broken, one deleted, one skipped."""


def of_pytest(states: States) -> dict[str, str]:
    marks = {"skip": "@pytest.mark.skip\n"}
    tests = (f"{marks.get(state, '')}def test_{name}(): assert {state != 'fail'}\n" for name, state in states.items())
    return {"test_a.py": "import pytest\n" + "".join(tests)}


def of_unittest(states: States) -> dict[str, str]:
    marks = {"skip": "    @unittest.skip('no')\n"}
    tests = (
        f"{marks.get(state, '')}    def test_{name}(self): self.assertTrue({state != 'fail'})\n"
        for name, state in states.items()
    )
    return {"test_a.py": "import unittest\nclass A(unittest.TestCase):\n    x = 1\n" + "".join(tests)}


def of_javascript(head: str, call: str) -> Callable[[States], dict[str, str]]:
    calls = {"skip": f"{call}.skip", "pass": call, "fail": call}

    def files(states: States) -> dict[str, str]:
        tests = (
            f"{calls[state]}('{name}', () => {{ if ({str(state == 'fail').lower()}) throw new Error('no'); }});\n"
            for name, state in states.items()
        )
        return {"test/a.test.js": head + "".join(tests)}

    return files


def of_go(states: States) -> dict[str, str]:
    bodies = {"pass": "", "fail": "t.Fail()", "skip": "t.Skip()"}
    tests = "".join(f"func Test_{name}(t *testing.T) {{ {bodies[state]} }}\n" for name, state in states.items())
    text = f'package calc\n\nimport "testing"\n\nvar _ testing.TB\n\n{tests}'
    return {"go.mod": "module example.com/calc\n\ngo 1.18\n", "calc.go": "package calc\n", "calc_test.go": text}


def of_cargo(states: States) -> dict[str, str]:
    marks = {"skip": "#[ignore]"}
    tests = (
        f"#[test] {marks.get(state, '')} fn {name}() {{ assert!({str(state != 'fail').lower()}); }}\n"
        for name, state in states.items()
    )
    manifest = '[package]\nname = "calc"\nversion = "0.1.0"\nedition = "2021"\n'
    return {"Cargo.toml": manifest, "src/lib.rs": "", "tests/calc.rs": "".join(tests)}


def of_ctest(states: States) -> dict[str, str]:
    ends = {"pass": 0, "fail": 1, "skip": 77}
    tests = (
        f'add_test({name} sh -c "exit {ends[state]}")\nset_tests_properties({name} PROPERTIES SKIP_RETURN_CODE 77)\n'
        for name, state in states.items()
    )
    return {"CTestTestfile.cmake": "".join(tests)}


def of_maven(states: States) -> dict[str, str]:
    marks = {"skip": "@org.junit.Ignore "}
    tests = (
        f"  {marks.get(state, '')}@org.junit.Test public void {name}() {{ org.junit.Assert.assertTrue({str(state != 'fail').lower()}); }}\n"
        for name, state in states.items()
    )
    junit = "<dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version></dependency>"
    release = "<maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>"
    pom = (
        "<project><modelVersion>4.0.0</modelVersion><groupId>x</groupId><artifactId>calc</artifactId>"
        f"<version>1</version><properties>{release}</properties><dependencies>{junit}</dependencies></project>"
    )
    text = f"package x;\npublic class {'CalcTest' if states else 'Empty'} {{\n{''.join(tests)}}}\n"
    return {"pom.xml": pom, f"src/test/java/x/{'CalcTest' if states else 'Empty'}.java": text}


PYTHON = shlex.quote(sys.executable)
OF_NODE = of_javascript("const { it } = require('node:test');\n", "it")
TOOLCHAINS = {
    "pytest": (f"{PYTHON} -m pytest -q", of_pytest, "test_a.py::test_{}", ""),
    "unittest": (f"{PYTHON} -m unittest", of_unittest, "test_a.py::A::test_{}", ""),
    "node": ("node --test test", OF_NODE, "test/a.test.js::{}", ""),
    "go": ("go test ./...", of_go, "calc::Test_{}", ""),
    "cargo": ("cargo test --offline", of_cargo, "tests/calc.rs::{}", ""),
    "ctest": ("ctest", of_ctest, "{}", ""),
}
REGISTRY = {
    "jest": ("npx jest", of_javascript("", "it"), "test/a.test.js::{}", "jest@30"),
    "mocha": ("npx mocha test", of_javascript("", "it"), "test/a.test.js::{}", "mocha@11"),
    "vitest": ("npx vitest run", of_javascript("import { it } from 'vitest';\n", "it"), "test/a.test.js::{}", "vitest@4"),
    "bun": ("npx bun test", of_javascript("", "it"), "test/a.test.js::{}", "bun@1"),
    "deno": ("npx deno test", of_javascript("const it = Object.assign(Deno.test, { skip: Deno.test.ignore });\n", "it"), "test/a.test.js::{}", "deno@2"),
    "mvn": ("mvn -B -q test", of_maven, "src/test/java/x/CalcTest.java::{}", ""),
}  # fmt: skip
ALL = [*TOOLCHAINS, *(pytest.param(name, marks=pytest.mark.javascript) for name in REGISTRY)]


def project(root: Path, toolchain: str, states: States) -> str:
    """Write the project, and give back its command."""
    command, files, _, package = {**TOOLCHAINS, **REGISTRY}[toolchain]
    kind = "module" if toolchain in {"vitest", "deno"} else "commonjs"
    wrapped = {
        "package.json": json.dumps({"name": "a", "type": kind, "scripts": {"test": command}}),
        "Makefile": f".PHONY: test\ntest:\n\t@{command}\n",
        "tox.ini": "[tox]\nskipsdist = true\n[testenv]\nskip_install = true\npass_env = *\nallowlist_externals = *\n"
        f"commands = {command}\n",
    }
    shutil.rmtree(root, ignore_errors=True)
    write(root, {**wrapped, **files(states)})
    if package:
        (root / "node_modules").symlink_to(installed(package))
    elif toolchain in {"node", "go", "cargo", "ctest", "mvn"}:
        needs(toolchain)
    return command


@pytest.mark.examples(2)
@pytest.mark.parametrize("toolchain", ALL)
def test_fixed_left_broken_missing_and_skipped_tests_are_named_behind_any_wrapping(
    toolchain: str, tmp_path: Path
) -> None:
    root, name = tmp_path / "a", {**TOOLCHAINS, **REGISTRY}[toolchain][2].format
    command = project(root, toolchain, BEFORE)
    check = Check(name="test", command=command, role="test", origin="ticket")
    before = judge_baseline([(check, checked(root, command))], named_text="", tree="t0")
    assert set(before.targets) == {name("one"), name("two"), name("three")}

    project(root, toolchain, AFTER)
    wrappings = [command, "make test", f"sh -c {shlex.quote(f'{command} && true')}", "npm run test"]
    if toolchain in {"pytest", "unittest"} and shutil.which("tox"):
        wrappings.append("tox -q")
    for wrapping in wrappings:
        result = checked(root, wrapping)
        after = judge(before, [(check, result)], visit=1, tree="t1", changed=("a",), needs_proof=True)
        assert not after.passed, wrapping
        assert set(after.fixed) == {name("one"), name("two")}, wrapping
        assert after.broken == (name("four"),), wrapping
        assert after.missing == (name("five"),), wrapping
        assert after.newly_skipped == (name("six"),), wrapping
        assert set(result.failing) == {name("three"), name("four")}, wrapping
        assert (result.failed, result.tests_executed) == (2, 5), wrapping


@pytest.mark.examples(2)
@pytest.mark.parametrize("toolchain", ALL)
def test_no_test_executed_is_no_success(toolchain: str, tmp_path: Path) -> None:
    root = tmp_path / "a"
    command = project(root, toolchain, {})
    wrappings = [command] if toolchain == "mvn" else [command, "make test"]  # with -q Maven prints nothing
    for wrapping in wrappings:
        result = checked(root, wrapping)
        assert not result.passed, wrapping
        assert not result.tests_executed, wrapping


def test_a_make_target_that_is_a_folder_runs_no_test(tmp_path: Path) -> None:
    """make takes `test/` for the target and runs nothing, with exit status 0."""
    needs("make")
    root = write(tmp_path, {"Makefile": "test:\n\tpython -m pytest\n", "test/a.py": ""})
    result = checked(root, "make test")
    assert (result.passed, result.detail, result.tests_executed) == (False, "no_tests", 0)
