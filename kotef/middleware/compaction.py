"""Guard that shortens a conversation that no longer fits the model's context window."""

import json
from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Final, NamedTuple

from langchain.agents.middleware import AgentMiddleware, ModelRequest, ModelResponse
from langchain_core.messages import AIMessage, AnyMessage, ToolMessage
from langchain_core.utils.function_calling import convert_to_openai_tool

from kotef.context.compaction import (
    AFTER,
    FULL,
    KEPT,
    LAST,
    Cut,
    How,
    Piece,
    cheaper,
    coverable,
    last_resort,
    size_of,
    summed_up,
    view,
)
from kotef.errors import ContextOverflowError, ModelError
from kotef.failures.plural import counted
from kotef.middleware.ephemeral_notes import with_note
from kotef.middleware.failure_reminder import COMPACTED, RecentFailures
from kotef.middleware.files import ledger_of
from kotef.middleware.limits import NO_TOOLS, VisitBudget
from kotef.middleware.visit_context import VisitContext
from kotef.models.context_window import LEAST, ContextWindow
from kotef.models.message_fields import THOUGHTS, characters
from kotef.models.usage import ASIDE, answer_facts, believed, estimate, spent_on
from kotef.state import Spent
from kotef.tools.text import clip_middle
from kotef.tools.truncated_output import note

ASKED_FROM: Final = 4 * LEAST
"""Tokens of a conversation from which on the context window is looked up."""
MAX_SUMMARY: Final = 8_000
"""Most characters of a summary, if the window has room."""
MAX_THOUGHTS: Final = 10
"""Newest pieces of the model's reasoning that a summary gets."""

Ask = Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]


class CompactionStep(NamedTuple):
    """The cut of one request."""

    cut: Cut
    spent: Spent = Spent()
    """The cost of a summary."""
    new: bool = False


class Measure(NamedTuple):
    """How characters of this conversation translate into tokens, by the model's own count where there is one."""

    pieces: list[Piece]
    tokens: int
    """Tokens of the request as it would be sent."""
    before: int
    """Characters before the conversation, which are never cut."""
    per_token: float
    """Characters."""
    window: int

    @property
    def goal(self) -> float:
        """Characters of the conversation that a cut is to leave."""
        return AFTER * self.window * self.per_token - self.before

    @property
    def limit(self) -> float:
        """Characters of the conversation that fit."""
        return FULL * self.window * self.per_token - self.before

    @property
    def summary(self) -> int:
        """Characters that a summary may have; steps of twice as many are worth one."""
        return int(min(MAX_SUMMARY, max(400.0, self.goal / 4)))

    def tokens_of(self, cut: Cut) -> int:
        """Estimated tokens of a request with this cut."""
        return round((size_of(self.pieces, cut) + self.before) / self.per_token)

    @property
    def room(self) -> float:
        """Characters of the last turns that stay as they are."""
        return LAST * self.window * self.per_token


