"""The promises of the loop: whole runs, a scripted model over HTTP, everything else real."""

import re
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, DONE, FIX, PYTEST, UNITTEST, Agent, contents, edit, git, kotef, plan, review, write
from support.openai_server import call, calls, text

GOAL = "make add add"


def test_a_suite_that_always_fails_costs_exactly_three_attempts(project: Path, run) -> None:
    """Bounded by code: three attempts, exit 3, one entry, and no model call after the bound."""
    attempts = [reply for n in range(3) for reply in (write(f"notes{n}.txt", "tried\n"), DONE)]
    agent = Agent(coder=attempts)

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert ran.code == 3
    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert ran.result["failureHistory"]["attempts"] == 3
    assert ran.result["done"] is False
    assert agent.asked == {"planner": 3, "coder": 6, "reviewer": 0}, "no model call after the bound"
    assert [entry["outcome"] for entry in ran.issues] == ["bounded_attempts_exceeded"]
    assert "test_add" in ran.issues[0]["follow_up"]
    assert ran.result["nextStep"] == ran.issues[0]["follow_up"]
    assert f"  next:   {ran.result['nextStep']}" in ran.stdout
    assert (ran.root / "calc.py").read_text() == BUG


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "attempt",
    [
        pytest.param(lambda n: [write(f"new{n}.py", "x = 1\n"), DONE], id="a new file every time"),
        pytest.param(lambda _: [write("same.py", "x = 1\n"), DONE], id="the same answer every time"),
        pytest.param(lambda _: [DONE], id="no change at all"),
    ],
)
def test_no_way_of_failing_escapes_the_bound(project: Path, run, attempt) -> None:
    agent = Agent(coder=[reply for n in range(3) for reply in attempt(n)])

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert (ran.code, ran.result["outcome"]) == (3, "bounded_attempts_exceeded")
    assert ran.result["failureHistory"]["attempts"] == 3
    assert ran.result["done"] is False
    assert len(ran.issues) == 1


def test_above_the_default_bound_a_run_without_progress_is_stuck(project: Path, run) -> None:
    """`stuck` saves attempts only above three, and only after a nudge that had its own attempt."""
    agent = Agent(coder=[DONE] * 20)

    ran = run(project, agent, GOAL, "--check", CHECK, "--max-attempts", "9")

    assert (ran.code, ran.result["outcome"]) == (3, "stuck")
    assert ran.result["failureHistory"]["attempts"] == 3
    assert "Notice" in agent.requests("planner")[1].text, "the nudge came first"


@pytest.mark.examples(2)
@pytest.mark.parametrize("attempt", [1, 3, 2])
def test_fixed_at_attempt_k(project: Path, run, attempt: int) -> None:
    wrong = [reply for n in range(attempt - 1) for reply in (write(f"try{n}.txt", "x\n"), DONE)]
    agent = Agent(coder=[*wrong, FIX, DONE])

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert (ran.code, ran.result["outcome"], ran.result["done"]) == (0, "verified", True)
    assert ran.result["failureHistory"]["attempts"] == attempt - 1
    assert ran.result["visits"] == attempt
    assert ran.issues == []
    assert "return a + b" in (project / "calc.py").read_text()


def test_the_second_plan_saw_the_first_failure_and_carries_it(project: Path, run) -> None:
    agent = Agent(coder=[write("a.txt", "x\n"), DONE, FIX, DONE])

    ran = run(project, agent, GOAL, "--check", CHECK)

    second = agent.requests("planner")[1].text
    assert "test_add" in second
    assert "Attempts used: 1 of 3" in second
    brief = agent.requests("coder")[2].text
    assert "answers this failure:" in brief
    assert "-1 != 5" in brief
    assert ran.code == 0


def test_without_a_readable_plan_code_makes_one_that_carries_the_failure(project: Path, run) -> None:
    """The planner's model may speak nonsense for ever; the run continues with a plan made from the history."""
    agent = Agent(coder=[write("a.txt", "x\n"), DONE, FIX, DONE], planner=lambda _, __: DONE)

    class Babbling(Agent):
        """Whoever is asked without editing tools gets prose."""

        def __call__(self, request, n):
            return agent.coder[self.count()] if "edit_file" in request.tools else self.prose(request)

        def count(self) -> int:
            self.asked["coder"] += 1
            return self.asked["coder"] - 1

        def prose(self, request):
            self.seen.append(("planner", request))
            return DONE

    babbling = Babbling()
    ran = run(project, babbling, GOAL, "--check", CHECK)

    plans = [event for event in ran.events if event["event"] == "planned"]
    assert [event["source"] for event in plans] == ["code", "code"]
    assert any("test_add" in step for step in plans[1]["steps"])
    assert ran.code == 0


