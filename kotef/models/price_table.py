"""Prices of models from a table that others keep, where it is installed (the extra `prices`)."""

from importlib import import_module
from typing import Final

from kotef.settings import Price

TABLE: Final = "genai-prices"
_TOKENS: Final = 1000
"""Tokens that are priced to find the price of one: a long context can cost more for each."""


def kept_price(model: str, base_url: str) -> Price | None:
    """The price of a model at an endpoint that the table knows by its address; None where it, or the table, is not.

    In US dollars, as the table has it. A server of one's own is not in it, whatever model it serves.
    """
    try:
        table = import_module("genai_prices")
    except ImportError:
        return None

    def cost(**tokens: int) -> float:
        found = table.calc_price(table.Usage(**tokens), model, provider_api_url=base_url)
        return float(found.total_price) * 1_000_000 / _TOKENS

    try:
        paid, written = cost(input_tokens=_TOKENS), cost(output_tokens=_TOKENS)
        cached = cost(input_tokens=_TOKENS, cache_read_tokens=_TOKENS)
    except (LookupError, ValueError):
        return None
    return Price(input=paid, output=written, cached=cached)
