"""Runs without a model, and with a cheap coder before a paid one: the same loop, the same verdict."""

import re
from pathlib import Path

import pytest
from support.loop import DONE, PYTEST, UNITTEST, UNITTEST_TEST, Agent, contents, edit, git, kotef, review, unchanged
from support.terminal import at_a_terminal

GOAL = "make add add"
BRIEFLY = ("--coder", "fixers,search:20s")
"""Bounded, with room for a busy machine: the first repair is found at once, the rest looks for others that pass."""
PRICE_TEST = """\
import unittest

from calc import price


class Price(unittest.TestCase):
    def test_price(self):
        self.assertEqual(price(2, 2), 4)
"""
TESTS = """\
import pytest
from calc import add


@pytest.mark.parametrize(("a", "b", "total"), [(1, 2, 3), (0, 0, 0), (-4, 9, 5), (7, 7, 14)])
def test_add(a, b, total):
    assert add(a, b) == total
"""


@pytest.fixture
def project(unittest_project: Path) -> Path:
    """The tests here are about runners: their ids, their lines, their files."""
    return unittest_project


@pytest.fixture
def tested(project: Path) -> Path:
    """The tiny project with four pytest cases."""
    (project / "test_calc.py").write_text(TESTS)
    return project


def test_without_a_key_a_search_repairs_and_says_how(tested: Path) -> None:
    """The search leaves no file of its own."""
    with unchanged(tested, "calc.py"):
        ran = kotef(tested, "run", GOAL, "--check", PYTEST)
    left = {path.name for path in tested.iterdir()} - {".git", ".sdd", "__pycache__"}
    assert left == {"calc.py", "test_calc.py", ".gitignore"}
    assert (ran.code, ran.result["outcome"], ran.result["winner"]) == (0, "verified", "search")
    assert (tested / "calc.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert "verified (by search)" in ran.stdout
    assert "no model is configured: fixers,search work without one" in ran.stdout
    assert "`-` → `+`" in ran.result["edit"]["rationale"]
    assert any("candidates tried" in line for line in ran.result["edit"]["evidence"])
    assert any("tests run the edited line" in line for line in ran.result["edit"]["evidence"])
    assert "## The edit" in (ran.run_dir / "report.md").read_text()


def test_unittest_is_searched_too(project: Path) -> None:
    """A chain works in any order."""
    ran = kotef(project, "run", GOAL, "--check", UNITTEST, "--coder", "search:20s,fixers")
    assert (ran.code, ran.result["winner"]) == (0, "search")


def test_what_two_checks_of_pytest_find_is_searched(tested: Path) -> None:
    """A ticket's check and the detected one are often the same by two spellings."""
    ran = kotef(tested, "run", GOAL, "--check", PYTEST, "--check", f"{PYTEST} test_calc.py", *BRIEFLY)
    assert (ran.code, ran.result["winner"]) == (0, "search"), ran.result["sentence"]


def test_a_misspelt_name_is_fixed_mechanically(project: Path) -> None:
    (project / "calc.py").write_text("def add(first, second):\n    return frist + second\n")
    ran = kotef(project, "run", GOAL, "--check", UNITTEST)
    assert (ran.code, ran.result["winner"]) == (0, "fixers")
    assert (project / "calc.py").read_text() == "def add(first, second):\n    return first + second\n"


def test_with_a_key_what_a_search_finds_costs_one_review(project: Path, run) -> None:
    agent = Agent(reviewer=[review(accept=True)])
    ran = run(project, agent, GOAL, "--check", UNITTEST, "--coder", "fixers,search:20s,model")
    assert (ran.code, ran.result["winner"], ran.server.calls) == (0, "search", 1)
    assert "found by a search for edits" in agent.requests("reviewer")[0].text


def test_what_a_search_finds_and_the_review_refuses_goes_to_the_model(project: Path, run) -> None:
    better = edit("calc.py", "return a + b", "return a + b  # whole numbers")
    agent = Agent(
        reviewer=[review(accept=False, reason="it only fits the tests"), review(accept=True)], coder=[better, DONE]
    )
    ran = run(project, agent, GOAL, "--check", UNITTEST, "--coder", "search:20s,model")
    assert (ran.code, ran.result["winner"]) == (0, "model"), ran.result["sentence"]
    assert "it only fits the tests" in agent.requests("coder")[0].text


def test_a_dead_endpoint_does_not_stand_in_the_way_of_a_proved_repair(project: Path, run) -> None:
    ran = run(project, Agent(), GOAL, "--check", UNITTEST, "--coder", "search:20s,model")
    assert (ran.code, ran.result["winner"]) == (0, "search")
    assert "the checks decide" in ran.stdout, ran.stdout


def test_edits_that_disagree_are_candidates_for_the_model(project: Path, run) -> None:
    """Without a model they are a question to a person."""
    (project / "calc.py").write_text("def price(n, fee):\n    return n - fee\n")
    (project / "test_calc.py").write_text(PRICE_TEST)
    agent = Agent(coder=[edit("calc.py", "n - fee", "n + fee"), DONE])
    ran = run(project, agent, "make the price right", "--check", UNITTEST, "--coder", "search:20s,model")
    assert (ran.code, ran.result["winner"]) == (0, "model"), ran.result["sentence"]
    shown = agent.requests("coder")[0].text
    assert "several edits pass every test, but disagree: should price(" in shown
    assert "+    return n + fee" in shown


def test_what_the_search_learnt_reaches_the_model(project: Path, run) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    raise ValueError('not written yet')\n")
    fix = edit("calc.py", "raise ValueError('not written yet')", "return a + b")
    agent = Agent(coder=[fix, DONE])
    ran = run(project, agent, GOAL, "--check", UNITTEST, "--coder", "search:2s,model")
    assert ran.code == 0
    assert ran.result["winner"] in ("model", "search")
    if ran.result["winner"] == "model":
        assert "What cheaper coders noticed" in agent.requests("coder")[0].text
        assert agent.asked["planner"] == 0, "while a coder without a model has not declined, code plans"


def test_what_no_edit_can_do_ends_bounded_with_an_entry(project: Path) -> None:
    (project / "test_calc.py").write_text(
        UNITTEST_TEST.replace(
            "self.assertEqual(add(0, 0), 0)",
            "self.assertEqual(add(1, 2), 3)\n        import os\n        assert 'NOBODY_SETS_THIS' in os.environ",
        )
    )
    before = contents(project)
    ran = kotef(project, "run", GOAL, "--check", UNITTEST, "--coder", "fixers,search:2s")
    assert ran.code == 3
    assert ran.result["reason"] in {"nothing_left_to_try", "search_time_over"}, "how far it comes is the machine's"
    assert contents(project) == before
    assert len(ran.issues) == 1
    assert ran.result["resume"] is None
    again = kotef(project, "resume", "--last", "--max-attempts", "5", "--coder", "search:60s")
    assert again.code == 2, "nothing is run"
    assert "already tried this failure on exactly this tree (name a model, or start a new run" in again.stderr


def test_without_a_failing_test_there_is_nothing_to_search_for(project: Path) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    ran = kotef(project, "run", "make it faster", "--check", UNITTEST)
    assert (ran.code, ran.result["reason"]) == (3, "nothing_left_to_try")
    assert "no failing test: nothing to search for" in ran.result["sentence"]
    assert "name a model (`--model`)" in ran.result["nextStep"]


def test_a_repair_that_others_contradict_is_a_question_and_not_a_success(project: Path) -> None:
    """One example fits many rules; which is meant only a person knows."""
    (project / "calc.py").write_text("def price(n, fee):\n    return n - fee\n")
    (project / "test_calc.py").write_text(PRICE_TEST)
    before = contents(project)
    ran = kotef(project, "run", "make the price right", "--check", UNITTEST, "--coder", "search:20s")
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (6, "blocked", "ambiguous_repair")
    assert contents(project) == before, "the edit is kept, but not in the tree"
    assert (ran.run_dir / "visit-1.patch").read_text().startswith("diff --git a/calc.py")
    assert "should price(" in ran.issues[0]["follow_up"]
    assert ran.result["edit"]["alternatives"]
    again = kotef(project, "resume", "--last")
    assert again.code == 2
    assert "--accept-ambiguous" in again.stderr
    accepted = kotef(project, "resume", "--last", "--accept-ambiguous")
    assert (accepted.code, accepted.result["winner"]) == (0, "search")
    assert contents(project) != before
    assert [entry["state"] for entry in accepted.issues] == ["resolved"]


def test_a_slip_in_a_ticket_is_repaired_and_the_ticket_closed(project: Path) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "01-add.md").write_text(
        "# Ticket: 01 Add\n\n## Objective & DoD\n\nIt adds.\n\n**Definition of Done**\n\n- [ ] `test_add` passes\n\n"
        f"## Tests\n\n```\n{UNITTEST}\n```\n"
    )
    git(project, "add", "-A")
    ran = kotef(project, "run", "--ticket", "01", *BRIEFLY)
    assert ran.code == 0
    assert "- [x]" in (tickets.parent / "closed" / "01-add.md").read_text()