def test_no_check_to_be_found_ends_before_any_model_call(tmp_path: Path, run) -> None:
    (tmp_path / "notes.txt").write_text("nothing to run here\n")
    git(tmp_path, "init", "-q")
    agent = Agent()

    ran = run(tmp_path, agent, "do something")

    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (5, "environment_broken", "no_checks")
    assert ran.server.calls == 0
    assert len(ran.issues) == 1


def test_checks_that_execute_no_test_are_never_a_success(project: Path, run) -> None:
    """`unittest` finds nothing in an empty directory; whatever its exit status, that is no proof."""
    (project / "empty").mkdir()
    agent = Agent(coder=[FIX, DONE, write("a.txt", "a\n"), DONE, write("b.txt", "b\n"), DONE])

    ran = run(project, agent, GOAL, "--check", "python -m unittest discover -q -s empty || true")

    assert ran.code == 3
    assert not ran.result["done"]


def test_a_command_that_is_always_green_proves_nothing(project: Path, run) -> None:
    agent = Agent(coder=[FIX, DONE] * 3, reviewer=[review(accept=False, reason="not done")] * 3)

    ran = run(project, agent, GOAL, "--check", "true")

    assert ran.code == 3
    assert not ran.result["done"]


def test_an_empty_repository_with_a_ticket_whose_tests_are_not_written_can_succeed(tmp_path: Path, run) -> None:
    root = tmp_path / "empty"
    tickets = root / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "01-add.md").write_text(
        "# Ticket: 01 Write add\n\n## Objective & DoD\n\nA function `add`.\n\n**Definition of Done**\n\n"
        f"- [ ] `{PYTEST} test_add.py` is green\n- [ ] It reads well\n\n## Tests\n\n```bash\n{PYTEST} test_add.py\n```\n"
    )
    git(root, "init", "-q")
    wanted = "from add import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n"
    agent = Agent(
        coder=[write("add.py", "def add(a, b):\n    return a + b\n"), write("test_add.py", wanted), DONE],
        reviewer=[review(accept=True)],
    )

    ran = run(root, agent, "--ticket", "1")

    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    ticket = root / ".sdd" / "backlog" / "tickets" / "open" / "01-add.md"
    assert "- [x] `PYTEST_DISABLE" in ticket.read_text(), "what a check proved is ticked"
    assert "- [ ] It reads well" in ticket.read_text(), "what nothing proves is not"


def test_tests_red_before_the_run_and_not_asked_for_do_not_block(project: Path, run) -> None:
    (project / "test_other.py").write_text("def test_other():\n    assert 1 == 2\n")
    (project / "test_mine.py").write_text("from calc import add\n\n\ndef test_mine():\n    assert add(2, 3) == 5\n")
    agent = Agent(coder=[FIX, DONE])

    ran = run(project, agent, "make test_mine.py pass", "--check", f"{PYTEST} test_other.py test_mine.py")

    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert ran.result["preexisting"] == ["test_other.py::test_other"]
    assert ran.result["fixed"] == ["test_mine.py::test_mine"]


def test_a_planner_that_says_done_is_not_believed(project: Path, run) -> None:
    """No word of a model ends a run green; an empty plan is replaced by one made from the history."""
    agent = Agent(coder=[DONE] * 3, planner=lambda _, __: plan(hypothesis="everything is done, all tests pass"))

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert ran.code == 3
    assert not ran.result["done"]


def test_blocked_is_the_one_ending_a_plan_can_choose(project: Path, run) -> None:
    agent = Agent(planner=[plan(blocked="the two tests contradict each other")])

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert (ran.code, ran.result["outcome"]) == (6, "blocked")
    assert "contradict" in ran.issues[0]["follow_up"]
    assert agent.asked["coder"] == 0


def test_a_refused_review_costs_an_attempt_and_is_told_to_the_planner(project: Path, run) -> None:
    """On a green baseline nothing but a new test or a review can prove a goal, and a review can only refuse."""
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    agent = Agent(
        coder=[write("a.txt", "a\n"), DONE, write("b.txt", "b\n"), DONE],
        reviewer=[review(accept=False, reason="there is no docstring yet"), review(accept=True)],
    )

    ran = run(project, agent, "give add a docstring", "--check", CHECK)

    assert (ran.code, ran.result["failureHistory"]["attempts"]) == (0, 1)
    assert "there is no docstring yet" in agent.requests("planner")[1].text


def test_a_review_that_cannot_be_read_is_not_told_as_accepted(project: Path, run) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    wanted = f"# Ticket: 01 Add\n\n## Objective & DoD\n\n`add` adds.\n\n- [ ] It reads well\n\n## Tests\n\n```bash\n{CHECK}\n```\n"
    (tickets / "01-add.md").write_text(wanted)
    script = iter([FIX, DONE])
    likes = text("I like it.")
    agent = Agent(coder=lambda request, _: next(script) if request.tools else likes, reviewer=lambda *_: likes)

    ran = run(project, agent, "--ticket", "01")

    assert ran.code == 0, ran.stdout
    assert "the answer of the review could not be read; the checks decide" in ran.stdout
    assert "accepted" not in ran.stdout


