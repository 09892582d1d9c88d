"""Tests that contradict each other end a run before anything is paid for, with both lines."""

from pathlib import Path

import pytest
from support.loop import PYTEST, Agent, edit, git
from support.openai_server import Reply, call, calls, text

STUB = "def total(prices):\n    raise NotImplementedError\n"
GREEN = "def total(prices):\n    return sum(prices)\n"


@pytest.fixture
def shop(project: Path) -> Path:
    """An empty product with tests to be written."""
    git(project, "rm", "-q", "calc.py", "test_calc.py")
    (project / "shop.py").write_text(STUB)
    return project


def written(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "tests")


TWO_TESTS = """\
from shop import total


def test_old():
    assert total([1, 2]) == 3


def test_new():
    assert total([1, 2]) == 4
"""
UNITTEST = """\
import unittest

import shop


class Total(unittest.TestCase):
    def test_old(self):
        self.assertEqual(shop.total([1, 2]), 3)

    def test_new(self):
        self.assertEqual(4, shop.total([1, 2]))
"""
TABLE = """\
import pytest

from shop import total


@pytest.mark.parametrize(
    "prices, expected",
    [
        ([], 0),
        ([1, 2], 3),
        ([1, 2], 4),
    ],
)
def test_total(prices, expected):
    assert total(prices) == expected
"""
LOADED = TWO_TESTS.replace("from shop import total", "from shop import nothing_yet, total")
ONE_TEST = """\
from shop import total


def test_total():
    assert total([]) == 0
    assert total([1, 2]) == 3
    assert total([1, 2]) == 4
"""
CASES = {
    "two tests": (STUB, TWO_TESTS, PYTEST, 5, 9),
    "one of them green": (GREEN, TWO_TESTS, PYTEST, 5, 9),
    "a file that cannot be loaded": (STUB, LOADED, PYTEST, 5, 9),
    "unittest": (STUB, UNITTEST, "python -m unittest -q", 8, 11),
    "a table": (STUB, TABLE, PYTEST, 10, 11),
    "one test of a function that is pure": (GREEN, ONE_TEST, PYTEST, 6, 7),
}


@pytest.mark.examples(1)
@pytest.mark.parametrize("case", CASES)
def test_two_assertions_on_the_same_call_end_the_run_before_a_model_is_asked(shop: Path, run, case: str) -> None:
    product, text, check, first, second = CASES[case]
    (shop / "shop.py").write_text(product)
    written(shop, "test_shop.py", text)
    agent = Agent()
    ran = run(shop, agent, "make the tests pass", "--check", check)
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (6, "blocked", "contradicting_assertions")
    assert (agent.seen, ran.result["failureHistory"]["attempts"]) == ([], 0), "no model call, no attempt"
    (entry,) = ran.issues
    for told in (ran.stdout, ran.result["sentence"], entry["sentence"], entry["follow_up"]):
        assert f"test_shop.py:{first}" in told
        assert f"test_shop.py:{second}" in told
        assert "total([1, 2]) == 3" in told
        assert "total([1, 2]) == 4" in told
    assert "--accept-ambiguous" not in entry["follow_up"]
    assert entry["resume"] == ""


def test_a_new_test_that_contradicts_an_old_one_in_another_file_is_seen(shop: Path, run) -> None:
    (shop / "shop.py").write_text(GREEN)
    written(shop, "test_old.py", "from shop import total\n\n\ndef test_total():\n    assert total([1, 2]) == 3\n")
    written(
        shop, "test_new.py", "import shop\n\n\ndef test_total():\n    got = shop.total([1, 2])\n    assert got == 4\n"
    )
    ran = run(shop, Agent(), "round up", "--check", PYTEST)
    assert ran.code == 6
    assert "test_new.py:6" in ran.stdout
    assert "test_old.py:5" in ran.stdout


def test_without_a_model_the_run_ends_as_well(shop: Path, run) -> None:
    written(shop, "test_shop.py", TWO_TESTS)
    ran = run(shop, Agent(), "make the tests pass", "--check", PYTEST, "--coder", "fixers,search:1s")
    assert (ran.code, ran.result["reason"]) == (6, "contradicting_assertions")


def test_a_file_that_the_run_may_change_contradicts_nothing(shop: Path, run) -> None:
    written(shop, "test_shop.py", TWO_TESTS)
    ran = run(shop, Agent(), "x", "--check", PYTEST, "--allow-edits", "test_shop.py", "--max-attempts", "1")
    assert ran.result["reason"] != "contradicting_assertions"


