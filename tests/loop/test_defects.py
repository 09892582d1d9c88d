"""A defect of kotef inside a visit is told to the model once, kept with its traceback, and ends the run if it repeats."""

from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, Agent
from support.openai_server import call, calls

from kotef.middleware import compaction, nested_instructions

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
SECRET = "hunter2hunter2hunter2"


def named(ran: Any) -> list[dict[str, Any]]:
    return [event for event in ran.events if event["event"] == "defect"]


@pytest.fixture
def broken_guard(monkeypatch: pytest.MonkeyPatch):
    """`broken_guard(times)`: the guard of nested instructions fails at so many calls."""

    def breaks(times: int) -> None:
        left = iter(range(times))

        def fail(*_: object) -> Any:
            if next(left, None) is None:
                return []
            raise ZeroDivisionError(f"nobody thought of {SECRET}")

        monkeypatch.setattr(nested_instructions.NestedInstructions, "_nearest", fail)

    return breaks


def test_the_first_is_told_to_the_model_and_the_run_goes_on(
    project: Path, run, broken_guard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("API_TOKEN", SECRET)
    broken_guard(1)
    agent = Agent(coder=[calls(call("list_dir")), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    said = agent.requests("coder")[1].messages[-1]
    assert said["role"] == "tool"
    assert "kotef itself failed during this call (ZeroDivisionError" in said["content"]
    (event,) = named(ran)
    assert (event["visit"], event["tool"], event["log"]) == (1, "list_dir", "logs/defect-1-1.txt")
    trace = (ran.run_dir / event["log"]).read_text()
    assert trace.startswith("Traceback")
    assert "ZeroDivisionError" in trace
    assert SECRET not in trace + said["content"] + ran.stdout
    assert "kotef itself failed during list_dir" in ran.stdout


def test_the_same_again_ends_the_run_as_crashed(project: Path, run, broken_guard) -> None:
    broken_guard(2)
    ran = run(project, Agent(coder=[calls(call("list_dir")), calls(call("find_files", glob="*"))]), GOAL, *ONCE)
    assert (ran.code, ran.result["outcome"]) == (1, "crashed")
    assert len(named(ran)) == 1
    assert "ZeroDivisionError" in (ran.run_dir / "traceback.txt").read_text()


def test_calls_of_one_answer_that_fail_alike_are_told_together(project: Path, run, broken_guard) -> None:
    """The model could not know of the first when it made the second."""
    broken_guard(2)
    turn = calls(call("list_dir"), call("find_files", glob="*"))
    agent = Agent(coder=[turn, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    told = [message["content"] for message in agent.requests("coder")[1].messages if message["role"] == "tool"]
    assert ["kotef itself failed" in text for text in told] == [True, True]


def test_one_at_an_answer_of_the_model_asks_it_again(project: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    ask, left = compaction.Compaction.awrap_model_call, iter([1])

    async def fails_once(self: Any, request: Any, handler: Any) -> Any:
        response = await ask(self, request, handler)
        if next(left, None):
            raise KeyError("nobody thought of this")
        return response

    monkeypatch.setattr(compaction.Compaction, "awrap_model_call", fails_once)
    agent = Agent(coder=[FIX, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert [event["tool"] for event in named(ran)] == [""]
    assert "kotef itself failed" in agent.requests("coder")[1].text
    assert ran.result["usage"]["calls"] == 4, "the lost answer was paid for"
