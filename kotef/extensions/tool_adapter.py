"""Rows of the registry of tools for the tools of extensions."""

import asyncio
from typing import Any, Final

from kotef.errors import KotefError
from kotef.extensions.extension_set import ExtensionSet, LoadedExtension
from kotef.extensions.loader import failed, unusable
from kotef.extensions.seam import ExtensionWorkspace, RefusalError, ruled, unchanging
from kotef.tools.errors import ToolFault
from kotef.tools.shell import MAX_OUTPUT
from kotef.tools.text import clip_line
from kotef.tools.tool import Kind, ToolContext, ToolSpec
from kotef.tools.truncated_output import clip_kept

MAX_DESCRIPTION: Final = 1_000
"""Characters of a description; it is paid for with every request."""
SECONDS: Final = 600.0
"""What one call may take, as the default of a command."""
_READER: Final = "a tool with `changes = False` can neither write nor run commands"


def tool_rows(extensions: ExtensionSet) -> tuple[ToolSpec, ...]:
    """A row for each tool. One that may change anything is a runner: its effect is recorded and not repeated."""
    return tuple(_row(each) for each in extensions.of_kind("tool"))


def _row(loaded: LoadedExtension) -> ToolSpec:
    target = loaded.target

    async def act(context: ToolContext, **values: Any) -> str:
        answer = await _call(loaded, context, values)
        return clip_kept(answer, MAX_OUTPUT, context.keep)

    description = clip_line(" ".join(target.description.split()), MAX_DESCRIPTION)
    kind: Kind = "runner" if target.changes else "reader"
    return ToolSpec(loaded.record.name, kind, "all", target.arguments, act, description)


async def _call(loaded: LoadedExtension, context: ToolContext, values: dict[str, Any]) -> str:
    """The answer of the extension. Raises ToolFault, whatever goes wrong in its code."""
    target = loaded.target
    workspace = _workspace(context) if target.changes else unchanging(context.root, _READER)
    try:
        async with asyncio.timeout(SECONDS):
            answer = await target.call(workspace, target.arguments.model_construct(**values))
    except RefusalError as refusal:
        raise ToolFault("exec_error", str(refusal) or "refused") from refusal
    except (ToolFault, KotefError):  # of kotef's own functions that it called
        raise
    except (Exception, SystemExit) as error:
        raise ToolFault("exec_error", str(failed(loaded.extension, "failed", error))) from error
    if not isinstance(answer, str):
        raise ToolFault("exec_error", str(unusable(loaded.extension, f"answered {type(answer).__name__}, not a text")))
    return answer


def _workspace(context: ToolContext) -> ExtensionWorkspace:
    def wrote(path: str, diff: str) -> None:
        context.wrote(path)
        context.edited(path, diff, ())

    run = ruled(context.run, context.rule, context.one_at_a_time)
    return ExtensionWorkspace(context.root, context.guard, wrote=wrote, run=run)
