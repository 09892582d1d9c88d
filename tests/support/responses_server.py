"""Rules server of the Responses API: a model that has no chat completions, and refusals in OpenAI's words.

    with ResponsesServer() as server:
        ...

The model behind it is that of `providers`: it reads the input as a conversation. Each of its answers begins with
reasoning, which the server does not keep: it has to come back with what it led to.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final

from support.openai_server import PIECE, OpenAIServer, Reply, Request
from support.providers import PROVIDERS, ProviderModel, Rule, refused, value_of

DOCS: Final = "https://platform.openai.com/docs/api-reference/responses/create"
REASONING: Final = "https://platform.openai.com/docs/guides/reasoning"
MIGRATION: Final = "https://platform.openai.com/docs/guides/migrate-to-responses"

PARAMETERS: Final = frozenset(
    {"model", "input", "instructions", "tools", "tool_choice", "parallel_tool_calls", "stream", "store", "include"}
) | {"reasoning", "text", "max_output_tokens", "temperature", "top_p", "metadata", "user"}
FIELDS: Final = {
    "message": {"type", "role", "content", "id", "status"},
    "function_call": {"type", "call_id", "name", "arguments", "id", "status"},
    "function_call_output": {"type", "call_id", "output", "id", "status"},
    "reasoning": {"type", "id", "summary", "encrypted_content", "content", "status"},
}
PARTS: Final = {"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}


def items_of(request: Request) -> list[dict[str, Any]]:
    """The items of the input; a message may go without its type."""
    return [{"type": "message", **item} for item in request.body.get("input", ())]


def unknown(request: Request) -> Reply | None:
    """A parameter, or a field of an item, that is not documented."""
    extra = sorted(request.body.keys() - PARAMETERS)
    named = [
        (place, name) for place, item in enumerate(items_of(request)) for name in item.keys() - FIELDS[item["type"]]
    ]
    extra += [f"input[{place}].{name}" for place, name in named]
    return refused(f"Unknown parameter: '{extra[0]}'.", param=extra[0], code="unknown_parameter") if extra else None


def nested_tools(request: Request) -> Reply | None:
    """A tool, or a choice of one, in the form of chat completions."""
    for place, tool in enumerate(request.body.get("tools", ())):
        if "name" not in tool:
            name = f"tools[{place}].name"
            return refused(f"Missing required parameter: '{name}'.", param=name, code="missing_required_parameter")
    choice = request.body.get("tool_choice")
    if isinstance(choice, dict) and "name" not in choice:
        return refused("Missing required parameter: 'tool_choice.name'.", param="tool_choice.name")
    return None


def loose_schema(request: Request) -> Reply | None:
    """A schema that is strict by default, but not written so."""
    for place, tool in enumerate(request.body.get("tools", ())):
        schema = tool.get("parameters") or {}
        closed = schema.get("additionalProperties") is False and set(schema.get("required", ())) == set(
            schema.get("properties", {})
        )
        if tool.get("strict", True) and not closed:
            return refused(
                f"Invalid schema for function '{tool['name']}': In context=(), 'additionalProperties' is required to be "
                "supplied and to be false.",
                param=f"tools[{place}].parameters",
                code="invalid_function_parameters",
            )
    return None


def parts(request: Request) -> Reply | None:
    """A part of a message with the type of the other side."""
    for place, item in enumerate(items_of(request)):
        for part in item.get("content") or () if isinstance(item.get("content"), list) else ():
            if part["type"] != PARTS[item["role"]]:
                name = f"input[{place}].content[0]"
                return refused(f"Invalid value: '{part['type']}'.", param=name, code="invalid_value")
    return None


def pairs(request: Request) -> Reply | None:
    """A call without its output, or the other way round."""
    made = {item["call_id"] for item in items_of(request) if item["type"] == "function_call"}
    done = {item["call_id"] for item in items_of(request) if item["type"] == "function_call_output"}
    if left := sorted(made - done):
        return refused(f"No tool output found for function call {left[0]}.", param="input")
    if left := sorted(done - made):
        return refused(f"No tool call found for function call output with call_id {left[0]}.", param="input")
    return None


def unkept(request: Request) -> Reply | None:
    """Reasoning by its name alone: the server keeps none."""
    for item in items_of(request):
        if item["type"] == "reasoning" and not item.get("encrypted_content"):
            told = f"Item with id '{item.get('id')}' not found. Items are not persisted when `store` is set to false."
            return refused(told, 404, param="input")
    return None


def alone(request: Request) -> Reply | None:
    """Reasoning that nothing of the model follows."""
    for one, after in pairwise([*items_of(request), {"type": "end"}]):
        follows = after["type"] in {"function_call", "reasoning"} or after.get("role") == "assistant"
        if one["type"] == "reasoning" and not follows:
            told = f"Item '{one.get('id')}' of type 'reasoning' was provided without its required following item."
            return refused(told, param="input")
    return None


RULES: Final = (
    Rule("unknown parameters", DOCS, unknown),
    Rule("a tool's name stands outside of `function`", MIGRATION, nested_tools),
    Rule("schemas are strict unless they say that they are not", MIGRATION, loose_schema),
    Rule("parts of a message", DOCS, parts),
    Rule("calls and their outputs", DOCS, pairs),
    Rule("items are not kept", REASONING, unkept),
    Rule("reasoning stands before what it led to", REASONING, alone),
    Rule(
        "a reasoning model takes no temperature",
        "https://github.com/langchain-ai/langchain/issues/33184",
        value_of(
            "temperature",
            lambda _: refused(
                "Unsupported parameter: 'temperature' is not supported with this model.", param="temperature"
            ),
        ),
    ),
)
UNENCRYPTED: Final = Rule(
    "a model without reasoning",
    "https://github.com/openai/codex/issues/1347",
    value_of("include", lambda _: refused("Encrypted content is not supported with this model.", param="include")),
)
NO_CHAT: Final = refused(
    "This model is only supported in v1/responses and not in v1/chat/completions.", 404, param="model"
)


@dataclass
class ResponsesModel(ProviderModel):
    """The model behind the server, with its reasoning."""

    thoughts: list[str] = field(default_factory=list)
    """Encrypted reasoning, in the order it was sent."""


class ResponsesServer(OpenAIServer):
    """A server whose model has only the Responses API."""

    paths = ("/chat/completions", "/responses")

    def __init__(self, rules: tuple[Rule, ...] = RULES, *, model: ResponsesModel | None = None) -> None:
        """A refusal is recorded in `refusals`, with the rule that made it."""
        super().__init__()
        self.rules = rules
        self.model = model or ResponsesModel()
        self.refusals: list[str] = []
        self.change = lambda events: events
        """Makes something else of the events of an answer."""

    def reply_to(self, request: Request) -> Reply:
        """What the server answers."""
        self.requests.append(request)
        if request.path.endswith("/chat/completions"):
            self.refusals.append("chat completions")
            return NO_CHAT
        for rule in self.rules:
            refusal = rule.refuses(request)
            if refusal is not None:
                self.refusals.append(rule.what)
                return refusal
        reply = self.model.reply(_as_chat(request), PROVIDERS["openai"])
        if reply.status != 200:
            return reply
        thought = f"gAAAA{len(self.model.thoughts)}"
        self.model.thoughts.append(thought)
        response = _response(reply, request, thought if "include" in request.body else "")
        if not request.body.get("stream"):
            return Reply(body=json.dumps(response))
        events = self.change(list(_events(response)))
        lines = [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events]
        return Reply(body="".join(lines), content_type="text/event-stream")


def _as_chat(request: Request) -> Request:
    """The request as the model of the chat servers reads it."""
    messages: list[dict[str, Any]] = []
    for item in items_of(request):
        match item["type"]:
            case "function_call":
                function = {"name": item["name"], "arguments": item["arguments"]}
                messages.append({"role": "assistant", "tool_calls": [{"id": item["call_id"], "function": function}]})
            case "function_call_output":
                messages.append({"role": "tool", "content": item["output"]})
            case "message":
                messages.append({"role": item["role"], "content": item["content"]})
    tools = [{"function": tool} for tool in request.body.get("tools", ())]
    choice = request.body.get("tool_choice")
    form = (request.body.get("text") or {}).get("format") or {}
    body = {"messages": messages, "tools": tools, "tool_choice": choice, "response_format": form}
    return replace(request, body=body)


def _response(reply: Reply, request: Request, thought: str) -> dict[str, Any]:
    """The whole answer."""
    number = request.answer_id.removeprefix("chatcmpl-")
    summary = [{"type": "summary_text", "text": "I look at the file first."}]
    reasoning: dict[str, Any] = {"type": "reasoning", "id": f"rs_{number}", "summary": summary}
    if thought:
        reasoning["encrypted_content"] = thought
    output = [reasoning]
    if reply.content:
        part = {"type": "output_text", "text": reply.content, "annotations": []}
        output.append({"type": "message", "id": f"msg_{number}", "role": "assistant", "content": [part]})
    for place, one in enumerate(reply.calls):
        arguments = one.arguments if isinstance(one.arguments, str) else json.dumps(one.arguments)
        named = {"id": f"fc_{number}{place}", "call_id": f"call_{number}{place}", "name": one.name}
        output.append({"type": "function_call", **named, "arguments": arguments, "status": "completed"})
    return {
        "id": f"resp_{number}",
        "object": "response",
        "status": "completed",
        "model": request.body["model"],
        "error": None,
        "incomplete_details": None,
        "output": output,
        "usage": {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 40},
            "output_tokens": 20,
            "output_tokens_details": {"reasoning_tokens": 8},
            "total_tokens": 120,
        },
    }


def _events(response: dict[str, Any]) -> Iterator[dict[str, Any]]:
    begun = response | {"status": "in_progress", "output": [], "usage": None}
    yield {"type": "response.created", "response": begun}
    for index, item in enumerate(response["output"]):
        yield {"type": "response.output_item.added", "output_index": index, "item": {"type": item["type"]}}
        if item["type"] == "message":
            text = item["content"][0]["text"]
            for start in range(0, len(text), PIECE):
                delta = text[start : start + PIECE]
                yield {"type": "response.output_text.delta", "output_index": index, "delta": delta}
        yield {"type": "response.output_item.done", "output_index": index, "item": item}
    yield {"type": "response.completed", "response": response}
