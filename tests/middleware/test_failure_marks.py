"""Are a failure's marks the same however often a call is answered?"""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import AIMessage, AnyMessage, HumanMessage, ToolMessage
from support.contexts import run_context

from kotef.checks.types import CommandResult
from kotef.middleware.conversation import FAILED, MISTAKE, AnsweredCalls
from kotef.middleware.effect_log import Effects
from kotef.middleware.failure_reminder import COMPACTED, RecentFailures
from kotef.middleware.idempotency import EffectsOnce
from kotef.middleware.visit_context import VisitContext
from kotef.settings import Limits
from kotef.tools.command_outcome import tell
from kotef.tools.errors import ToolFault


def ended(code: int | None, *, kind: Any = None, out: str = "said", timed_out: bool = False) -> CommandResult:
    return CommandResult(
        command="x", exit_code=code, stdout=out, passed=code == 0 and not kind, kind=kind, timed_out=timed_out
    )


@pytest.mark.parametrize(
    ("result", "red"),
    [
        (ended(0), None),
        (ended(1, kind="test_failure"), "test_failure"),
        (ended(0, kind="test_failure"), "test_failure"),
        (ended(2, kind="lint_failure"), "build_failure"),
        (ended(2, kind="unknown"), "tool_error"),
        (ended(-11, kind="runtime_error"), "tool_error"),
        (ended(1, kind="unknown", out=""), None),
    ],
    ids=["green", "red tests", "red tests behind a pipe", "compiler", "unknown", "a signal", "grep found nothing"],
)
def test_a_command_that_did_its_work_is_no_mistake(result: CommandResult, red: str | None) -> None:
    assert tell(result).red == red


@pytest.mark.parametrize("result", [ended(127), ended(126), ended(None), ended(None, timed_out=True)])
def test_a_command_that_could_not_do_its_work_is_one(result: CommandResult) -> None:
    with pytest.raises(ToolFault) as fault:
        tell(result)
    assert fault.value.kind == "exec_error"


@pytest.mark.parametrize("marks", [{}, {FAILED: "test_failure"}, {MISTAKE: "exec_error", FAILED: "edit_mismatch"}])
def test_a_replayed_effect_has_the_marks_of_the_first_time(tmp_path: Path, marks: dict[str, str]) -> None:
    async def act(request: ToolCallRequest) -> ToolMessage:
        return ToolMessage("said", tool_call_id="1", name="run_command", additional_kwargs=dict(marks))

    async def never(request: ToolCallRequest) -> ToolMessage:
        raise AssertionError("it was done before")

    def answer(handler: Any) -> ToolMessage:
        effects = Effects(tmp_path / "effects.jsonl")
        setting = VisitContext(run_context(tmp_path), 1, Limits(), effects, ())
        call = {"name": "run_command", "args": {"command": "x"}, "id": "1", "type": "tool_call"}
        request = ToolCallRequest(tool_call=call, tool=None, state={}, runtime=None)  # type: ignore[arg-type]
        found = asyncio.run(EffectsOnce(setting).awrap_tool_call(request, handler))
        assert isinstance(found, ToolMessage)
        return found

    assert answer(act).additional_kwargs == marks
    assert answer(never).additional_kwargs == marks


def conversation(*failing: str) -> list[AnyMessage]:
    messages: list[AnyMessage] = [HumanMessage("go")]
    for number, path in enumerate(failing):
        call = {"name": "view_file", "args": {"path": path}, "id": str(number), "type": "tool_call"}
        marks = {MISTAKE: "exec_error", FAILED: "file_not_found"}
        messages += [
            AIMessage("", tool_calls=[call]),
            ToolMessage(f"{path}: no such file", tool_call_id=str(number), name="view_file", additional_kwargs=marks),
        ]
    return messages


def test_the_memory_counts_turns_over_visits_and_forgets_a_visit_that_is_told_again(tmp_path: Path) -> None:
    RecentFailures(tmp_path, 1).keep(conversation("a.py"))
    RecentFailures(tmp_path, 1).keep(conversation("a.py", "b.py"))
    second = RecentFailures(tmp_path, 2)
    assert [record.turn for record in second.earlier] == [1, 2]
    second.keep(conversation("c.py"))
    third = RecentFailures(tmp_path, 3)
    assert [(record.description, record.turn) for record in third.earlier][-1] == ("c.py: no such file", 3)
    assert RecentFailures(tmp_path, 1).earlier == (), "a visit never starts from what came after it"


def test_the_memory_is_shown_only_after_something_was_forgotten(tmp_path: Path) -> None:
    class Request:
        def __init__(self, messages: list[AnyMessage]) -> None:
            self.state = {"messages": messages}

    memory = RecentFailures(tmp_path, 1)
    messages = conversation("a.py")
    assert memory.note(Request(messages)) == ""  # type: ignore[arg-type]
    messages.append(AIMessage("", additional_kwargs={COMPACTED: True}))
    assert "- [file_not_found] view_file: a.py: no such file (turn 1)" in memory.note(Request(messages))  # type: ignore[arg-type]


@pytest.mark.parametrize("content", [b"", b"{", b'{"visits": {"1": 3}}'])
def test_a_damaged_memory_costs_the_memory_and_not_the_run(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "recent.json").write_bytes(content)
    memory = RecentFailures(tmp_path, 2)
    assert memory.earlier == ()
    memory.keep(conversation("a.py"))
    assert len(RecentFailures(tmp_path, 3).earlier) == 1


def test_calls_are_numbered_by_the_answers_that_make_calls() -> None:
    messages = conversation("a.py", "b.py")
    messages.insert(3, AIMessage("only words"))
    assert [call.turn for call in AnsweredCalls()(messages)] == [1, 2]
