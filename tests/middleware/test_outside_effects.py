"""A call of an MCP server's tool is an effect: it happens once, also when kotef was killed."""

import asyncio
from pathlib import Path
from typing import Any

from langchain.agents.middleware import ToolCallRequest
from langchain_core.messages import ToolMessage
from support.contexts import run_context

from kotef.middleware.effect_log import Effects
from kotef.middleware.idempotency import IN_DOUBT, EffectsOnce
from kotef.middleware.visit_context import VisitContext
from kotef.settings import Limits


def call(root: Path, name: str, *, killed: bool = False) -> tuple[str, int, list[str]]:
    """One process's share of a call: its answer, how often the tool was at work, the events."""
    worked, events = [], []

    async def handler(request: ToolCallRequest) -> ToolMessage:
        worked.append(1)
        if killed:
            raise KeyboardInterrupt
        return ToolMessage("sent", tool_call_id="c1", name=name)

    setting = VisitContext(
        context=run_context(root, emit=lambda event, /, **_: events.append(event)),
        number=1,
        limits=Limits(),
        effects=Effects(root / "effects.jsonl"),
        tools=(name,),
        effectful=frozenset({"mail__send"}),
    )
    made: Any = {"name": name, "args": {"to": "a"}, "id": "c1", "type": "tool_call"}
    request = ToolCallRequest(tool_call=made, tool=None, state={}, runtime=None)  # type: ignore[arg-type]
    try:
        answer = asyncio.run(EffectsOnce(setting).awrap_tool_call(request, handler))
    except KeyboardInterrupt:
        return "", len(worked), events
    assert isinstance(answer, ToolMessage)
    return answer.text, len(worked), events


def test_a_finished_call_is_replayed(tmp_path: Path) -> None:
    assert call(tmp_path, "mail__send") == ("sent", 1, [])
    assert call(tmp_path, "mail__send") == ("sent", 0, [])


def test_a_call_nobody_saw_end_is_told_and_not_made_again(tmp_path: Path) -> None:
    assert call(tmp_path, "mail__send", killed=True) == ("", 1, [])
    assert call(tmp_path, "mail__send") == (IN_DOUBT, 0, ["in_doubt"])


def test_what_is_no_effect_is_simply_done_again(tmp_path: Path) -> None:
    for _ in range(2):
        assert call(tmp_path, "web_fetch") == ("sent", 1, [])
