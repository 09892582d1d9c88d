"""What did one model call cost?"""

from typing import Final

from langchain_core.messages import AIMessage

from kotef.settings import Price
from kotef.state import Spent

FIGURES: Final = {"tokens_in", "tokens_out", "cost", "estimated"}
"""What an event tells of one model call."""


def spent_on(message: AIMessage, price: Price | None = None) -> Spent:
    """Tokens and money of one model call, as its endpoint (or our estimate) tells them.

    `calls` counts the HTTP requests made, failed ones included. Without a price the cost is 0.
    """
    usage = message.usage_metadata
    calls = int(message.response_metadata.get("tries", 1))
    if usage is None:
        return Spent(calls=calls, estimated=True)
    cached = usage.get("input_token_details", {}).get("cache_read") or 0
    return Spent(
        tokens_in=usage["input_tokens"],
        tokens_out=usage["output_tokens"],
        tokens_cached=cached,
        cost=price.of(usage["input_tokens"], usage["output_tokens"], cached) if price else 0.0,
        calls=calls,
        estimated=bool(message.response_metadata.get("usage_estimated")),
    )