def test_a_chain_nobody_knows_is_a_usage_error(project: Path) -> None:
    ran = kotef(project, "run", GOAL, "--coder", "aidr")
    assert ran.code == 2
    assert "fixers, search, model" in ran.stderr


def test_a_named_model_without_an_endpoint_is_a_usage_error(project: Path) -> None:
    ran = kotef(project, "run", GOAL, "--check", UNITTEST, "--coder", "search,model")
    assert ran.code == 2
    assert "OPENAI_BASE_URL" in ran.stderr


def test_what_a_linter_can_mend_itself_is_mended(project: Path) -> None:
    (project / "calc.py").write_text("import os\n\n\ndef add(a, b):\n    return a + b\n")
    ran = kotef(project, "run", "make ruff pass", "--check", "ruff check --isolated --select F .", *BRIEFLY)
    assert (ran.code, ran.result["winner"]) == (0, "fixers"), ran.stdout
    assert "import os" not in (project / "calc.py").read_text()


def test_a_fix_that_is_not_enough_stays_and_the_search_goes_on_from_there(project: Path) -> None:
    (project / "calc.py").write_text("def add(first, second):\n    return frist - second\n")
    ran = kotef(project, "run", GOAL, "--check", UNITTEST, *BRIEFLY)
    assert (ran.code, ran.result["winner"]) == (0, "search"), ran.stdout
    assert (project / "calc.py").read_text() == "def add(first, second):\n    return first + second\n"
    assert ran.result["failureHistory"]["attempts"] == 1, "an edit that fails verification spends an attempt like any"


