import asyncio

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, HumanMessage

from kotef.models.scripted_model import ScriptedChatModel, calls, says


def note(text: str) -> str:
    """Write a note."""
    return f"noted {text}"


def test_an_agent_runs_on_the_script() -> None:
    model = ScriptedChatModel(replies=[calls("note", text="hi"), says("done")])
    state = asyncio.run(create_agent(model, tools=[note]).ainvoke({"messages": [HumanMessage("go")]}))
    assert [message.text for message in state["messages"]] == ["go", "", "noted hi", "done"]
    assert "noted hi" in str(model.requests[1])
    assert [tool["function"]["name"] for tool in model.tools[0]] == ["note"]


def test_the_same_reply_twice_has_two_ids_and_two_call_ids() -> None:
    model = ScriptedChatModel(replies=[calls("note", text="hi")] * 2 + [says("done")])
    state = asyncio.run(create_agent(model, tools=[note]).ainvoke({"messages": [HumanMessage("go")]}))
    assert [message.text for message in state["messages"]].count("noted hi") == 2
    ids = [call["id"] for message in state["messages"] if isinstance(message, AIMessage) for call in message.tool_calls]
    assert len(set(ids)) == 2


def test_an_id_that_the_script_gives_is_kept_where_it_is_new() -> None:
    reply = AIMessage("", tool_calls=[{"name": "note", "args": {}, "id": "mine"}])
    model = ScriptedChatModel(replies=[reply, reply])
    assert model.invoke("x").tool_calls[0]["id"] == "mine"
    assert model.invoke("x").tool_calls[0]["id"] != "mine"


def test_running_out_is_an_error_that_is_recorded() -> None:
    model = ScriptedChatModel(replies=[says("only")])
    model.invoke("one")
    with pytest.raises(AssertionError, match="the script has 1 replies; this is request 2"):
        model.invoke("two")
    assert len(model.requests) == 2


def test_an_exception_in_the_script_is_raised() -> None:
    model = ScriptedChatModel(replies=[ConnectionError("down"), says("up")])
    with pytest.raises(ConnectionError, match="down"):
        asyncio.run(model.ainvoke("x"))
    assert asyncio.run(model.ainvoke("x")).content == "up"


def test_every_reply_has_usage_to_count() -> None:
    model = ScriptedChatModel(replies=[says("x" * 40)])
    usage = model.invoke("y" * 400).usage_metadata
    assert usage is not None
    assert (usage["input_tokens"], usage["output_tokens"]) == (100, 10)
