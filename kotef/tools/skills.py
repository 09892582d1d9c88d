"""The text of a skill for the model."""

import difflib
from typing import Final

from kotef.context.skills import FILE, Skill, Skills, body_of, resources_of
from kotef.errors import WorkspaceError
from kotef.files import resolve_inside
from kotef.sdd.frontmatter import FrontmatterError
from kotef.tools.errors import ToolFault
from kotef.tools.text import clip_middle
from kotef.tools.workspace_files import Place, must_be_path, read_text

MAX_TEXT: Final = 30_000
"""Characters of one skill, or of one of its files."""
MAX_LISTED: Final = 30
_DESCRIPTION: Final = 300


def find(skills: Skills, query: str = "") -> str:
    """A line for each matching skill, the best match first."""
    found = skills.about(query)
    if not found:
        return f"no skill matches {query!r}; the skills are: {_names(skills)}"
    lines = [f"{skill.name}: {skill.description[:_DESCRIPTION]}" for skill in found[:MAX_LISTED]]
    more = [f"[{len(found) - MAX_LISTED} more; ask for something narrower]"] if len(found) > MAX_LISTED else []
    return "\n".join([*lines, *more])


def use(skills: Skills, name: str) -> str:
    """The text of a skill and its files. Raises `ToolFault` for an unknown name."""
    skill = _named(skills, name)
    try:
        body = body_of(skill)
    except (FrontmatterError, WorkspaceError) as error:
        raise ToolFault("exec_error", f"the skill {skill.name} can no longer be read: {error}") from error
    files = resources_of(skill)
    lines = [f"skill {skill.name}, from {skill.place}", clip_middle(body, MAX_TEXT)]
    return "\n".join([*lines, f"[files for skill_resource: {', '.join(files)}]"] if files else lines)


def resource(skills: Skills, name: str, path: str) -> str:
    """The text of one of its files. Raises `ToolFault` for a missing file, or one outside its folder."""
    skill = _named(skills, name)
    must_be_path(path)
    try:
        real = resolve_inside(skill.folder, path, write=False)
    except WorkspaceError as error:
        raise ToolFault("permission_denied", str(error).replace("workspace", f"skill {skill.name}")) from error
    if not real.is_file():
        there = ", ".join(resources_of(skill)) or f"none but {FILE}"
        raise ToolFault("exec_error", f"{skill.name} has no file {path}; it has: {there}", category="file_not_found")
    place = Place(real, real.relative_to(skill.folder).as_posix(), skill.folder)
    return clip_middle(read_text(skill.folder, place).plain, MAX_TEXT)


def _named(skills: Skills, name: str) -> Skill:
    skill = skills.named(name)
    if skill is None:
        close = difflib.get_close_matches(name, [one.name for one in skills.found], n=3)
        hint = f"did you mean {', '.join(close)}?" if close else f"the skills are: {_names(skills)}"
        raise ToolFault("exec_error", f"no skill {name!r}; {hint}")
    return skill


def _names(skills: Skills) -> str:
    return ", ".join(skill.name for skill in skills.found[:MAX_LISTED]) or "none"
