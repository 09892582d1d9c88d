"""The registry of tools, and the selection that a model is offered."""

from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Final, get_args

from kotef.tools.catalog import claims, commands, diffs, edits, files, memory, overview, web
from kotef.tools.tool import Feature, Kind, Tier, ToolContext, ToolSpec

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

_ROWS: Final = (
    *(*files.ROWS, *overview.ROWS, *diffs.ROWS, *web.ROWS),
    *(*edits.ROWS, *commands.ROWS, *memory.ROWS, *claims.ROWS),
)
TABLE: Final[tuple[ToolSpec, ...]] = tuple(sorted(_ROWS, key=lambda row: row.name))
"""Sorted by name: the schemas are part of the prefix that endpoints cache. Every list of tool names comes from here."""

TIERS: Final[tuple[Tier, ...]] = get_args(Tier)
CORE: Final = ("find_files", "grep", "list_dir", "view_file")
"""The tools of every tier; a name missing from the table fails when this module is imported."""


def names(*kinds: Kind) -> tuple[str, ...]:
    """Names of the tools of these kinds, sorted."""
    return tuple(row.name for row in TABLE if row.kind in kinds)


READERS: Final = names("reader")
EDITORS: Final = names("editor")
RUNNERS: Final = names("runner")
NAMES: Final = names(*get_args(Kind))
POLLS: Final = tuple(row.name for row in TABLE if row.polls)

BY_NAME: Final[dict[str, ToolSpec]] = {row.name: row for row in TABLE}

if len(BY_NAME) != len(TABLE):
    raise ImportError("two tools of the table have the same name")
if (core := tuple(row.name for row in TABLE if row.tier == "core")) != CORE:
    raise ImportError(f"the core tier is {core}, not {CORE}")


def tier_of(asked: str | None) -> tuple[Tier, str]:
    """The highest tier that `KOTEF_TOOLS` allows, in upper or lower case, and a warning for an unknown value."""
    wanted = (asked or "all").strip().lower() or "all"
    for tier in TIERS:
        if wanted == tier:
            return tier, ""
    return "all", f"KOTEF_TOOLS={asked}: no such tier (the tiers are {', '.join(TIERS)}); all tools are offered"


def offered(
    tier: Tier = "all",
    features: Collection[Feature] = (),
    only: Collection[str] | None = None,
    more: Sequence[ToolSpec] = (),
) -> list[ToolSpec]:
    """The rows a model is offered, sorted by name: within the tier, of the features this run has, among `only`.

    `more` are rows that only this run has: the tools of its MCP servers.
    """
    ceiling = TIERS[: TIERS.index(tier) + 1]
    return [
        row
        for row in sorted((*TABLE, *more), key=lambda row: row.name)
        if row.tier in ceiling and (row.needs is None or row.needs in features) and (only is None or row.name in only)
    ]


def cannot_edit(rows: Sequence[ToolSpec]) -> str:
    """Why a coder with these tools cannot work, in one line; empty if it can change a file."""
    if any(row.kind == "editor" for row in rows):
        return ""
    return f"none of its tools edits a file ({', '.join(row.name for row in rows) or 'it has none'})"


def build_tools(context: ToolContext, rows: Sequence[ToolSpec] | None = None) -> "list[BaseTool]":
    """These tools on this context, sorted by name; they are async only. None: all that need no feature."""
    return [row.bind(context) for row in sorted(offered() if rows is None else rows, key=lambda row: row.name)]
