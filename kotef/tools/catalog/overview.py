"""Tools for finding the way in an unknown repository."""

import asyncio
from typing import Final

from kotef.tools.tool import Args, ToolContext, ToolSpec


class Overview(Args):
    """Arguments of get_codebase_overview."""

    path: str = "."


class SearchSymbols(Args):
    """Arguments of search_symbols."""

    name: str
    path: str = "."


async def _overview(context: ToolContext, path: str = ".") -> str:
    from kotef.tools import overview

    return await asyncio.to_thread(overview.overview, context.root, path)


async def _search_symbols(context: ToolContext, name: str, path: str = ".") -> str:
    from kotef.tools import overview

    return await asyncio.to_thread(overview.search_symbols, context.root, name, path)


ROWS: Final = (
    ToolSpec(
        "get_codebase_overview",
        "reader",
        "standard",
        Overview,
        _overview,
        "Folders, and what the most used files define.",
    ),
    ToolSpec(
        "search_symbols",
        "reader",
        "standard",
        SearchSymbols,
        _search_symbols,
        "Find definitions by name or part of it.",
    ),
)
