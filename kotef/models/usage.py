"""Cost of a model call, and an estimate for the next; the formula is `Price.of` in `settings`."""

from collections.abc import Sequence
from typing import Any, Final

from langchain_core.messages import AIMessage, AnyMessage
from langchain_core.messages.ai import UsageMetadata

from kotef.errors import ModelError
from kotef.settings import Price, Tariff
from kotef.state import Spent

CHARACTERS_PER_TOKEN: Final = 4
"""Rule of thumb for English and code; used only where the endpoint reports no usage."""
STAND_IN: Final = "stand_in"
"""Key in `response_metadata` of an answer of the model that took over: its name."""
SECONDS: Final = "seconds"
"""Key in `response_metadata` of an answer: how long it took, retries and waits included."""
_FIGURES: Final = {"tokens_in", "tokens_out", "tokens_cached", "cost", "estimated"}


UNANSWERED: Final = "kotef_unanswered"
"""Key in `response_metadata` of a message that stands for requests without an answer."""
ASIDE: Final = "kotef_aside"
"""Key in `response_metadata` of an answer: what a summary of the conversation cost that was asked for before it."""


def spent_on(message: AIMessage, price: Price | None = None, *, alone: bool = False) -> Spent:
    """Tokens and money of one model call, as its endpoint (or our estimate) tells them.

    `calls` counts the HTTP requests made, failed ones included; one that failed while the endpoint was at work (`lost`)
    is taken to have cost its input tokens. Without a price the cost is 0; what took over for a model has its own. A
    summary that was asked for on the way is part of it unless the answer `alone` is meant.
    """
    if STAND_IN in message.response_metadata:
        price = price.stand_in if isinstance(price, Tariff) else None
    own = _own(message, price)
    if alone or ASIDE not in message.response_metadata:
        return own
    aside = Spent.model_validate(message.response_metadata[ASIDE])
    cost = price.of(aside.tokens_in, aside.tokens_out, aside.tokens_cached) if price else 0.0
    return own.plus(aside.model_copy(update={"cost": cost}))


def unanswered(error: ModelError, coming: int) -> AIMessage:
    """A message that stands for requests that led to no answer, for what they cost to be counted.

    `coming` are the input tokens of one; those that failed while the endpoint was at work may have to be paid for.
    """
    lost = error.lost * coming
    usage = UsageMetadata(input_tokens=lost, output_tokens=0, total_tokens=lost) if lost else None
    metadata = {"tries": error.tries, "usage_estimated": bool(lost), UNANSWERED: True}
    return AIMessage(content="", response_metadata=metadata, usage_metadata=usage)


MAX_WORDS: Final = 4_000
"""Characters of an answer's text that its event keeps; the record of the run has all of it."""


def answer_facts(message: AIMessage, spent: Spent) -> dict[str, Any]:
    """What an event says about one model call: who answered, in which time and words, and what was `spent` on it."""
    found = message.response_metadata
    who = {"model": str(found.get("model_name") or ""), "seconds": found.get(SECONDS)}
    return spent.model_dump(include=_FIGURES) | who | {"text": str(message.text).strip()[:MAX_WORDS]}


def _own(message: AIMessage, price: Price | None) -> Spent:
    usage = message.usage_metadata
    calls = int(message.response_metadata.get("tries", 1))
    if usage is None:
        return Spent(calls=calls, estimated=calls > 0)
    lost = int(message.response_metadata.get("lost", 0))
    cached = usage.get("input_token_details", {}).get("cache_read") or 0
    tokens_in = usage["input_tokens"] * (1 + lost)
    return Spent(
        tokens_in=tokens_in,
        tokens_out=usage["output_tokens"],
        tokens_cached=cached,
        cost=price.of(tokens_in, usage["output_tokens"], cached) if price else 0.0,
        calls=calls,
        estimated=bool(lost or message.response_metadata.get("usage_estimated")),
    )


def estimate(messages: Sequence[AnyMessage]) -> int:
    """About how many input tokens a request with these messages has, the system prompt among them.

    What the last answer's endpoint counted, and a quarter of the characters since; without an answer a quarter of all
    characters. The schemas of the tools are then not counted, a few hundred tokens.
    """
    counted, since = 0, list(messages)
    for number in range(len(messages) - 1, -1, -1):
        message = messages[number]
        if isinstance(message, AIMessage) and message.usage_metadata:
            counted, since = message.usage_metadata["total_tokens"], list(messages[number + 1 :])
            break
    return counted + sum(len(message.text) for message in since) // CHARACTERS_PER_TOKEN


def believed(counted: int, characters: int) -> int:
    """The tokens that are `counted` of a text of so many characters; our estimate where the count cannot be true.

    Some servers report only the newest message, or a constant. Eight characters a token is more than prose, code
    or logs ever have on the whole.
    """
    guess = characters // CHARACTERS_PER_TOKEN
    return guess if 2 * counted < guess else counted
