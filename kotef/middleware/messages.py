"""Storage of a visit's conversation, in which disk use grows with its length and not with its square."""

from collections.abc import Sequence
from typing import Annotated, Any, Required

from langchain.agents import AgentState
from langchain_core.messages import AnyMessage, BaseMessage
from langgraph.channels import DeltaChannel


def append(messages: list[AnyMessage], writes: Sequence[Any]) -> list[AnyMessage]:
    """The conversation with what nodes have added: a conversation is never cut, and nothing in it is replaced."""
    added: list[AnyMessage] = []
    for write in writes:
        added += [write] if isinstance(write, BaseMessage) else write  # type: ignore[list-item]  # a union of its kinds
    return [*messages, *added]


class Conversation(AgentState[Any]):
    """The state of the inner loop.

    langgraph's own channel writes the whole conversation at each step: 100 turns are 143 MB; a `DeltaChannel`, which
    stores what was added, 4.5 MB. It is beta, hence the tight range of langgraph's version.
    """

    messages: Required[Annotated[list[AnyMessage], DeltaChannel(append, snapshot_frequency=1000)]]
