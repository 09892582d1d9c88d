"""Tests run alone: with which command line, and what may be concluded."""

import asyncio
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.flaky import flaky_among, unexpected
from kotef.checks.runner import run_check
from kotef.checks.single_test_command import alone, passed_alone
from kotef.checks.types import Check, CommandResult
from kotef.checks.verdict import judge_baseline
from kotef.sandbox import child_environment

ID = "tests/test_a.py::test_a[x y]"
PATHS = {"tests", "src", "tests/test_a.py", "tests/test_b.py", "ci.ini"}


def selected(command: str, *tests: str) -> str | None:
    return alone(command, tests or (ID,), exists=lambda path: path in PATHS)


@pytest.mark.parametrize(
    ("command", "line"),
    [
        ("pytest", f"pytest {shlex.quote(ID)}"),
        ("pytest -q tests", f"pytest -q {shlex.quote(ID)}"),
        ("pytest tests/test_a.py tests/test_b.py::test_b", f"pytest {shlex.quote(ID)}"),
        ("pytest -xvs --maxfail 1 --maxfail=2 --lf", f"pytest -vs {shlex.quote(ID)}"),
        ("pytest -x -k 'not slow' -c ci.ini", f"pytest -k 'not slow' -c ci.ini {shlex.quote(ID)}"),
        ("python -m pytest --cov src", f"python -m pytest --cov src {shlex.quote(ID)}"),
        ("PYTHONPATH=src A='b c' .venv/bin/pytest", f"PYTHONPATH=src A='b c' .venv/bin/pytest {shlex.quote(ID)}"),
        ("uv run pytest -q", f"uv run pytest -q {shlex.quote(ID)}"),
        ("timeout 60 pytest -q", f"timeout 60 pytest -q {shlex.quote(ID)}"),
        ("pytest -q && ruff check .", f"pytest -q {shlex.quote(ID)}"),
        ("make ext && A='b c' pytest -x", f"make ext && A='b c' pytest {shlex.quote(ID)}"),
        ("sh -c 'make && pytest -q'", f"make && pytest -q {shlex.quote(ID)}"),
    ],
)
def test_ids_take_the_place_of_what_was_to_be_run(command: str, line: str) -> None:
    assert selected(command) == line


@pytest.mark.parametrize(
    "command",
    [
        "make test",
        "tox -e py311",
        "npm test",
        "pytest -q && pytest more",
        "pytest -q; ruff check .",
        "pytest | tee log",
        "pytest $ARGS",
        "pytest tests/*.py",
        "bash -lc 'pytest -q'",
        "pytest --pyargs shop",
        "pytest @files.txt",
        "python run.py pytest",
        "echo pytest",
        "pytest 'open",
        "ruff check .",
        "cd ../other && pytest",
        "cd -P sub && pytest",
        "cd && pytest",
    ],
)
def test_no_ids_are_given_to_what_is_no_plain_run_of_a_runner(command: str) -> None:
    assert selected(command) is None


def test_ids_are_seen_from_the_folder_that_a_chain_goes_to() -> None:
    go = alone("cd ./sub/a && go test ./...", ("sub/a/b::TestA",), exists=lambda path: path == "sub/a/b")
    assert go == "cd ./sub/a && go test -run '^(TestA)$' ./b"
    hidden = alone("cd .box && pytest", (".box/test_a.py::test_a",), exists=lambda path: path == ".box/test_a.py")
    assert hidden == "cd .box && pytest test_a.py::test_a"
    back = alone("cd a && cd .. && pytest", ("test_a.py::test_a",), exists=lambda path: path == "test_a.py")
    assert back == "cd a && cd .. && pytest test_a.py::test_a"
    assert selected("cmake --build b && ctest --test-dir b", "all::A.x") == (
        "cmake --build b && ctest --test-dir b -R '^(all|all[:][:]A[.]x)$'"
    )


def test_unittest_is_given_patterns_for_exactly_these_tests() -> None:
    names = ("test_x (test_a.A.test_x)", "test_x (test_a.B)", "test_x (test_a.A.test_x) (i=1)")
    assert selected("python -m unittest discover -s tests -f", *names) == (
        "python -m unittest discover -s tests -k '*test_a.A.test_x' -k '*test_a.B.test_x'"
    )
    assert selected("python -m unittest -k slow", *names) is None
    assert selected("python -m unittest", "something else") is None


def test_neither_a_forged_option_nor_a_giant_line_is_run() -> None:
    assert selected("pytest", "--collect-only") is None
    assert selected("pytest", *(f"tests/test_{number:05}.py::test" for number in range(5000))) is None


@given(st.text(max_size=80), st.lists(st.text(min_size=1, max_size=30), min_size=1, max_size=3))
@example_count(80)
def test_any_command_line_is_survived_and_ids_stay_words_of_their_own(command: str, tests: list[str]) -> None:
    line = alone(f"pytest {command}", tests, exists=lambda _: False)
    assert line is None or shlex.split(line)[-len(tests) :] == tests