def test_the_first_attempt_of_a_cheap_coder_is_planned_by_code(project: Path, run) -> None:
    """Once the coders without a model have been asked, the model plans."""
    (project / "calc.py").write_text("def add(a, b):\n    raise ValueError('not written yet')\n")
    wrong = edit("calc.py", "raise ValueError('not written yet')", "return 0")
    right = edit("calc.py", "return 0", "return a + b")
    agent = Agent(coder=[wrong, DONE, right, DONE])
    ran = run(project, agent, GOAL, "--check", UNITTEST, "--coder", "fixers,model")
    assert ran.code == 0
    assert [event["source"] for event in ran.events if event["event"] == "planned"] == ["code", "model"]


def test_on_a_terminal_the_question_is_put_to_the_person_first(project: Path) -> None:
    """The answer chooses the edit; what passes the tests and says otherwise is not taken."""
    (project / "calc.py").write_text("def price(n, fee):\n    return n - fee\n")
    (project / "test_calc.py").write_text(PRICE_TEST)
    arguments = ["run", "make the price right", "--check", UNITTEST, "--coder", "search:20s"]
    said = at_a_terminal(arguments, project, {"leave it open": "2\n"})
    asked = re.search(r"should (price\(.*?\)) return (\S+) or (\S+)\?", said)
    assert asked
    assert f"2. {asked[3]}" in said
    assert f"a person's answer: {asked[1]} is {asked[3]}" in said
    assert "verified (by search)" in said
    price = {}
    exec((project / "calc.py").read_text(), price)
    assert str(eval(asked[1], price)) == asked[3]
