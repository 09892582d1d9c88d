"""Tools that read and find files."""

import asyncio
from functools import partial
from typing import Final

from pydantic import Field

from kotef.tools import files, search, truncated_output
from kotef.tools.tool import Args, ToolContext, ToolSpec


class ViewFile(Args):
    """Arguments of view_file."""

    path: str
    start: int = Field(default=1, ge=1)
    lines: int = Field(default=400, ge=1, le=2000)


class ListDir(Args):
    """Arguments of list_dir."""

    path: str = "."


class FindFiles(Args):
    """Arguments of find_files."""

    glob: str
    path: str = "."


class Grep(Args):
    """Arguments of grep."""

    pattern: str
    path: str = "."
    glob: str = ""
    ignore_case: bool = False


class ViewTruncated(Args):
    """Arguments of view_truncated_output."""

    id: str
    range: str = "1-400"


async def _view_file(context: ToolContext, path: str, start: int = 1, lines: int = 400) -> str:
    return files.view_file(context.root, path, start=start, lines=lines, keep=context.keep, reads=context.reads)


async def _list_dir(context: ToolContext, path: str = ".") -> str:
    return files.list_dir(context.root, path, reads=context.reads)


async def _find_files(context: ToolContext, glob: str, path: str = ".") -> str:
    return await asyncio.to_thread(search.find_files, context.root, glob, path, reads=context.reads)


async def _grep(
    context: ToolContext,
    pattern: str,
    path: str = ".",
    glob: str = "",
    ignore_case: bool = False,
) -> str:
    act = partial(search.grep, glob=glob, ignore_case=ignore_case, keep=context.keep, reads=context.reads)
    return await asyncio.to_thread(act, context.root, pattern, path)


async def _view_truncated(context: ToolContext, id: str, range: str = "1-400") -> str:  # noqa: A002  the tool's words
    return truncated_output.view(context.stash.read(id) if context.stash else None, id, range)


ROWS: Final = (
    ToolSpec("find_files", "reader", "core", FindFiles, _find_files, "List files by glob: src/**/test_*.py."),
    ToolSpec("grep", "reader", "core", Grep, _grep, "Search files by regular expression."),
    ToolSpec("list_dir", "reader", "core", ListDir, _list_dir, "List a directory."),
    ToolSpec(
        "view_file",
        "reader",
        "core",
        ViewFile,
        _view_file,
        "Read a text file; leading line numbers and tabs are not part of it.",
    ),
    ToolSpec(
        "view_truncated_output",
        "reader",
        "standard",
        ViewTruncated,
        _view_truncated,
        "Read lines (1-400) of a cut output; its end names the id.",
    ),
)
