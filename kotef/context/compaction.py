"""Compaction: which parts of a conversation the model still sees when not all of it fits.

Pure; `middleware/compaction.py` decides when.
"""

from collections.abc import Sequence
from typing import Final, Literal, NamedTuple

from pydantic import BaseModel, ConfigDict, Field

FULL: Final = 0.85
"""Fraction of the context window at which a conversation is cut."""
AFTER: Final = 0.5
"""Fraction that a cut leaves: a cut costs the endpoint's cache, so cuts are rare and deep."""
LAST: Final = 0.25
"""Fraction that the last turns may take unchanged; the very last turn always stays."""
KEPT: Final = 1_200
"""Characters kept of a truncated result."""
STUB: Final = 200
"""Characters of a result that is too short for a stub."""

Kind = Literal["asked", "said", "result"]
"""A message of the user, an answer of the model, or a tool's result."""
How = Literal["whole", "truncated", "stub"]


class Piece(NamedTuple):
    """One message of a conversation, reduced to what cutting needs."""

    kind: Kind
    size: int
    """Characters of the message as sent."""


class Cut(BaseModel):
    """The parts no longer sent; by default none. Positions only grow, like the conversation."""

    model_config = ConfigDict(frozen=True)

    tier: Literal[0, 1, 2] = 0
    """How results before `upto` are sent: unchanged, long ones truncated, or all as stubs."""
    upto: int = Field(default=0, ge=0)
    covered: int = Field(default=1, ge=1)
    """Messages from the second up to this one are not sent; `summary` stands for them."""
    summary: str = ""


class ShownMessage(NamedTuple):
    """One message that is sent."""

    at: int
    """Its position in the conversation."""
    how: How


def view(pieces: Sequence[Piece], cut: Cut) -> list[ShownMessage]:
    """The messages that are sent: always the first one, and calls only with their results."""
    first = [ShownMessage(0, "whole")] if pieces else []
    return first + [ShownMessage(index, _how(pieces[index], index, cut)) for index in range(cut.covered, len(pieces))]


def _how(piece: Piece, index: int, cut: Cut) -> How:
    if piece.kind != "result" or index >= cut.upto:
        return "whole"
    if cut.tier == 2 and piece.size > STUB:  # noqa: PLR2004  the second tier
        return "stub"
    return "truncated" if cut.tier and piece.size > KEPT + STUB else "whole"


def size_of(pieces: Sequence[Piece], cut: Cut) -> int:
    """Characters that are sent."""
    sizes = {"whole": None, "truncated": KEPT, "stub": STUB}
    return len(cut.summary) + sum(sizes[how] or pieces[at].size for at, how in view(pieces, cut))


def last_turns(pieces: Sequence[Piece], room: float) -> int:
    """Where the last turns begin that together have at most `room` characters, or the very last where it has more.

    A turn begins with an answer of the model, so no call is parted from its results. Without a turn: the end.
    """
    start, used = len(pieces), 0
    for index in range(len(pieces) - 1, 0, -1):
        used += pieces[index].size
        if pieces[index].kind == "said":
            if used > room and start < len(pieces):
                break
            start = index
    return start


def cheaper(pieces: Sequence[Piece], cut: Cut, *, goal: float, room: float) -> Cut | None:
    """The lightest tier that gets the conversation to at most `goal` characters; None if neither does."""
    upto = max(cut.upto, last_turns(pieces, room))
    for tier in (1, 2):
        if tier >= cut.tier:
            trial = cut.model_copy(update={"tier": tier, "upto": upto})
            if size_of(pieces, trial) <= goal:
                return trial
    return None


def coverable(pieces: Sequence[Piece], cut: Cut, *, room: float) -> int:
    """Up to which message a new summary could stand for the conversation; `cut.covered` where there is nothing new."""
    return max(cut.covered, last_turns(pieces, room))


def summed_up(cut: Cut, covered: int, summary: str) -> Cut:
    """The cut whose summary supersedes the one before."""
    tier = cut.tier if cut.upto > covered else 0
    return Cut(tier=tier, upto=max(cut.upto, covered), covered=covered, summary=summary)


def last_resort(pieces: Sequence[Piece], cut: Cut) -> Cut:
    """The cut that also truncates results of the last turn, because these alone do not fit."""
    return cut.model_copy(update={"tier": max(cut.tier, 1), "upto": len(pieces)})
