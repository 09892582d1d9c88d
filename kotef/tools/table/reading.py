"""With which tools does the model look around?"""

import asyncio
from typing import Final

from pydantic import Field

from kotef.tools import files, search
from kotef.tools.row import Args, Row, ToolContext


class ViewFile(Args):
    """Arguments of view_file."""

    path: str
    start: int = Field(default=1, ge=1, description="first line")
    lines: int = Field(default=400, ge=1, le=2000)


class ListDir(Args):
    """Arguments of list_dir."""

    path: str = "."


class FindFiles(Args):
    """Arguments of find_files."""

    glob: str = Field(description="e.g. *.py or src/**/test_*.py")
    path: str = "."


class Grep(Args):
    """Arguments of grep."""

    pattern: str = Field(description="regular expression")
    path: str = Field(default=".", description="directory or file")
    glob: str = Field(default="", description="only these files, e.g. *.py")
    ignore_case: bool = False


async def _view_file(context: ToolContext, path: str, start: int = 1, lines: int = 400) -> str:
    return files.view_file(context.root, path, start=start, lines=lines)


async def _list_dir(context: ToolContext, path: str = ".") -> str:
    return files.list_dir(context.root, path)


async def _find_files(context: ToolContext, glob: str, path: str = ".") -> str:
    return await asyncio.to_thread(search.find_files, context.root, glob, path)


async def _grep(
    context: ToolContext,
    pattern: str,
    path: str = ".",
    glob: str = "",
    ignore_case: bool = False,
) -> str:
    return await asyncio.to_thread(search.grep, context.root, pattern, path, glob=glob, ignore_case=ignore_case)


ROWS: Final = (
    Row("find_files", "reader", "core", FindFiles, _find_files, "List files by glob."),
    Row("grep", "reader", "core", Grep, _grep, "Search file contents; returns path:line: text."),
    Row("list_dir", "reader", "core", ListDir, _list_dir, "List a directory."),
    Row(
        "view_file",
        "reader",
        "core",
        ViewFile,
        _view_file,
        "Read a text file; lines come numbered, number and tab are not part of it.",
    ),
)