class Compaction(AgentMiddleware[Any, Any, Any]):
    """Sends as much of the conversation as fits: results first get shorter, then a summary stands for the steps.

    The conversation in the state stays whole. What is cut is noted in the answer to the first request it was cut in, so
    that a resume cuts the same, and every request between two cuts repeats the one before it byte for byte.
    """

    def __init__(self, visit: VisitContext, budget: VisitBudget, recent: RecentFailures, window: ContextWindow) -> None:
        """One instance a visit, one window a run."""
        super().__init__()
        self.visit, self.budget, self.recent, self.window = visit, budget, recent, window
        self._short: dict[tuple[str, How], str] = {}
        self._pieces: dict[int, tuple[AnyMessage, Piece]] = {}
        """By the identity of a message, which is kept with it: a conversation is measured in every request."""
        self._before: int | None = None

    async def awrap_model_call(self, request: ModelRequest[Any], handler: Ask) -> ModelResponse[Any]:
        """Send what fits; if the endpoint reports an overflow, send less."""
        cut = cut_of(request.state["messages"])
        step = await self._fitting(request, handler, cut)
        try:
            return await self._ask(request, handler, step)
        except ContextOverflowError as error:
            await self.window.lower(self._tokens(request, step.cut), str(error))
            again = await self._compacted(request, handler, await self._measure(request, step.cut), step.cut)
            if not again.new:
                raise
            spent = step.spent.plus(again.spent).plus(Spent(calls=error.tries))
            return await self._ask(request, handler, again._replace(spent=spent))

    async def _fitting(self, request: ModelRequest[Any], handler: Ask, cut: Cut) -> CompactionStep:
        tokens = self._tokens(request, cut)
        if tokens < ASKED_FROM * FULL or tokens < FULL * (await self.window.find()).tokens:
            return CompactionStep(cut)
        return await self._compacted(request, handler, await self._measure(request, cut), cut)

    async def _measure(self, request: ModelRequest[Any], cut: Cut) -> Measure:
        pieces, before = self._measured(request.messages), self._ahead(request)
        tokens, window = self._tokens(request, cut), (await self.window.find()).tokens
        return Measure(pieces, tokens, before, (size_of(pieces, cut) + before) / max(1, tokens), window)

    def _tokens(self, request: ModelRequest[Any], cut: Cut) -> int:
        """About how many tokens the request has as it is cut; what the model counted last was counted with that cut."""
        system = [request.system_message] if request.system_message else []
        sent = size_of(self._measured(request.messages), cut) + self._ahead(request)
        return believed(estimate([*system, *request.messages]), sent)

    def _ahead(self, request: ModelRequest[Any]) -> int:
        """Characters of the system prompt and the tools, which are the same in every request of a visit."""
        if self._before is None:
            tools = sum(len(json.dumps(convert_to_openai_tool(tool))) for tool in request.tools)
            self._before = tools + (len(request.system_message.text) if request.system_message else 0)
        return self._before

    def _measured(self, messages: Sequence[AnyMessage]) -> list[Piece]:
        for message in messages:
            if id(message) not in self._pieces:
                self._pieces[id(message)] = message, _piece(message)
        return [self._pieces[id(message)][1] for message in messages]

    async def _compacted(self, request: ModelRequest[Any], handler: Ask, measure: Measure, cut: Cut) -> CompactionStep:
        """The lightest cut that leaves enough room; a summary if truncating does not."""
        spent = Spent()
        pieces = measure.pieces
        made = cheaper(pieces, cut, goal=measure.goal, room=measure.room)
        if made is None:
            made = cheaper(pieces, cut, goal=float("inf"), room=measure.room) or cut
            covered = coverable(pieces, cut, room=measure.room)
            if covered > cut.covered and size_of(pieces[:covered], cut) - pieces[0].size > 2 * measure.summary:
                block, spent = await self._summary(request, handler, measure, cut, covered)
                made = summed_up(cut, covered, block)
            if size_of(pieces, made) > measure.limit:
                made = last_resort(pieces, made)
        if size_of(pieces, made) >= size_of(pieces, cut):
            return CompactionStep(cut, spent)
        how = "dropped" if made.tier > 1 else "truncated"
        if made.covered > cut.covered:
            how = "summary"
        self.visit.context.emit(
            "compacted",
            visit=self.visit.number,
            how=how,
            messages=max(made.covered, made.upto),
            tokens_before=measure.tokens,
            tokens_after=measure.tokens_of(made),
            window=measure.window,
        )
        return CompactionStep(made, spent, new=True)

    async def _summary(
        self, request: ModelRequest[Any], handler: Ask, measure: Measure, cut: Cut, covered: int
    ) -> tuple[str, Spent]:
        """The block that stands for the messages up to `covered`, by the model or, where it cannot, by code."""
        prompts = self.visit.context.prompts
        room = measure.summary
        thoughts = [
            str(message.additional_kwargs[THOUGHTS])
            for message in request.messages[cut.covered : covered]
            if isinstance(message, AIMessage) and message.additional_kwargs.get(THOUGHTS)
        ]
        instruction = prompts.render(
            "compaction", words=room // 8, again=bool(cut.summary), thoughts=thoughts[-MAX_THOUGHTS:]
        )
        whole = self._shown(request.messages[:covered], cut)
        summary, spent = await self._answer(
            request.override(messages=with_note(whole, instruction), tool_choice=NO_TOOLS), handler
        )
        files = ledger_of(request.state["messages"])
        names = {"read": files.read, "modified": tuple(one.path for one in files.modified)}
        return prompts.render("compacted", said=summary, before=cut.summary, files=names, room=room), spent

    async def _answer(self, request: ModelRequest[Any], handler: Ask) -> tuple[str, Spent]:
        """The model's summary and its cost; nothing if the budget or the window has no room for one."""
        if self.budget.refusal(request.state["messages"], 2 * self._tokens(request, Cut())):
            return "", Spent()
        visit = self.visit.number
        self.visit.context.emit("model_call", visit=visit, node="compaction")
        try:
            response = await handler(request)
        except ContextOverflowError as error:
            return "", Spent(calls=error.tries)
        message = next(message for message in response.result if isinstance(message, AIMessage))
        spent = spent_on(message, self.budget.price)
        self.visit.context.emit("model_answer", visit=visit, node="compaction", **answer_facts(message, spent))
        return message.text.strip(), spent

    async def _ask(self, request: ModelRequest[Any], handler: Ask, step: CompactionStep) -> ModelResponse[Any]:
        """The request as it is cut, and the answer with a note of that."""
        messages = self._shown(request.messages, step.cut)
        if step.new and not self.recent.note(request):
            messages = with_note(messages, self.recent.text(request.state["messages"]))
        try:
            response = await handler(request.override(messages=messages) if step.cut != Cut() else request)
        except ModelError as error:
            error.tries += step.spent.calls
            error.lost += bool(step.spent.tokens)
            raise
        answer = next(message for message in response.result if isinstance(message, AIMessage))
        if step.new:
            answer.additional_kwargs[COMPACTED] = step.cut.model_dump()
        if step.spent.calls:
            answer.response_metadata[ASIDE] = step.spent.model_dump()
        return response

    def _shown(self, messages: Sequence[AnyMessage], cut: Cut) -> list[AnyMessage]:
        """The messages that are sent; the summary joins the task, for some templates refuse two of a kind in a row."""
        if cut == Cut():
            return list(messages)
        shown = [self._as(messages[at], how) for at, how in view(self._measured(messages), cut)]
        if cut.summary:
            shown[0] = shown[0].model_copy(update={"content": f"{shown[0].text}\n\n{cut.summary}"})
        return shown

    def _as(self, message: AnyMessage, how: How) -> AnyMessage:
        if how == "whole" or not isinstance(message, ToolMessage):
            return message
        key = message.tool_call_id, how
        if key not in self._short:
            self._short[key] = self._shortened(message, how)
        return message.model_copy(update={"content": self._short[key]})

    def _shortened(self, message: ToolMessage, how: How) -> str:
        text, stash = message.text, self.visit.stash
        where = f"; {note(stash.keep(text))}" if stash else ""
        if how == "stub":
            return f"[{message.name}: {counted(len(text), 'character')} dropped{where}]"
        return f"{clip_middle(text, KEPT)}\n[cut{where}]"


def cut_of(messages: Sequence[AnyMessage]) -> Cut:
    """The last cut of this conversation."""
    for message in reversed(messages):
        if isinstance(message, AIMessage) and COMPACTED in message.additional_kwargs:
            return Cut.model_validate(message.additional_kwargs[COMPACTED])
    return Cut()


def _piece(message: AnyMessage) -> Piece:
    size = len(message.text)
    if isinstance(message, AIMessage):
        called = sum(len(call["name"]) + len(str(call["args"])) for call in message.tool_calls)
        return Piece("said", size + called + characters(message))
    return Piece("result" if isinstance(message, ToolMessage) else "asked", size)
