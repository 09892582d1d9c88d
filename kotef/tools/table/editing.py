"""With which tools does the model change files?"""

from typing import Final

from pydantic import Field

from kotef.tools import edit, files
from kotef.tools.row import Args, Row, ToolContext


class EditFile(Args):
    """Arguments of edit_file."""

    path: str
    edits: list[edit.Edit] = Field(min_length=1)


class WriteFile(Args):
    """Arguments of write_file."""

    path: str
    content: str


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


ROWS: Final = (
    Row(
        "edit_file",
        "editor",
        "standard",
        EditFile,
        _edit_file,
        "Replace text in a file; edits apply in order, all or none.",
    ),
    Row("write_file", "editor", "standard", WriteFile, _write_file, "Create a file or replace all of it."),
)