# -- what a coder reports

WRONG = "from shop import total\n\n\ndef test_total():\n    assert total([1]) == 1\n\n\ndef test_names():\n    assert total([]) == 0\n"
WORDS = "One customer cannot be both.  The invoice of March says 2.\nWhich one is it? " + "Long words. " * 60


def report(place: str, why: str = WORDS, other: str = "") -> Reply:
    return calls(call("report_contradiction", place=place, why=why, other=other))


def test_a_report_ends_the_run_at_once_with_the_coders_words_whole(shop: Path, run) -> None:
    written(shop, "test_shop.py", WRONG)
    agent = Agent(coder=[calls(call("view_file", path="test_shop.py")), report("test_total")])
    ran = run(shop, agent, "make the tests pass", "--check", PYTEST)
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (6, "blocked", "reported_contradiction")
    assert len(agent.requests("coder")) == 2, "nothing is asked after an accepted report"
    assert len(agent.requests("planner")) == 1
    assert ran.result["failureHistory"]["attempts"] == 0
    (entry,) = ran.issues
    words = " ".join(WORDS.split())
    assert words in " ".join(entry["sentence"].split())
    assert any(words in " ".join(note.split()) for note in entry["notes"])
    assert words in " ".join(ran.stdout.split())
    assert words in " ".join((shop / ".sdd" / "issues.md").read_text().split())
    assert "not checked by code" in ran.stdout
    assert "test_total" in entry["follow_up"]
    assert ran.result["contradiction"] == {"place": "test_total", "why": WORDS, "other": "", "found": ""}


def test_what_it_had_edited_before_is_judged_and_put_back(shop: Path, run) -> None:
    written(shop, "test_shop.py", WRONG)
    before = (shop / "shop.py").read_text()
    agent = Agent(coder=[edit("shop.py", "raise NotImplementedError", "return 7"), report("test_shop.py:5")])
    ran = run(shop, agent, "make the tests pass", "--check", PYTEST)
    assert (ran.code, ran.result["reason"]) == (6, "reported_contradiction")
    assert (shop / "shop.py").read_text() == before
    assert len(agent.requests("coder")) == 2


def test_a_green_is_a_green_whatever_was_reported(shop: Path, run) -> None:
    written(shop, "test_shop.py", WRONG)
    agent = Agent(coder=[edit("shop.py", "raise NotImplementedError", "return sum(prices)"), report("test_total")])
    ran = run(shop, agent, "make the tests pass", "--check", PYTEST)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")


def test_a_claim_that_code_disproves_is_a_failed_call_and_the_coder_goes_on(shop: Path, run) -> None:
    (shop / "shop.py").write_text("def total(prices):\n    return 0\n")
    written(shop, "test_shop.py", WRONG)
    wrong = [
        report("test_nowhere"),
        report("test_names"),
        edit("shop.py", "return 0", "return sum(prices)"),
        text("done"),
    ]
    agent = Agent(coder=wrong)
    ran = run(shop, agent, "make the tests pass", "--check", PYTEST)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    told = [request.messages[-1]["content"] for request in agent.requests("coder")[1:3]]
    assert "names no failing test" in told[0]
    assert "test_shop.py::test_total" in told[0]
    assert "test_names passes" in told[1]


def test_two_lines_that_do_contradict_each_other_are_checked(shop: Path, run) -> None:
    text = WRONG.replace("test_names", "test_other").replace(
        "    assert total([]) == 0", "    for _ in range(2):\n        assert total([1]) == 2"
    )
    written(shop, "test_shop.py", text)
    ran = run(shop, Agent(coder=[report("test_shop.py:5", "why", "test_shop.py:10")]), "x", "--check", PYTEST)
    assert (ran.code, ran.result["reason"]) == (6, "reported_contradiction")
    assert "test_shop.py:5 expects `total([1]) == 1`, and test_shop.py:10 expects `total([1]) == 2`" in ran.stdout
    assert "checked by code" in ran.stdout


def test_checks_with_variables_of_their_own_leave_it_open(shop: Path, run) -> None:
    """Two commands may judge two products."""
    written(shop, "test_shop.py", TWO_TESTS)
    checks = ("--check", f"MODE=a {PYTEST} -k old", "--check", f"MODE=b {PYTEST} -k new", "--max-attempts", "1")
    ran = run(shop, Agent(), "x", *checks)
    assert ran.result["reason"] != "contradicting_assertions"
