"""Lines of `kotef doctor --model NAME`: how a model has to be asked, and what is known of it."""

import asyncio
from typing import Literal

from kotef.errors import ModelError
from kotef.models.factory import Endpoint, make_model
from kotef.models.model_report import ModelReport, report_on
from kotef.models.price_table import TABLE
from kotef.redaction import shown_url
from kotef.runs.config import UserConfig
from kotef.runs.model_selection import price_of
from kotef.settings import Price

Line = tuple[Literal["ok", "note", "missing"], str]


def model_lines(endpoint: Endpoint, config: UserConfig) -> list[Line]:
    """What the model at an endpoint takes and gives. Raises ModelError where it does not answer."""
    return asyncio.run(_lines(endpoint, config))


async def _lines(endpoint: Endpoint, config: UserConfig) -> list[Line]:
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else None
    model = make_model(endpoint.name, base_url=endpoint.base_url, api_key=key, settings=endpoint.settings)
    try:
        found = await report_on(model, endpoint.settings.window)
    except ModelError as error:
        return [("missing", str(error))]
    finally:
        await model.aclose()
    where = f"model {endpoint.name} at {shown_url(endpoint.base_url)}"
    return [
        _answers(found, where),
        ("ok", f"  dialect: {found.dialect} ({found.known_by})"),
        _tools(found),
        ("ok", f"  sent back with its answers: {', '.join(found.sent_back) or 'only the standard fields'}"),
        _structured(found),
        _window(found),
        _price(price_of(endpoint.name, endpoint.base_url, config), endpoint, config),
        *(("ok", f"  learnt: {lesson}") for lesson in found.learnt),
    ]


def _answers(found: ModelReport, where: str) -> Line:
    if not found.tokens:
        return "note", f"{where}: refuses the request: {found.problems[-1] if found.problems else 'no answer'}"
    return "ok", f"{where}: answers ({found.calls} requests, {found.tokens} tokens)"


def _tools(found: ModelReport) -> Line:
    if found.prompted:
        return "note", "  tools: not supported; they are described in the prompt, and calls are read from the text"
    if found.called:
        return "ok", "  tools: called one and used its result"
    return "note", "  tools: it called none when asked to; the coder needs a model that does"


def _structured(found: ModelReport) -> Line:
    if found.structured is None:
        return "note", "  structured output: none works; plans are made by code"
    return "ok", f"  structured output: {found.structured} works"


def _window(found: ModelReport) -> Line:
    sources = {
        "settings": "your configuration",
        "profile": "its profile",
        "server": "its server",
        "overflow": "a request that was too long",
    }
    if found.window.source not in sources:
        return "note", f"  context window: not known, {found.window.tokens:,} tokens are assumed; set `window`"
    return "ok", f"  context window: {found.window.tokens:,} tokens ({sources[found.window.source]})"


def _price(price: Price | None, endpoint: Endpoint, config: UserConfig) -> Line:
    if price is None:
        return "note", f'  price: not known, so costs are not counted; set [prices."{endpoint.name}"]'
    source = "your configuration" if config.price(endpoint.name) else TABLE
    return "ok", f"  price: {price.input:g} in, {price.output:g} out per million tokens ({source})"
