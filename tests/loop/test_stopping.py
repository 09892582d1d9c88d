"""A person's first Ctrl-C lets the current step end, the second ends it at once; any other signal does not wait."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, FIXED, Agent, Ran, calls, kotef
from support.openai_server import OpenAIServer, Request, call, text

from kotef.cli import interactive, workspace_option
from kotef.runs import start


@pytest.fixture
def at_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """A person reads what becomes of their Ctrl-C."""
    monkeypatch.setattr(interactive, "is_attended", lambda _: True)


class Stops(Agent):
    """An agent whose server presses Ctrl-C while it answers its nth question to the coder."""

    at: int = 0
    signals: tuple[int, ...] = (signal.SIGINT,)

    def __call__(self, request: Request, number: int) -> Any:
        """Answer, with a Ctrl-C before it."""
        mine = "PlanAnswer" not in request.tools and self.asked["coder"] == self.at and not self.pressed
        if mine:
            self.pressed = True
            for press in self.signals:
                os.kill(os.getpid(), press)
                time.sleep(0.05)
        return super().__call__(request, number)

    pressed: bool = False


def stops(at: int, *, coder: list[Any], signals: tuple[int, ...] = (signal.SIGINT,)) -> Stops:
    agent = Stops(coder=coder)
    agent.at, agent.signals = at, signals
    return agent


def names(ran: Ran) -> list[str]:
    return [event["event"] for event in ran.events]


Go = Callable[..., Ran]
GOAL = ("make add add", "--check", CHECK)


def test_the_model_call_ends_and_its_answer_is_kept_but_no_tool_is_begun(project: Path, at_terminal: None) -> None:
    agent = stops(0, coder=[FIX, DONE])
    with OpenAIServer(agent) as server:  # one for both: with another endpoint the attempt begins anew
        where = ("--coder", "model", "--model", "m", "--base-url", server.base_url)
        ran = kotef(project, "run", *GOAL, *where)
        assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (130, "interrupted", "SIGINT")
        assert "stopping after the current step; Ctrl-C again stops at once" in ran.stdout
        assert [event["node"] for event in ran.events if event["event"] == "model_answer"] == ["planner", "coder"]
        assert "tool_started" not in names(ran)
        assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
        resumed = kotef(project, "resume", "--last", *where)
    assert (resumed.code, (project / "calc.py").read_text()) == (0, FIXED), resumed.stdout
    assert agent.asked["coder"] == 2, "what was answered is not asked and paid for again"


def test_a_command_that_runs_comes_to_its_end(project: Path, run: Go, at_terminal: None) -> None:
    """The command presses Ctrl-C itself, and does its work after that; the one after it is not begun."""
    (project / "press.sh").write_text(f"kill -INT {os.getpid()}; sleep 0.3; echo done > done.txt\n")
    both = calls(call("run_command", command="sh press.sh"), call("run_command", command="touch never.txt"))
    ran = run(project, Agent(coder=[both, FIX, DONE]), *GOAL)
    assert ran.code == 130, ran.stdout
    assert (project / "done.txt").read_text() == "done\n"
    assert not (project / "never.txt").exists()


def test_a_check_comes_to_its_end_and_a_verdict_it_leads_to_is_reached(
    project: Path, run: Go, at_terminal: None
) -> None:
    """The last check of a run that is green then makes it verified: nothing was left to be stopped."""
    test = f"grep -q 'a + b' calc.py && kill -INT {os.getpid()}; sleep 0.2; {CHECK}"
    ran = run(project, Agent(coder=[FIX, DONE]), "make add add", "--check", test)
    assert "stopping" in names(ran)
    assert (ran.code, ran.result["outcome"]) == (0, "verified"), ran.stdout


def test_twice_ends_the_step_at_once(project: Path, run: Go, at_terminal: None) -> None:
    agent = stops(0, coder=[FIX, DONE], signals=(signal.SIGINT, signal.SIGINT))
    ran = run(project, agent, *GOAL)
    assert (ran.code, ran.result["outcome"]) == (130, "interrupted")
    assert [event["node"] for event in ran.events if event["event"] == "model_answer"] == ["planner"]


def test_sigterm_does_not_wait(project: Path, run: Go, at_terminal: None) -> None:
    ran = run(project, stops(0, coder=[FIX, DONE], signals=(signal.SIGTERM,)), *GOAL)
    assert (ran.code, ran.result["reason"]) == (143, "SIGTERM")
    assert "stopping" not in names(ran)


def test_without_a_terminal_one_is_enough(project: Path, run: Go) -> None:
    ran = run(project, stops(0, coder=[text("x")]), *GOAL)
    assert ran.code == 130
    assert "stopping" not in names(ran)
    assert [event["node"] for event in ran.events if event["event"] == "model_answer"] == ["planner"]


def test_twice_before_a_resumed_run_has_begun_ends_with_its_result(
    project: Path, run: Go, at_terminal: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A resume had forgotten the earlier result by then, and ended with status 1, as one that was killed."""
    loading = start._loop

    def pressed(*given: Any) -> Any:
        for _ in range(3):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0.05)
        return loading(*given)

    agent = stops(0, coder=[FIX, DONE])
    with OpenAIServer(agent) as server:
        where = ("--coder", "model", "--model", "m", "--base-url", server.base_url)
        assert kotef(project, "run", *GOAL, *where).code == 130
        with monkeypatch.context() as patched:
            patched.setattr(start, "_loop", pressed)
            ran = kotef(project, "resume", "--last", *where)
        assert (ran.code, ran.result["outcome"]) == (130, "interrupted"), ran.stderr
        assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
        assert kotef(project, "resume", "--last", *where).code == 0


def test_ctrl_c_where_no_run_is_at_work_has_the_status_of_an_interruption(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def press(*_: Any, **__: Any) -> None:
        os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(workspace_option, "workspace_of", press)
    ran = kotef(project, "runs")
    assert (ran.code, ran.stdout, ran.stderr) == (130, "", "kotef: interrupted\n")
