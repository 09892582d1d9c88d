"""Which tools does the model have, and what does each need?"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from langchain_core.tools import BaseTool, StructuredTool
from pydantic import BaseModel, ConfigDict, Field

from kotef.checks.model import CommandResult
from kotef.tools import edit, files, search, shell
from kotef.tools.guard import Guard
from kotef.tools.policy import Ruling

Kind = Literal["reader", "editor", "runner"]


@dataclass(frozen=True)
class ToolContext:
    """What the tools of one visit act on; one context per visit."""

    root: Path
    guard: Guard
    run: Callable[[str, float | None], Awaitable[CommandResult]]
    """Runs a command line with a timeout in seconds; None is the run's own limit."""
    run_checks: Callable[[list[str] | None], Awaitable[str]]
    """Runs the checks of these names, None for all, and returns text for the model."""
    wrote: Callable[[str], None]
    """Told the workspace-relative path of each file a tool wrote, right after it did."""
    rule: Callable[[str], Ruling]
    """Says whether a command line may run."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by every tool that has an effect: the tool calls of one turn run concurrently."""


class _Args(BaseModel):
    """An argument nobody declared is an error the model can correct, not a wish that is dropped in silence."""

    model_config = ConfigDict(extra="forbid")


class ViewFile(_Args):
    """Arguments of view_file."""

    path: str
    start: int = Field(default=1, ge=1, description="first line")
    lines: int = Field(default=400, ge=1, le=2000)


class ListDir(_Args):
    """Arguments of list_dir."""

    path: str = "."


class FindFiles(_Args):
    """Arguments of find_files."""

    glob: str = Field(description="e.g. *.py or src/**/test_*.py")
    path: str = "."


class Grep(_Args):
    """Arguments of grep."""

    pattern: str = Field(description="regular expression")
    path: str = Field(default=".", description="directory or file")
    glob: str = Field(default="", description="only these files, e.g. *.py")
    ignore_case: bool = False


class EditFile(_Args):
    """Arguments of edit_file."""

    path: str
    edits: list[edit.Edit] = Field(min_length=1)


class WriteFile(_Args):
    """Arguments of write_file."""

    path: str
    content: str


class RunCommand(_Args):
    """Arguments of run_command."""

    command: str
    timeout: float | None = Field(default=None, gt=0, description="seconds")


class RunChecks(_Args):
    """Arguments of run_checks."""

    names: list[str] = Field(default_factory=list, description="empty: all")


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


async def _edit_file(context: ToolContext, path: str, edits: list[edit.Edit]) -> str:
    async with context.one_at_a_time:
        written = edit.edit_file(context.root, path, edits, guard=context.guard)
        context.wrote(written.path)
        return written.report


async def _write_file(context: ToolContext, path: str, content: str) -> str:
    async with context.one_at_a_time:
        written = files.write_file(context.root, path, content, guard=context.guard)
        context.wrote(written.path)
        return written.report


async def _run_command(context: ToolContext, command: str, timeout: float | None = None) -> str:
    shell.refuse(command, context.rule(command))
    async with context.one_at_a_time:
        return shell.render(await context.run(command, timeout))


async def _run_checks(context: ToolContext, names: list[str] | None = None) -> str:
    async with context.one_at_a_time:
        return await context.run_checks(names or None)


@dataclass(frozen=True)
class _Tool:
    """One row of the table; the description and the schema are paid for with every request."""

    name: str
    kind: Kind
    args: type[BaseModel]
    act: Callable[..., Awaitable[str]]
    description: str

    def bind(self, context: ToolContext) -> BaseTool:
        """The tool as langchain wants it; a `ToolFault` it raises passes through."""

        async def call(**arguments: Any) -> str:
            return await self.act(context, **arguments)

        return StructuredTool(name=self.name, description=self.description, args_schema=self.args, coroutine=call)


_TOOLS: Final = (
    _Tool("edit_file", "editor", EditFile, _edit_file, "Replace text in a file; edits apply in order, all or none."),
    _Tool("find_files", "reader", FindFiles, _find_files, "List files by glob."),
    _Tool("grep", "reader", Grep, _grep, "Search file contents; returns path:line: text."),
    _Tool("list_dir", "reader", ListDir, _list_dir, "List a directory."),
    _Tool("run_checks", "runner", RunChecks, _run_checks, "Run the checks that judge this task."),
    _Tool(
        "run_command", "runner", RunCommand, _run_command, "Run a shell command from the workspace root, without input."
    ),
    _Tool(
        "view_file",
        "reader",
        ViewFile,
        _view_file,
        "Read a text file; lines come numbered, number and tab are not part of it.",
    ),
    _Tool("write_file", "editor", WriteFile, _write_file, "Create a file or replace all of it."),
)
"""Sorted by name: the schemas are part of the prefix that endpoints cache."""


def names(*kinds: Kind) -> tuple[str, ...]:
    """Names of the tools of these kinds, sorted; every list of tool names comes from here."""
    return tuple(sorted(tool.name for tool in _TOOLS if tool.kind in kinds))


READERS: Final = names("reader")
EDITORS: Final = names("editor")
RUNNERS: Final = names("runner")
NAMES: Final = names("reader", "editor", "runner")


def build_tools(context: ToolContext) -> list[BaseTool]:
    """All tools on this context, sorted by name; they are async only."""
    return [tool.bind(context) for tool in sorted(_TOOLS, key=lambda tool: tool.name)]
