"""With -i a person agrees to the plan before the first edit, and to commands the policy does not allow by itself."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, CHECK, DONE, FIX, FIXED, Agent, Ran, kotef, plan
from support.openai_server import OpenAIServer, call, calls

from kotef.cli import interactive
from kotef.cli.screen import Screen

GOAL = ("make add add", "--check", CHECK, "-i")
INSTALL = "pip install nothing-at-all"


class Person:
    """Sits at the terminal; answers in order, and what they were asked is kept."""

    def __init__(self, *plans: Sequence[str] | str | None, commands: Sequence[str] = ()) -> None:
        self.plans, self.commands = list(plans), list(commands)
        self.asked: list[Any] = []

    async def plan(self, _: Screen, visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
        self.asked.append((visit, list(steps)))
        said = self.plans.pop(0)
        if isinstance(said, BaseException):
            raise said
        return tuple(steps) if said == "approve" else None if said is None else tuple(said)

    async def command(self, _: Screen, command: str, reason: str) -> str:
        self.asked.append((command, reason))
        return self.commands.pop(0)


@pytest.fixture
def sits(monkeypatch: pytest.MonkeyPatch) -> Callable[[Person], Person]:
    """Puts a person before the terminal."""

    def sit(person: Person) -> Person:
        monkeypatch.setattr(interactive, "is_attended", lambda _: True)
        monkeypatch.setattr(Screen, "approve", lambda *asked: person.plan(*asked))  # noqa: PLW0108  a method binds no screen
        monkeypatch.setattr(Screen, "permit", lambda *asked: person.command(*asked))  # noqa: PLW0108  a method binds no screen
        return person

    return sit


def told(ran: Ran, *names: str) -> list[tuple[str, str]]:
    return [
        (event["event"], event.get("answer", event.get("question"))) for event in ran.events if event["event"] in names
    ]


def test_a_plan_that_is_approved_is_followed_and_asked_for_once(project: Path, run, sits) -> None:
    person = sits(Person("approve"))
    wrong = calls(call("write_file", path="notes.txt", content="x\n"))
    ran = run(project, Agent(coder=[wrong, DONE, FIX, DONE]), *GOAL)
    assert ran.code == 0, ran.stdout + ran.stderr
    assert person.asked == [(1, ["fix add"])], "the second attempt is not asked about"
    question = "approve the plan of attempt 1, edit it, or quit?"
    assert told(ran, "asked", "answered") == [("asked", question), ("answered", "approve")]
    asked, started = (next(e["n"] for e in ran.events if e["event"] == name) for name in ("asked", "coder_started"))
    assert asked < started, "before anything is edited"


def test_an_edited_plan_is_what_the_coder_is_given(project: Path, run, sits) -> None:
    sits(Person(["look at calc.py first", "fix add"]))
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, *GOAL)
    assert ran.code == 0, ran.stdout + ran.stderr
    assert "look at calc.py first" in agent.requests("coder")[0].text
    assert ran.result["attempts"][0]["steps"] == ["look at calc.py first", "fix add"]
    assert "plan as edited:" in ran.stdout


def test_a_step_of_several_lines_is_approved_and_not_edited(project: Path, run, sits) -> None:
    sits(Person(["fix add, then stop"]))
    agent = Agent(planner=[plan("fix add,\n  then stop")], coder=[FIX, DONE])
    ran = run(project, agent, *GOAL)
    assert [answer for _, answer in told(ran, "answered")] == ["approve"]


def test_who_quits_at_a_later_attempt_is_not_told_that_nothing_was_edited(project: Path, run, sits) -> None:
    sits(Person(None))
    wrong = calls(call("write_file", path="notes.txt", content="x\n"))
    agent = Agent(coder=[wrong, DONE])
    first = run(project, agent, "make add add", "--check", CHECK, "--max-attempts", "1")
    assert first.code == 3
    ran = run(project, agent, "--last", "-i", "--max-attempts", "2", command="resume")
    assert (ran.code, ran.result["reason"]) == (130, "quit")
    page = (ran.run_dir / "report.md").read_text() + (project / ".sdd" / "issues.md").read_text()
    assert "a person quit at the plan of attempt 2, before its edits; a resume asks again" in page


def test_who_quits_has_an_interrupted_run_and_is_asked_again_by_the_resume(project: Path, run, sits) -> None:
    person = sits(Person(None, "approve"))
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, *GOAL)
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (130, "interrupted", "quit")
    assert (project / "calc.py").read_text() == BUG
    assert agent.asked["coder"] == 0
    assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
    resumed = run(project, agent, "--last", command="resume")
    assert resumed.code == 0, resumed.stdout + resumed.stderr
    assert person.asked == [(1, ["fix add"]), (1, ["fix add"])]
    assert agent.asked["planner"] == 1, "the very plan is asked about again, and not made anew"


def test_after_a_crash_at_the_question_it_is_asked_anew(project: Path, run, sits) -> None:
    person = sits(Person(ZeroDivisionError("the terminal went away"), "approve"))
    agent = Agent(coder=[FIX, DONE])
    assert run(project, agent, *GOAL).result["outcome"] == "crashed"
    assert run(project, agent, "--last", command="resume").code == 0
    assert len(person.asked) == 2


def test_a_resume_without_a_terminal_says_that_a_question_is_open_and_does_nothing(
    project: Path, run, sits, monkeypatch: pytest.MonkeyPatch
) -> None:
    sits(Person(None))
    agent = Agent(coder=[FIX, DONE])
    ran = run(project, agent, *GOAL)
    monkeypatch.setattr(interactive, "is_attended", lambda _: False)
    refused = run(project, agent, "--last", command="resume")
    assert refused.code == 2
    assert "has a question" in refused.stderr
    assert ran.result["outcome"] == "interrupted", "its result is kept"
    goes_on = run(project, agent, "--last", "--no-interactive", command="resume")
    assert (goes_on.code, (project / "calc.py").read_text()) == (0, FIXED), goes_on.stderr


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_without_a_terminal_it_is_a_usage_error_and_nothing_is_run(project: Path, more: tuple[str, ...]) -> None:
    ran = kotef(project, "run", "make add add", "--check", CHECK, "--coder", "fixers", "-i", *more)
    assert ran.code == 2
    assert "--interactive: no one can answer" in ran.stderr
    assert not (project / ".sdd").exists()


def test_in_ci_nobody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    from kotef.cli.screen import console, is_attended

    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    screen = console()
    screen._force_terminal = True
    monkeypatch.delenv("CI", raising=False)
    assert is_attended(screen)
    monkeypatch.setenv("CI", "1")
    assert not is_attended(screen)


def commands(*lines: str) -> list[Any]:
    return [*(calls(call("run_command", command=line)) for line in lines), FIX, DONE]


def answers_of(agent: Agent) -> list[str]:
    """What the model was told of each of its commands."""
    last = max(agent.requests("coder"), key=lambda request: len(request.messages))
    return [str(message["content"]) for message in last.messages if message["role"] == "tool"]


def test_a_command_the_profile_refuses_runs_once_or_for_the_run_as_the_person_says(
    project: Path, run, sits, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "pip").write_text("#!/bin/sh\necho installed >> installed.txt\nwc -l < installed.txt\n")
    (programs / "pip").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs), prepend=":")
    person = sits(Person("approve", commands=["no", "once", "run"]))
    agent = Agent(coder=commands(*[INSTALL] * 5))
    ran = run(project, agent, *GOAL, "--allow-edits", "installed.txt")
    assert (project / "installed.txt").read_text().count("installed") == 4, ran.stdout
    assert [asked[0] for asked in person.asked[1:]] == [INSTALL] * 3, "once allowed for the run it is not asked again"
    first, *others = answers_of(agent)[:5]
    assert "the person at the terminal refused" in first
    assert all("exit 0" in answer for answer in others)
    assert [answer for name, answer in told(ran, "answered")][1:] == ["no", "yes, once", "yes, for this run"]


def test_what_is_never_right_is_refused_without_a_question(project: Path, run, sits) -> None:
    person = sits(Person("approve"))
    agent = Agent(coder=commands("git push", f"{INSTALL} && git push"))
    run(project, agent, *GOAL)
    assert len(person.asked) == 1
    assert all("is refused" in answer for answer in answers_of(agent)[:2])


def test_headless_the_policy_stands(project: Path, run) -> None:
    agent = Agent(coder=commands(INSTALL))
    ran = run(project, agent, "make add add", "--check", CHECK)
    assert "a person has to allow" in answers_of(agent)[0]
    assert told(ran, "asked") == []


def test_the_approval_is_no_word_a_later_plan_can_borrow(project: Path, run, sits) -> None:
    """What is kept is for that visit; a torn file only means that the plan is followed as it was made."""
    sits(Person(["fix add by hand"]))
    ran = run(project, Agent(coder=[FIX, DONE]), *GOAL)
    kept = json.loads((ran.run_dir / "approved.json").read_text())
    assert kept == {"visit": 1, "steps": ["fix add by hand"]}


def test_the_time_a_person_takes_is_not_the_runs(project: Path, sits, monkeypatch: pytest.MonkeyPatch) -> None:
    import asyncio

    person = sits(Person("approve"))

    async def slowly(screen: Screen, visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
        await asyncio.sleep(0.8)
        return await person.plan(screen, visit, steps)

    monkeypatch.setattr(Screen, "approve", slowly)
    with OpenAIServer(Agent(planner=lambda *_: plan("fix add"), coder=[FIX, DONE])) as server:
        ran = kotef(project, "run", *GOAL, "--coder", "model", "--model", "m", "--base-url", server.base_url)
    assert ran.code == 0
    times = {event["event"]: event["t"] for event in ran.events}
    wall = times["run_finished"] - times["run_started"]
    assert ran.result["usage"]["seconds"] <= wall - 0.7
