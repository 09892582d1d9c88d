"""Models that record their answers, and models that play recorded ones."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final, get_args
from uuid import UUID

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatResult, LLMResult
from pydantic import Field

from kotef.errors import ContextOverflowError, ModelError, ModelFault
from kotef.models.scripted_model import ScriptedChatModel
from kotef.replay.record_types import ModelCallRecord, ModelFailureRecord, after, asked_of

if TYPE_CHECKING:
    from kotef.replay.player import Player
    from kotef.replay.recorder import Recorder

OVERFLOW: Final = "overflow"
_FAULTS: Final[dict[str, ModelFault]] = {fault: fault for fault in get_args(ModelFault)}


def listen(recorder: "Recorder", models: Sequence[BaseChatModel]) -> None:
    """Have every call of these kept; two roles may share one model."""
    ear = _Ear(recorder)
    for model in {id(model): model for model in models}.values():
        known = model.callbacks if isinstance(model.callbacks, list) else []
        model.callbacks = [*known, ear]


class _Ear(AsyncCallbackHandler):
    """Hears each request once, and the whole answer or the failure that is at its end.

    A call that is cancelled is not heard of again: it has no answer, and is made again by whoever continues.
    """

    def __init__(self, recorder: "Recorder") -> None:
        self._recorder = recorder
        self._asked: dict[UUID, tuple[float, list[tuple[str, str]]]] = {}
        self._before: dict[tuple[int, str], list[tuple[str, str]]] = {}

    async def on_chat_model_start(
        self,
        serialized: dict[str, Any],  # noqa: ARG002  the hook's signature, as below
        messages: list[list[BaseMessage]],
        *,
        run_id: UUID,
        **kwargs: Any,
    ) -> None:
        """A request is about to be sent."""
        tools = (kwargs.get("invocation_params") or {}).get("tools") or ()
        self._asked[run_id] = time.monotonic(), asked_of(messages[0], tools, str(self._recorder.root))

    async def on_llm_end(self, response: LLMResult, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002
        """The answer is whole."""
        generation = response.generations[0][0]
        if isinstance(generation, ChatGeneration):
            self._keep(run_id, message=generation.message.model_dump(mode="json"))

    async def on_llm_error(self, error: BaseException, *, run_id: UUID, **kwargs: Any) -> None:  # noqa: ARG002
        """There is none, retries included."""
        if isinstance(error, ModelError):
            fault = OVERFLOW if isinstance(error, ContextOverflowError) else error.fault
            self._keep(
                run_id, failed=ModelFailureRecord(fault=fault, text=str(error), tries=error.tries, lost=error.lost)
            )
        elif isinstance(error, Exception):
            self._keep(run_id, failed=ModelFailureRecord(fault=type(error).__name__, text=str(error)))

    def _keep(
        self, run_id: UUID, *, message: dict[str, Any] | None = None, failed: ModelFailureRecord | None = None
    ) -> None:
        began, request = self._asked.pop(run_id)
        visit, node, call = self._recorder.where.next_call()
        kept = after(self._before.get((visit, node), ()), request)
        self._before[visit, node] = request
        self._recorder.write(
            ModelCallRecord(
                visit=visit,
                node=node,
                call=call,
                kept=kept,
                request=tuple(request[kept:]),
                message=message,
                failed=failed,
                seconds=round(time.monotonic() - began, 3),
            )
        )


class PlayedChatModel(ScriptedChatModel):
    """Answers as the record has it, whoever is asked."""

    replies: list[Any] = Field(default_factory=list)
    player: Any
    """The `Player` that knows the record."""

    def _next(self, messages: list[BaseMessage], kwargs: dict[str, Any]) -> ChatResult:
        player: Player = self.player
        answer = player.answer(messages, kwargs.get("tools") or ())
        if answer.failed is not None:
            raise _as_it_was(answer.failed)
        message = AIMessage.model_validate(answer.message)
        return ChatResult(generations=[ChatGeneration(message=message)])


def _as_it_was(failed: ModelFailureRecord) -> Exception:
    """The error that the run met."""
    if failed.fault == OVERFLOW:
        error: ModelError = ContextOverflowError("")
    elif failed.fault in _FAULTS:
        error = ModelError(_FAULTS[failed.fault], "")
    else:
        return RuntimeError(f"{failed.fault}: {failed.text}")
    error.args = (failed.text,)
    error.tries, error.lost = failed.tries, failed.lost
    return error
