"""The type of a tool, and the context its calls work in."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from kotef.checks.types import CommandResult
from kotef.context.skills import Skills
from kotef.failures.quoting import plain
from kotef.sdd.memory import MemoryFiles
from kotef.shell import Ruling
from kotef.tools.block_match import MatchStep
from kotef.tools.command_outcome import ToolAnswer
from kotef.tools.errors import ToolFault
from kotef.tools.guard import FileGuard
from kotef.tools.stash import Stash
from kotef.tools.truncated_output import Keep

if TYPE_CHECKING:
    from langchain_core.tools import BaseTool

    from kotef.tools.background import Background
    from kotef.tools.git import RunStart
    from kotef.web import Web

Kind = Literal["reader", "editor", "keeper", "runner"]
"""A reader changes nothing; an editor changes files of the workspace, a keeper what kotef keeps; a runner starts or
ends a process."""
Tier = Literal["core", "standard", "all"]
"""Each contains the one before."""
Feature = Literal["apply_patch", "mcp", "memory", "more_skills", "skill_files", "skills", "web", "web_search"]
"""A feature that a run must have before a tool is offered."""


@dataclass(frozen=True)
class ToolContext:
    """The context of tools in one visit."""

    root: Path
    guard: FileGuard
    run: Callable[[str, float | None], Awaitable[CommandResult]]
    """Runs a command line with a timeout in seconds; None is the run's own limit."""
    run_checks: Callable[[list[str] | None], Awaitable[str | ToolAnswer]]
    """Runs the checks of these names, None for all, and returns text for the model."""
    wrote: Callable[[str], None]
    """Called with the workspace-relative path of each file a tool wrote, right after it did."""
    rule: Callable[[str], Ruling]
    """Says whether a command line may run."""
    stash: Stash | None = None
    """Where whole outputs are kept that were cut; None: what is cut is lost."""
    background: "Background | None" = None
    """Runs commands that continue; None if none may."""
    start: "RunStart | None" = None
    """The workspace as it was when the run began."""
    memory: MemoryFiles | None = None
    """Notes from run to run; None if there is no place for them."""
    skills: Skills | None = None
    web: "Web | None" = None
    """None if the run was not given the web."""
    claim: Callable[[str, str], str] | None = None
    """Takes a claim that something cannot be done honestly: place, and what contradicts it. Returns what code
    found to be so, empty if it cannot know; raises `ToolFault` where the claim is wrong. None: no claim is taken."""
    edited: Callable[[str, str, Sequence[MatchStep]], None] = lambda _path, _diff, _steps: None
    """Called for each file that an editor changed, with the hunks and the step that matched each edit."""
    reads: tuple[Path, ...] = ()
    """What a person lets it read beyond the workspace: real paths."""
    watching: Callable[[], AbstractContextManager[None]] = nullcontext
    """What changes in the workspace in this block is the coder's doing."""
    one_at_a_time: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held by every tool that has an effect: the tool calls of one turn run concurrently."""

    @property
    def keep(self) -> Keep | None:
        """What takes a whole output where it is cut; None if it would not be read."""
        return self.stash.keep if self.stash else None


class Args(BaseModel):
    """An argument no one declared is an error the model can correct, not a wish that is dropped in silence."""

    model_config = ConfigDict(extra="forbid")


Arguments = Mapping[str, Any]


MAX_MISFITS: Final = 5
"""Arguments named in one refusal."""


def misfit(tool: str, error: ValidationError, takes: Sequence[str]) -> str:
    """What does not fit, one line an argument, and the arguments that the tool takes."""
    found = error.errors(include_url=False, include_context=False)
    lines = [f"- {_place(one['loc'])}: {one['msg']}{_given(one)}" for one in found[:MAX_MISFITS]]
    more = [f"- and {len(found) - MAX_MISFITS} more"] if len(found) > MAX_MISFITS else []
    head = f"the arguments do not fit {tool}; nothing was executed:"
    return "\n".join([head, *lines, *more, f"It takes: {', '.join(takes) or 'no arguments'}."])


def _place(parts: Sequence[int | str]) -> str:
    return ".".join(plain(str(part), 60) for part in parts) or "arguments"


def _given(found: Mapping[str, Any]) -> str:
    """The value that does not fit, where there is one and it is short to say."""
    value = found.get("input")
    if found["type"] in {"missing", "extra_forbidden"}:
        return ""
    if isinstance(value, str | int | float | None):
        return f", not {plain(repr(value), 80)}"
    return f", not {'an object' if isinstance(value, dict) else 'a list'}"


def its_path(arguments: Arguments) -> tuple[str, ...]:
    """The one file that most editors change."""
    return (str(arguments.get("path", "")),)


def nothing_left(_: Arguments, changed: Collection[str]) -> Arguments | None:  # noqa: ARG001  one file is all there is
    """A call that changes one file has nothing left to do once that is changed."""
    return None


@dataclass(frozen=True)
class ToolSpec:
    """One row of the table; the description and the schema are paid for with every request."""

    name: str
    kind: Kind
    tier: Tier
    args: type[BaseModel] | dict[str, Any]
    """A dictionary is the JSON schema of a tool from outside, which judges the arguments itself."""
    act: Callable[..., Awaitable[str | ToolAnswer]]
    description: str
    needs: Feature | None = None
    targets: Callable[[Arguments], Collection[str]] = its_path
    """The files an editor or keeper is about to change, relative to the workspace: they make exactly-once possible."""
    rest: Callable[[Arguments, Collection[str]], Arguments | None] = nothing_left
    """What a kill left to do of a call that has changed these of its targets; None when it was all done."""
    polls: bool = False
    """Whether it asks after something that changes by itself: asking again and again is not a loop."""

    def validate(self, arguments: Arguments) -> dict[str, Any]:
        """The arguments with the types that the schema names; those of a tool from outside as they are.

        Raises `ToolFault` that names each argument that does not fit.
        """
        if isinstance(self.args, dict):
            return dict(arguments)
        try:
            return self.args.model_validate(dict(arguments)).model_dump(exclude_unset=True)
        except ValidationError as error:
            raise ToolFault("schema_reject", misfit(self.name, error, tuple(self.args.model_fields))) from error

    def bind(self, context: ToolContext) -> "BaseTool":
        """The tool as langchain wants it, its artifact what it reports; a `ToolFault` it raises passes through."""

        async def call(*whole: dict[str, Any], **arguments: Any) -> tuple[str, ToolAnswer | None]:
            answer = await self.act(context, **(whole[0] if whole else arguments))
            return (answer.text, answer) if isinstance(answer, ToolAnswer) else (answer, None)

        return self._tool(call)

    @property
    def schema(self) -> dict[str, Any]:
        """The schema as sent to an endpoint."""
        from langchain_core.utils.function_calling import convert_to_openai_tool

        return convert_to_openai_tool(self._tool(self.act))

    def _tool(self, call: Callable[..., Awaitable[Any]]) -> "BaseTool":
        from kotef.tools.langchain_tool import FromOutside, Lean

        kind = FromOutside if isinstance(self.args, dict) else Lean
        return kind(
            name=self.name,
            description=self.description,
            args_schema=self.args,
            coroutine=call,
            response_format="content_and_artifact",
        )