def result(**facts: object) -> CommandResult:
    return CommandResult.model_validate({"command": "pytest", "exit_code": 1, "passed": False} | facts)


def test_only_a_report_that_says_passed_shows_a_flaky_test() -> None:
    ids = ("a.py::a", "a.py::b", "a.py::c")
    seen = result(tests={"a.py::a": "passed", "a.py::b": "failed"})
    assert passed_alone(ids, seen) == ("a.py::a",)
    assert passed_alone(ids, result(tests={"a.py::a": "skipped"})) == ()
    assert passed_alone(ids, seen.model_copy(update={"timed_out": True})) == ()
    assert passed_alone(ids, seen.model_copy(update={"detail": "contradiction"})) == ()
    assert passed_alone(ids, result(exit_code=4)) == ()


def test_without_a_report_as_many_must_have_run_as_were_asked_for() -> None:
    names = ("x (m.A.x)", "y (m.A.y)")
    assert passed_alone(names, result(exit_code=0, passed=True, tests_executed=2)) == names
    assert passed_alone(names, result(exit_code=0, passed=True, tests_executed=1)) == ()
    one = result(tests_executed=2, failing=("x (m.A.x)",), kind="test_failure")
    assert passed_alone(names, one) == ("y (m.A.y)",)
    assert passed_alone(names, result(tests_executed=2, kind="runtime_error")) == ()


def test_at_most_twenty_are_in_question_and_none_that_was_red_before() -> None:
    check = Check(name="pytest", command="pytest", role="test", origin="option")
    tests = {f"a.py::t{number}": "failed" for number in range(30)}
    before = judge_baseline([(check, result(tests={"a.py::t0": "failed"}))], named_text="", tree="t")
    assert len(unexpected(check, result(tests=tests), None)) == 20
    assert "a.py::t0" not in unexpected(check, result(tests=tests), before)
    assert unexpected(check, result(tests=tests, detail="contradiction"), None) == ()
    assert unexpected(check, result(failing=("x (m.A)",)), before) == ("x (m.A)",)
    assert unexpected(check, result(failing=tuple(map(str, range(20)))), before) == (), "perhaps there are more"


LEAK = "import state\n\n\ndef test_dirty():\n    state.dirty = True\n\n\ndef test_clean():\n    assert not state.dirty\n\n\ndef test_wrong():\n    assert 1 == 2\n"
LEAK_UNITTEST = (
    "import unittest\nimport state\n\n\nclass T(unittest.TestCase):\n    def test_a_dirty(self):\n        state.dirty = True\n\n"
    "    def test_clean(self):\n        self.assertFalse(state.dirty)\n\n    def test_wrong(self):\n        self.assertEqual(1, 2)\n"
)


@pytest.mark.parametrize(
    ("text", "command", "flaky"),
    [
        (LEAK, f"{sys.executable} -m pytest -q -x --maxfail=5 -p no:cacheprovider .", "test_leak.py::test_clean"),
        (LEAK_UNITTEST, f"{sys.executable} -m unittest -q", "test_leak.py::T::test_clean"),
    ],
)
def test_real_runners_tell_the_leak_from_the_failure(tmp_path: Path, text: str, command: str, flaky: str) -> None:
    (tmp_path / "state.py").write_text("dirty = False\n")
    (tmp_path / "test_leak.py").write_text(text)
    env = child_environment({"PATH": os.environ["PATH"]}) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    check = Check(name="tests", command=command, role="test", origin="option")

    async def run(each: Check, _: str) -> CommandResult:
        return await run_check(each.command, root=tmp_path, env=env, timeout=60, idle_timeout=None)

    async def found() -> tuple[str, ...]:
        whole = await run(check, "")
        tests = unexpected(check, whole, None)
        assert len(tests) == 2
        return await flaky_among(
            check, tests, times=1, run=run, exists=lambda path: (tmp_path / path).exists(), log_name=""
        )

    assert asyncio.run(found()) == (flaky,)


def test_a_check_that_takes_no_ids_is_not_run_again(tmp_path: Path) -> None:
    check = Check(name="make", command="make test", role="test", origin="option")

    async def run(each: Check, name: str) -> CommandResult:
        raise AssertionError((each, name))

    done = flaky_among(check, ["a.py::a"], times=3, run=run, exists=lambda _: True, log_name="x")
    assert asyncio.run(done) == ()


def test_the_selected_line_is_one_that_a_shell_runs(tmp_path: Path) -> None:
    (tmp_path / "test_odd.py").write_text(
        "import pytest\n\n\n@pytest.mark.parametrize('v', [\"a b\", '$HOME', \"it's\"])\ndef test_odd(v):\n    pass\n"
    )
    ids = ["test_odd.py::test_odd[a b]", "test_odd.py::test_odd[$HOME]", "test_odd.py::test_odd[it's]"]
    line = alone(f"A='1 2' {sys.executable} -m pytest -q -p no:cacheprovider .", ids, exists=lambda path: path == ".")
    assert line
    env = child_environment({"PATH": os.environ["PATH"]}) | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(line, shell=True, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)
    assert "3 passed" in done.stdout, done.stdout + done.stderr
