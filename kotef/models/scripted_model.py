"""A scripted model, for tests and demonstrations."""

import json
from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, InstanceOf, PrivateAttr


class ScriptedChatModel(BaseChatModel):
    """Answers with `replies` in order; an exception in the list is raised instead.

    Each answer is a copy with an id of its own, so the same reply may be in the script many times.
    """

    replies: list[InstanceOf[AIMessage] | InstanceOf[Exception]]
    """What to answer, first to last. Running out is an AssertionError, not a default answer."""
    requests: list[list[BaseMessage]] = Field(default_factory=list)
    """Every message list received, for assertions."""
    tools: list[list[dict[str, Any]]] = Field(default_factory=list)
    """The tools offered with each request, in OpenAI's format; empty if none were bound."""

    _call_ids: set[str] = PrivateAttr(default_factory=set)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """Offer `tools` with every request made through the returned model; the script answers as it would anyway."""
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], tool_choice=tool_choice, **kwargs)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the hook's signature
        run_manager: CallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the hook's signature
        **kwargs: Any,
    ) -> ChatResult:
        return self._next(messages, kwargs)

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,  # noqa: ARG002 - the hook's signature
        run_manager: AsyncCallbackManagerForLLMRun | None = None,  # noqa: ARG002 - the hook's signature
        **kwargs: Any,
    ) -> ChatResult:
        return self._next(messages, kwargs)

    def _next(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> ChatResult:
        self.requests.append(list(messages))
        self.tools.append(kwargs.get("tools") or [])
        if len(self.requests) > len(self.replies):
            msg = f"the script has {len(self.replies)} replies; this is request {len(self.requests)}"
            raise AssertionError(msg)
        reply = self.replies[len(self.requests) - 1]
        if isinstance(reply, Exception):
            raise reply
        message = reply.model_copy(
            update={
                "id": f"scripted-{uuid4()}",
                "tool_calls": [call | {"id": self._unused(call["id"])} for call in reply.tool_calls],
                "usage_metadata": reply.usage_metadata or _estimated_usage(messages, reply),
            }
        )
        return ChatResult(generations=[ChatGeneration(message=message)])

    def _unused(self, call_id: str | None) -> str:
        """The id as written where this model has not used it yet, else a fresh one."""
        fresh = call_id if call_id and call_id not in self._call_ids else _new_call_id()
        self._call_ids.add(fresh)
        return fresh


def says(text: str) -> AIMessage:
    """A reply of words only."""
    return AIMessage(content=text)


def calls(tool: str, **args: Any) -> AIMessage:
    """A reply that calls one tool; `AIMessage(tool_calls=…)` says more than one."""
    return AIMessage(content="", tool_calls=[{"name": tool, "args": args, "id": _new_call_id(), "type": "tool_call"}])


def _new_call_id() -> str:
    return f"call_{uuid4().hex[:24]}"


def _estimated_usage(messages: list[BaseMessage], reply: AIMessage) -> UsageMetadata:
    """Four characters a token, so that budgets have something to count."""
    tokens_in = sum(len(str(message.content)) for message in messages) // 4
    tokens_out = (len(str(reply.content)) + len(json.dumps(reply.tool_calls, default=str))) // 4
    return UsageMetadata(input_tokens=tokens_in, output_tokens=tokens_out, total_tokens=tokens_in + tokens_out)
