"""The span of one model call."""

import json
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler
from langchain_core.messages import AIMessage, BaseMessage, SystemMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, LLMResult
from langchain_core.utils.utils import LC_AUTO_PREFIX
from opentelemetry.trace import Span, SpanKind, Status, StatusCode

from kotef.redaction import redactor
from kotef.telemetry.spans import Spans

ROLES: Final = {"ai": "assistant", "human": "user", "tool": "tool", "system": "system"}


class Calls(BaseCallbackHandler):
    """A callback of one model: each of its calls is a span under the node at work."""

    run_inline = True
    """In the task that asks, where the secrets of the run are known."""

    def __init__(self, spans: Spans, model: str, base_url: str) -> None:
        """`model` is the one asked for, at `base_url`."""
        super().__init__()
        self.spans, self.model = spans, model
        self._endpoint = _endpoint(base_url)
        self._open: dict[UUID, Span] = {}

    def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **_: Any,
    ) -> None:
        """A call begins."""
        attributes = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": self.model,
            **self._endpoint,
            **self.spans.place,
            **(_conversation(messages[0]) if self.spans.content else {}),
        }
        under = self.spans.under()
        self._open[run_id] = self.spans.span(f"chat {self.model}", attributes, under, kind=SpanKind.CLIENT)

    def on_llm_end(self, response: LLMResult, *, run_id: UUID, **_: Any) -> None:
        """It was answered."""
        if (span := self._open.pop(run_id, None)) is None:
            return
        found = response.generations[0][0]
        message = found.message if isinstance(found, ChatGeneration) else None
        if isinstance(message, AIMessage):
            span.set_attributes(redactor().whole(_answered(message)))
            if self.spans.content:
                span.set_attribute("gen_ai.output.messages", _json([_part(message)]))
        span.end()

    def on_llm_error(self, error: BaseException, *, run_id: UUID, **_: Any) -> None:
        """It failed, or no one waits for it any more."""
        if (span := self._open.pop(run_id, None)) is None:
            return
        span.set_attribute("error.type", str(getattr(error, "fault", "") or type(error).__name__))
        span.set_status(Status(StatusCode.ERROR))
        span.end()


def _endpoint(base_url: str) -> dict[str, Any]:
    try:
        parts = urlsplit(base_url)
        port = parts.port or {"https": 443, "http": 80}.get(parts.scheme)
    except ValueError:
        return {}
    return {"server.address": parts.hostname, "server.port": port}


def _answered(message: AIMessage) -> dict[str, Any]:
    metadata = message.response_metadata
    usage = message.usage_metadata
    facts: dict[str, Any] = {
        "gen_ai.response.model": metadata.get("model_name"),
        "gen_ai.response.id": _response_id(message),
    }
    if reason := metadata.get("finish_reason"):
        facts["gen_ai.response.finish_reasons"] = [str(reason)]
    if usage is not None:
        facts["gen_ai.usage.input_tokens"] = usage["input_tokens"]
        facts["gen_ai.usage.output_tokens"] = usage["output_tokens"]
        facts["gen_ai.usage.cache_read.input_tokens"] = usage.get("input_token_details", {}).get("cache_read")
    return {name: value for name, value in facts.items() if value is not None}


def _response_id(message: AIMessage) -> str | None:
    """The id that the endpoint gave its answer; None without one: the framework's own means nothing to it."""
    given = message.response_metadata.get("id")
    own = message.id if message.id and not message.id.startswith((LC_AUTO_PREFIX, "run-")) else None
    return str(given) if given else own


def _conversation(messages: list[BaseMessage]) -> dict[str, str]:
    """The conversation, in the form of the conventions."""
    system = [{"type": "text", "content": one.text} for one in messages if isinstance(one, SystemMessage)]
    rest = [_part(one) for one in messages if not isinstance(one, SystemMessage)]
    return {"gen_ai.system_instructions": _json(system), "gen_ai.input.messages": _json(rest)}


def _part(message: BaseMessage) -> dict[str, Any]:
    parts: list[dict[str, Any]] = []
    if isinstance(message, ToolMessage):
        parts.append({"type": "tool_call_response", "id": message.tool_call_id, "response": message.text})
    elif message.text:
        parts.append({"type": "text", "content": message.text})
    if isinstance(message, AIMessage):
        calls = [*message.tool_calls, *message.invalid_tool_calls]
        parts += [
            {"type": "tool_call", "id": call["id"], "name": call["name"], "arguments": call["args"]} for call in calls
        ]
    part: dict[str, Any] = {"role": ROLES.get(message.type, message.type), "parts": parts}
    if isinstance(message, AIMessage) and (reason := message.response_metadata.get("finish_reason")):
        part["finish_reason"] = reason
    return part


def _json(value: Any) -> str:
    return json.dumps(redactor().whole(value), ensure_ascii=False, default=str)