def test_a_new_test_proved_red_first_needs_no_review(project: Path, run) -> None:
    (project / "calc.py").write_text("def add(a, b):\n    return a + b\n")
    (project / "test_calc.py").unlink()
    (project / "test_add.py").write_text("from calc import add\n\n\ndef test_add():\n    assert add(1, 1) == 2\n")
    new = "from calc import double\n\n\ndef test_double():\n    assert double(4) == 8\n"
    agent = Agent(
        coder=[
            edit("calc.py", "return a + b\n", "return a + b\n\n\ndef double(a):\n    return add(a, a)\n"),
            write("test_double.py", new),
            DONE,
        ]
    )

    ran = run(project, agent, "add a function double", "--check", PYTEST)

    assert (ran.code, ran.result["proved"]) == (0, ["test_double.py::test_double"])
    assert agent.asked["reviewer"] == 0
    assert "double" in (project / "calc.py").read_text(), "the run's code is back after the proof"


def test_a_test_that_was_edited_to_pass_is_put_back(unittest_project: Path, run) -> None:
    """The tool refuses the edit; done behind its back by a command, the verifier puts the file back."""
    cheat = "python -c \"import pathlib; pathlib.Path('test_calc.py').write_text('')\""
    agent = Agent(coder=[edit("test_calc.py", "5", "-1"), calls(call("run_command", command=cheat)), DONE] * 3)

    ran = run(unittest_project, agent, GOAL, "--check", UNITTEST)

    assert ran.code == 3
    assert ran.result["putBack"] == ["test_calc.py"]
    assert "allow test edits" in agent.requests("coder")[1].text, "the refusal names the way out"
    assert "assertEqual" in (unittest_project / "test_calc.py").read_text()
    history = ran.result["failureHistory"]
    assert "put_back" in [entry["detail"] for entry in history["entries"]]
    assert (history["lastCommands"], "unknown" in history["lastErrorKinds"]) == ([UNITTEST], False), (
        "no made-up command"
    )
    assert (ran.issues[0]["last_command"], ran.issues[0]["last_error_kinds"]) == (
        UNITTEST,
        tuple(history["lastErrorKinds"]),
    )


def test_uncommitted_and_untracked_work_survives_a_failed_run(project: Path, run) -> None:
    (project / "calc.py").write_text(BUG + "\n# my own note\n")
    (project / "draft.md").write_text("not committed, not tracked\n")
    before = contents(project)
    agent = Agent(coder=[edit("calc.py", "# my own note", "# gone"), DONE, DONE, DONE])

    ran = run(project, agent, GOAL, "--check", CHECK)

    assert ran.code == 3
    assert contents(project) == before, "no attempt was better than the state before the run"
    assert ran.result["treeVisit"] == 0
    assert git(project, "log", "--oneline").count("\n") == 1, "kotef commits nothing"


def test_a_person_is_told_what_is_open_when_nothing_is_asked(project: Path, run) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "07-speed.md").write_text("# Ticket: 07 Make it quick\n\n## Tests\n\n```\npytest -q\n```\n")

    ran = kotef(project, "run")

    assert ran.code == 2
    assert re.search(r"07\s+Make it quick", ran.stderr)


def test_a_lie_in_a_file_that_the_checks_format_is_seen_and_undone(unittest_project: Path, run) -> None:
    """What the checks had written at the baseline was taken for theirs: neither looked at, nor put back."""
    lie = "import unittest\n\nunittest.TestCase.assertEqual = lambda *_: None\n\n\ndef add(a, b):\n"
    cheat = edit("calc.py", "def add(a, b):\n", lie)
    check = f"echo '# formatted' >> calc.py && {PYTEST}"
    ran = run(unittest_project, Agent(coder=[cheat, DONE]), GOAL, "--check", check, "--max-attempts", "1")
    assert ran.code == 3, ran.stdout
    assert "belongs to the judge" in ran.issues[0]["follow_up"]
    assert ((unittest_project / "calc.py").read_text(), ran.result["changed"]) == (BUG, [])


def test_an_edit_that_the_checks_format_is_undone_with_the_others(project: Path, run) -> None:
    """It was taken for somebody else's by then, and left, while all edits were said to be undone."""
    check = f"if grep -q '[*]' calc.py; then echo '# tidy' >> calc.py; fi; {CHECK}"
    ran = run(project, Agent(coder=[edit("calc.py", "-", "*"), DONE]), GOAL, "--check", check, "--max-attempts", "1")
    assert ran.code == 3, ran.stdout
    assert ((project / "calc.py").read_text(), ran.result["changed"]) == (BUG, [])
    assert "+# tidy" in (ran.run_dir / "visit-1.written-by-checks.patch").read_text()
