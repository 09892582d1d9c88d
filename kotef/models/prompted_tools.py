"""Tools described in words, for a model or a server that takes none: the calls are read from the text."""

import json
from collections.abc import Mapping
from typing import Any, Final

HEAD: Final = """You have tools. To call one, end your answer with one block for each call, in exactly this form:
<tool_call>
{"name": "NAME", "arguments": {…}}
</tool_call>
Stop after the last block; the results follow. The tools, each with the JSON schema of its arguments:"""


def with_prompted_tools(request: Mapping[str, Any]) -> dict[str, Any]:
    """The request without tools: they stand in the system prompt, calls and results in the messages' text."""
    described = [json.dumps(_described(tool), ensure_ascii=False) for tool in request["tools"]]
    text = "\n".join((HEAD, *described))
    if request.get("tool_choice") == "none":
        text = "Answer in words; no tool can be called now."
    left = {name: value for name, value in request.items() if name not in _ABOUT_TOOLS}
    messages = [_in_words(message) for message in request["messages"]]
    return {**left, "messages": _joined(_with_system(messages, text))}


_ABOUT_TOOLS: Final = frozenset({"tools", "tool_choice", "parallel_tool_calls"})


def _described(tool: Mapping[str, Any]) -> dict[str, Any]:
    function = tool.get("function") or {}
    return {name: function[name] for name in ("name", "description", "parameters") if name in function}


def _with_system(messages: list[dict[str, Any]], text: str) -> list[dict[str, Any]]:
    if messages and messages[0]["role"] in {"system", "developer"}:
        first = messages[0]
        return [{**first, "content": f"{_text(first.get('content'))}\n\n{text}"}, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]


def _in_words(message: dict[str, Any]) -> dict[str, Any]:
    """A message without calls and results."""
    if message["role"] == "tool":
        return {"role": "user", "content": f"<tool_response>\n{_text(message.get('content'))}\n</tool_response>"}
    if not message.get("tool_calls"):
        return message
    blocks = [_text(message.get("content")), *(_block(call["function"]) for call in message["tool_calls"])]
    return {"role": "assistant", "content": "\n".join(block for block in blocks if block)}


def _block(function: Mapping[str, Any]) -> str:
    try:
        arguments = json.loads(function["arguments"])
    except (ValueError, RecursionError):  # a secret was taken out of it
        arguments = {"malformed": function["arguments"]}
    called = {"name": function["name"], "arguments": arguments}
    return f"<tool_call>\n{json.dumps(called, ensure_ascii=False)}\n</tool_call>"


def _joined(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without two messages of a person in a row, which some templates refuse."""
    joined: list[dict[str, Any]] = []
    for message in messages:
        if joined and message["role"] == joined[-1]["role"] == "user":
            text = f"{_text(joined[-1].get('content'))}\n\n{_text(message.get('content'))}"
            joined[-1] = {"role": "user", "content": text}
        else:
            joined.append(message)
    return joined


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content or ""
