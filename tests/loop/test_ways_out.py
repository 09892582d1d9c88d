"""A run that stops short says what was lacking, and its issue entry names the way out first."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import (
    DONE,
    PYTEST,
    UNITTEST,
    UNITTEST_TEST,
    Agent,
    Ran,
    blind,
    calls,
    contents,
    git,
    kotef,
    unchanged,
    write,
)
from support.openai_server import call, text
from support.terminal import at_a_terminal

BRANCHES = "".join(f"    if a == {k}:\n        a = a * {k} - {k + 1}\n" for k in range(2, 300))
NO_EDIT = "import unittest\nfrom calc import add\n\n\nclass Add(unittest.TestCase):\n    def test_add(self):\n"
NO_EDIT += "        self.assertEqual(add(2, 3), 'seven thousand')\n"

PRICE_TEST = """\
import unittest

from calc import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2, 2), 4)
"""


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


def test_a_search_whose_time_ran_out_names_its_limit_and_a_larger_one(project: Path) -> None:
    (project / "calc.py").write_text(f"def add(a, b):\n{BRANCHES}    return a - b\n")
    (project / "test_calc.py").write_text(NO_EDIT)
    with unchanged(project):
        ran = kotef(project, "run", "make add add", "--check", UNITTEST, "--coder", "fixers,search:2s")
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (3, "stuck", "search_time_over")
    assert ran.result["stoppedBy"] == "search_time"
    assert "this search had 2 s of CPU time" in ran.result["sentence"]
    assert "(--coder search:2s; search:60s searches longer)" in ran.result["sentence"]
    assert ran.stdout.count("this search had 2 s") == 2, "in the coder's line and in the ending"
    again = kotef(project, "resume", "--last", "--max-attempts", "5")
    assert again.code == 2
    assert "start a new run with `--coder fixers,search:60s`" in again.stderr
    assert ran.issues[0]["follow_up"].startswith(
        "give the search more time (`--coder fixers,search:60s`), or name a model (`--model`); or inspect `"
    )
    assert ran.result["resume"] is None


def test_where_the_time_of_the_run_was_the_limit_that_is_named(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """How much the checks before it leave of a short run is the machine's; here it is one second of a minute."""
    monkeypatch.setattr("kotef.repair.coder.SearchCoder._wall", lambda _: 1.0)
    (project / "calc.py").write_text(f"def add(a, b):\n{BRANCHES}    return a - b\n")
    (project / "test_calc.py").write_text(NO_EDIT)
    ran = kotef(project, "run", "make add add", "--check", UNITTEST, "--coder", "search", "--max-time", "60")
    assert ran.result["reason"] == "search_time_over"
    assert "--max-time left this search" in ran.result["sentence"]
    assert "`--coder search:240s --max-time 480`" in ran.issues[0]["follow_up"]


def test_a_goal_on_green_checks_without_a_model_says_what_is_lacking(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    ran = kotef(project, "run", "make it faster", "--check", UNITTEST)
    assert (ran.code, ran.result["reason"]) == (3, "nothing_left_to_try")
    assert ran.result["sentence"].startswith("every check is already green, and without a model only failures")
    assert ran.issues[0]["follow_up"].startswith("every check is already green, and without a model")


def test_without_pytest_the_check_that_unittest_can_run_is_named(project: Path, tmp_path: Path) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    ran = kotef(project, "run", "make add add", "--check", f"{bare} -m pytest -q", "--coder", "search:5s")
    assert (ran.code, ran.result["reason"]) == (5, "missing_runner")
    hint = f"the tests use unittest and do not need pytest: --check '{bare} -m unittest'"
    assert hint in ran.result["sentence"]
    assert ran.issues[0]["follow_up"].startswith(f"{hint}; or install what")


@pytest.mark.parametrize("tests", ["def test_add():\n    assert True\n", f"import pytest\n{UNITTEST_TEST}"])
def test_tests_that_need_pytest_are_not_offered_to_unittest(project: Path, tmp_path: Path, tests: str) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(0o755)
    (project / "test_more.py").write_text(tests)
    ran = kotef(project, "run", "make add add", "--check", f"{bare} -m pytest -q", "--coder", "search:5s")
    assert ran.result["reason"] == "missing_runner"
    assert "unittest" not in ran.result["sentence"]


def test_a_person_may_say_that_none_of_the_edits_is_right(project: Path) -> None:
    (project / "calc.py").write_text("def price(n, fee):\n    return n - fee\n")
    (project / "test_calc.py").write_text(PRICE_TEST)
    before = contents(project)
    arguments = ["run", "make the price right", "--check", UNITTEST, "--coder", "search:20s"]
    said = at_a_terminal(arguments, project, {"leave it open": "3\n"})
    assert "3. none of these is right" in said
    assert "blocked: none of the passing edits is right: a person's answer: price(" in " ".join(said.split())
    assert contents(project) == before


def test_each_new_test_is_tried_on_the_code_before_the_run_though_others_prove_the_goal(project: Path, run) -> None:
    """`test_three` fails there and proves something; `test_zero` would have passed, and proves nothing."""
    new = (
        "from calc import add\n\n\ndef test_three():\n    assert add(1, 2) == 3\n\n\n"
        "def test_zero():\n    assert add(0, 0) == 0\n"
    )
    fixed = calls(call("view_file", path="calc.py"), blind("calc.py", "a - b", "a + b"))
    ran = run(project, Agent(coder=[fixed, write("test_more.py", new), DONE]), "make add add", "--check", PYTEST)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert sorted(ran.result["newTests"]) == ["test_more.py::test_three", "test_more.py::test_zero"]
    assert ran.result["proved"] == ["test_more.py::test_three"]
    assert ran.result["unproved"] == ["test_more.py::test_zero"]
    said = "new tests: 2, 1 of them fails on the code before the run; prove nothing: test_more.py::test_zero"
    assert said in ran.stdout
    assert "### New tests that prove nothing" in (ran.run_dir / "report.md").read_text()
    assert (project / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"


def test_what_the_fixers_say_of_a_fix_is_a_sentence(project: Path) -> None:
    (project / "calc.py").write_text("def add(first, second):\n    return frist + second\n")
    git(project, "commit", "-qam", "misspelt")
    ran = kotef(project, "run", "make add add", "--check", UNITTEST, "--coder", "fixers")
    assert (ran.code, ran.result["winner"]) == (0, "fixers")
    chosen, said = ran.result["edit"]["evidence"]
    assert chosen == "1 fix tried, 1 kept: the failing checks got better with each"
    assert said.startswith("the check reported: NameError: name 'frist' is not defined")
    assert f"\n    {said}\n" in ran.stdout


def test_a_diagnosis_of_a_coder_that_changed_nothing_stands_in_the_entry_whole(
    project: Path, run: Callable[..., Ran]
) -> None:
    why = "The test expects " + "one thing and its opposite, " * 60 + "so no honest edit can pass it."

    ran = run(project, Agent(coder=[text(why)]), "make add add", "--check", UNITTEST, "--max-attempts", "1")

    assert ran.result["outcome"] != "verified"
    assert any(note.endswith(why) for note in ran.issues[0]["notes"])
    assert why in (project / ".sdd" / "issues.md").read_text()
