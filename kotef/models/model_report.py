"""Report on what one model accepts and returns, found out by asking it."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field

from kotef.errors import ModelError
from kotef.models.context_window import ContextWindow, Window
from kotef.models.dialects import Rung
from kotef.models.message_fields import fields_of
from kotef.models.structured_output import RungMemory, ask

if TYPE_CHECKING:
    from langchain_core.messages import AIMessage

    from kotef.models.openai import StrictChatOpenAI

QUESTION: Final = "This is a test of the connection. Say in one word that you are ready."
CALL: Final = "This is a test of the connection. Call the tool `ping` once, with the word hello."


class ReadyAnswer(BaseModel):
    """Whether the connection works."""

    word: str = Field(description="one word")


@dataclass(frozen=True, slots=True)
class ModelReport:
    """What `kotef doctor --model NAME` says of a model."""

    dialect: str
    known_by: str
    """How the dialect was found."""
    sent_back: tuple[str, ...]
    """Fields that the server added to an answer with a tool call, and had back."""
    called: bool
    """Whether it called a tool, and took the tool's result."""
    prompted: bool
    """Whether tools have to be described in words."""
    structured: Rung | None
    """The way to ask for JSON that worked."""
    problems: tuple[str, ...]
    """Why others did not."""
    window: Window
    learnt: tuple[str, ...]
    calls: int
    tokens: int


async def report_on(model: "StrictChatOpenAI", window: int | None = None) -> ModelReport:
    """Ask the model twice, a few hundred tokens in all. Raises ModelError where it does not answer."""
    from langchain_core.messages import HumanMessage

    answers: list[AIMessage] = []
    structured = await ask(model, [HumanMessage(QUESTION)], ReadyAnswer, memory=RungMemory())
    answers += structured.messages
    fields, called = await _called(model, answers)
    memory = model.memory
    return ModelReport(
        dialect=memory.dialect.name,
        known_by=_known_by(model),
        sent_back=tuple(sorted(name for name in fields if not memory.off(name))),
        called=called,
        prompted=memory.prompted,
        structured=structured.rung,
        problems=structured.problems,
        window=await ContextWindow(model, window).find(),
        learnt=tuple(memory.learnt),
        calls=sum(int(answer.response_metadata.get("tries", 1)) for answer in answers),
        tokens=sum(answer.usage_metadata["total_tokens"] for answer in answers if answer.usage_metadata),
    )


async def _called(model: "StrictChatOpenAI", answers: "list[AIMessage]") -> tuple[set[str], bool]:
    """The fields of an answer that called a tool, and whether the conversation went on after it."""
    from langchain_core.messages import BaseMessage, HumanMessage, ToolMessage

    from kotef.models.text_tool_calls import rescue_tool_calls

    conversation: list[BaseMessage] = [HumanMessage(CALL)]
    offered = model.bind_tools([_PING])
    try:
        first = await offered.ainvoke(conversation)
        answers.append(first)
        calls = first.tool_calls or rescue_tool_calls(first.text, {"ping"})
        fields, of_calls = fields_of(first)
        if not calls:
            return set(fields), False
        answer = first.model_copy(update={"tool_calls": calls})
        results = [ToolMessage("pong", tool_call_id=call["id"] or "") for call in calls]
        answers.append(await offered.ainvoke([*conversation, answer, *results]))
    except ModelError as error:
        if error.fault != "bad_request":
            raise
        return set(), False
    return {*fields, *(name for added in of_calls.values() for name in added)}, True


_PING: Final[dict[str, Any]] = {
    "type": "function",
    "function": {
        "name": "ping",
        "description": "Answers with pong.",
        "parameters": {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
    },
}


def _known_by(model: "StrictChatOpenAI") -> str:
    memory = model.memory
    if memory.named:
        return "named in your configuration"
    if memory.spoken:
        return "the server says so"
    return "by its address" if memory.dialect.hosts else "nothing else is known"
