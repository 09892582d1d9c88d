"""Tools that look something up on the web."""

from typing import TYPE_CHECKING, Final

from pydantic import Field

from kotef.tools.errors import ToolFault
from kotef.tools.tool import Args, ToolContext, ToolSpec

if TYPE_CHECKING:
    from kotef.web import Web


class WebFetch(Args):
    """Arguments of web_fetch."""

    url: str
    start: int = Field(default=0, ge=0)


class WebSearch(Args):
    """Arguments of web_search."""

    query: str = Field(min_length=1, max_length=400)


def _web(context: ToolContext) -> "Web":
    if context.web is None:
        raise ToolFault("permission_denied", "the web is switched off in this run")
    return context.web


async def _web_fetch(context: ToolContext, url: str, start: int = 0) -> str:
    return await _web(context).fetch(url, start)


async def _web_search(context: ToolContext, query: str) -> str:
    return await _web(context).search(query)


ROWS: Final = (
    ToolSpec(
        "web_fetch",
        "reader",
        "all",
        WebFetch,
        _web_fetch,
        "Read a public web page, from character `start`.",
        needs="web",
    ),
    ToolSpec("web_search", "reader", "all", WebSearch, _web_search, "Search the web.", needs="web_search"),
)
