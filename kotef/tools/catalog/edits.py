"""Tools that change files."""

from typing import Final

from pydantic import Field

from kotef.tools import apply_patch, edit, files
from kotef.tools.tool import Args, ToolContext, ToolSpec


class EditFile(Args):
    """Arguments of edit_file."""

    path: str
    edits: list[edit.Replacement] = Field(min_length=1)


class WriteFile(Args):
    """Arguments of write_file."""

    path: str
    content: str


class ApplyPatch(Args):
    """Arguments of apply_patch."""

    patch: str = Field(description="*** Begin Patch … *** End Patch")


async def _apply_patch(context: ToolContext, patch: str) -> str:
    async with context.one_at_a_time:
        return apply_patch.apply_patch(
            context.root, patch, guard=context.guard, wrote=context.wrote, edited=context.edited
        )


async def _edit_file(context: ToolContext, path: str, edits: list[edit.Replacement]) -> str:
    async with context.one_at_a_time:
        written = edit.edit_file(context.root, path, edits, guard=context.guard)
        context.wrote(written.path)
        context.edited(written.path, written.diff, written.steps)
        return written.report


async def _write_file(context: ToolContext, path: str, content: str) -> str:
    async with context.one_at_a_time:
        written = files.write_file(context.root, path, content, guard=context.guard)
        context.wrote(written.path)
        context.edited(written.path, written.diff, written.steps)
        return written.report


ROWS: Final = (
    ToolSpec(
        "apply_patch",
        "editor",
        "standard",
        ApplyPatch,
        _apply_patch,
        "Add, update, move and delete files by a patch, all or none.",
        needs="apply_patch",
        targets=apply_patch.targets,
        rest=apply_patch.rest,
    ),
    ToolSpec(
        "edit_file",
        "editor",
        "standard",
        EditFile,
        _edit_file,
        "Replace exact text, there once or `all`; all edits or none.",
    ),
    ToolSpec("write_file", "editor", "standard", WriteFile, _write_file, "Create a file, or replace all of it."),
)
