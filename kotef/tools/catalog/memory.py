"""Tools for earlier knowledge: the model's own notes, and skills."""

from typing import Final

from kotef.context.skills import Skills
from kotef.sdd.memory import FOLDER, Action, MemoryFault, MemoryName, act
from kotef.tools import skills
from kotef.tools.errors import ToolFault
from kotef.tools.tool import Args, Arguments, ToolContext, ToolSpec


class ManageMemory(Args):
    """Arguments of manage_memory."""

    action: Action
    file: MemoryName = "core"
    entry: str = ""
    old: str = ""


class SkillFind(Args):
    """Arguments of skill_find."""

    query: str = ""


class SkillUse(Args):
    """Arguments of skill_use."""

    name: str


class SkillResource(Args):
    """Arguments of skill_resource."""

    name: str
    path: str


async def _manage_memory(
    context: ToolContext, action: Action, file: MemoryName = "core", entry: str = "", old: str = ""
) -> str:
    if context.memory is None:
        raise ToolFault("permission_denied", "no memory here")
    async with context.one_at_a_time:
        try:
            return act(context.memory, action, file, entry, old)
        except MemoryFault as fault:
            raise ToolFault("permission_denied" if context.memory.read_only else "exec_error", str(fault)) from fault


def _file(arguments: Arguments) -> tuple[str, ...]:
    return (f"{FOLDER}/{arguments.get('file', 'core')}.md",)


def _skills(context: ToolContext) -> Skills:
    if context.skills is None:
        raise ToolFault("permission_denied", "no skills here")
    return context.skills


async def _skill_find(context: ToolContext, query: str = "") -> str:
    return skills.find(_skills(context), query)


async def _skill_use(context: ToolContext, name: str) -> str:
    return skills.use(_skills(context), name)


async def _skill_resource(context: ToolContext, name: str, path: str) -> str:
    return skills.resource(_skills(context), name, path)


ROWS: Final = (
    ToolSpec(
        "manage_memory",
        "keeper",
        "all",
        ManageMemory,
        _manage_memory,
        "One-line notes for later runs; core ones stand at every start. `old`: the note to replace or remove.",
        needs="memory",
        targets=_file,
    ),
    ToolSpec("skill_find", "reader", "all", SkillFind, _skill_find, "Search the skills.", needs="more_skills"),
    ToolSpec(
        "skill_resource",
        "reader",
        "all",
        SkillResource,
        _skill_resource,
        "Read a file of a skill.",
        needs="skill_files",
    ),
    ToolSpec("skill_use", "reader", "all", SkillUse, _skill_use, "Read a skill.", needs="skills"),
)
