"""Requests in the form of OpenAI's Responses API, for models that have no other.

The rest of kotef knows chat completions only: a request is translated when it leaves, an answer when it arrives
(`responses_answer`). The server keeps nothing (`store`), so reasoning comes encrypted and is sent back with the calls
that it led to.
Sources: https://platform.openai.com/docs/api-reference/responses and https://platform.openai.com/docs/guides/reasoning
"""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, Final, Literal

ModelApi = Literal["chat", "responses"]
"""An API of an endpoint by which a model is asked."""

ITEMS: Final = "output_items"
"""Field of an assistant message that keeps the reasoning of an answer, and what it stood before."""
ENCRYPTED: Final = "reasoning.encrypted_content"
"""What has to be asked for to get reasoning that can be sent back."""

_RENAMED: Final = {"max_tokens": "max_output_tokens", "max_completion_tokens": "max_output_tokens"}
_TRANSLATED: Final = frozenset(
    {"messages", "tools", "tool_choice", "response_format", "reasoning_effort", "stream_options"}
)


def responses_request(request: Mapping[str, Any], without: Collection[str] = ()) -> dict[str, Any]:
    """The request for chat completions as one for responses; parameters in `without` are omitted."""
    sent = {_RENAMED.get(name, name): value for name, value in request.items() if name not in _TRANSLATED}
    sent |= {"store": False, "include": [ENCRYPTED], "input": list(_input(request["messages"]))}
    if request.get("tools"):
        sent["tools"] = [_tool(tool) for tool in request["tools"]]
    choice = request.get("tool_choice")
    if isinstance(choice, dict):
        choice = {"type": "function", "name": choice["function"]["name"]}
    if choice is not None:
        sent["tool_choice"] = choice
    if effort := request.get("reasoning_effort"):
        sent["reasoning"] = {"effort": effort}
    if isinstance(request.get("response_format"), dict):
        sent["text"] = {"format": _format(request["response_format"])}
    return {name: value for name, value in sent.items() if name not in without}


def _tool(tool: Mapping[str, Any]) -> dict[str, Any]:
    """A tool; here a schema is strict unless the request says that it is not."""
    function = tool.get("function") or {}
    return {"type": "function", "strict": False, **function}


def _format(wanted: Mapping[str, Any]) -> dict[str, Any]:
    described = wanted.get("json_schema") or {}
    return {"type": wanted["type"], **({"strict": False, **described} if described else {})}


def _input(messages: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    for message in messages:
        match message["role"]:
            case "tool":
                output = _text(message.get("content"))
                yield {"type": "function_call_output", "call_id": message["tool_call_id"], "output": output}
            case "assistant":
                yield from _output(message)
            case role:
                yield {"role": role, "content": _content(message.get("content"))}


def _content(content: Any) -> Any:
    if not isinstance(content, list):
        return content or ""
    return [{**part, "type": "input_text"} if part.get("type") == "text" else part for part in content]


def _output(message: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """What the model wrote, in its order; reasoning goes back only before something that it led to."""
    left = {call["id"]: call for call in message.get("tool_calls") or ()}
    text = _text(message.get("content"))
    thoughts: list[dict[str, Any]] = []
    items = message.get(ITEMS)
    for item in items if isinstance(items, list) else ():
        if not isinstance(item, dict):
            continue
        if item.get("type") == "reasoning":
            thoughts.append(item)
        elif item.get("type") == "message" and text:
            yield from (*thoughts, _words(text))
            thoughts, text = [], ""
        elif call := left.pop(str(item.get("call_id")), None):
            yield from (*thoughts, _call(call))
            thoughts = []
    if text:
        yield _words(text)
    yield from map(_call, left.values())


def _words(text: str) -> dict[str, Any]:
    return {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def _call(call: Mapping[str, Any]) -> dict[str, Any]:
    function = call["function"]
    return {
        "type": "function_call",
        "call_id": call["id"],
        "name": function["name"],
        "arguments": function["arguments"],
    }


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text") or "") for part in content if isinstance(part, dict))
    return content or ""
