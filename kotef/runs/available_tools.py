"""Tools that a run may have here, by the user's settings, the environment, and the repository."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from kotef.context.skills import PLACES, Skills, body_of, find_skills, resources_of
from kotef.errors import UsageError, WorkspaceError
from kotef.extensions import ExtensionSet
from kotef.failures.plural import counted
from kotef.runs.config import UserConfig, config_path
from kotef.runs.extension_setup import equipped
from kotef.sdd.agents import Role
from kotef.sdd.frontmatter import FrontmatterError
from kotef.sdd.memory import memory_of, remembers
from kotef.state import GivenSkill
from kotef.tools.registry import tier_of
from kotef.tools.role_tools import unfit
from kotef.tools.toolset import Kit

TIER: Final = "KOTEF_TOOLS"
"""The environment variable that limits the offered tools."""


def available(
    root: Path,
    config: UserConfig,
    *,
    model: str,
    environment: Mapping[str, str] = os.environ,
    extensions: ExtensionSet | None = None,
) -> tuple[Kit, tuple[str, ...]]:
    """The tools of a run here, and notices about them."""
    tier, warning = tier_of(environment.get(TIER))
    skills = skills_of(root, environment) if tier == "all" else Skills()
    known = config.models.get(model)
    kit = Kit(
        tier=tier,
        patches=known is not None and known.apply_patch,
        window=known.window if known else None,
        memory=memory_of(root, environment) if tier == "all" and remembers(root) else None,
        skills=skills,
    )
    broken = (
        f"{counted(len(skills.problems), 'skill')} cannot be used; `kotef skills` shows why" if skills.problems else ""
    )
    return equipped(kit, extensions or ExtensionSet(), root), tuple(text for text in (warning, broken) if text)


def idle(kit: Kit, role: Role) -> str:
    """A notice about a model coder that cannot work; empty if it can."""
    why = unfit(kit, role)
    hint = f"--agent chooses its role, {TIER} its tools"
    return f"the coder `model` cannot work: {why}; it is skipped ({hint})" if why else ""


def skills_of(root: Path, environment: Mapping[str, str] = os.environ) -> Skills:
    """The skills of a workspace, and those of the user's configuration."""
    return find_skills(root, users_skills(environment))


def given_skills(
    names: Sequence[str], root: Path, environment: Mapping[str, str] = os.environ
) -> tuple[GivenSkill, ...]:
    """The skills of these names with their texts; one of the repository takes precedence over the user's.

    Raises UsageError for a name that no skill has, and for a skill that cannot be read.
    """
    known = skills_of(root, environment) if names else Skills()
    return tuple(_given(name, known) for name in dict.fromkeys(names))


def _given(name: str, known: Skills) -> GivenSkill:
    skill = known.named(name)
    if skill is None:
        there = ", ".join(one.name for one in known.found) or "none"
        raise UsageError(f"--skill {name}: there is no such skill", hint=f"`kotef skills` lists them: {there}")
    try:
        text = body_of(skill)
    except (FrontmatterError, WorkspaceError) as error:
        raise UsageError(f"--skill {name}: it cannot be read: {error}", hint="`kotef skills` shows problems") from error
    place = f"{skill.place}/{skill.folder.name}" if skill.place in PLACES else ""
    return GivenSkill(name=skill.name, text=text.strip(), place=place, files=tuple(resources_of(skill)))


def users_skills(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for skills in the user's configuration."""
    return config_path(environment).parent / "skills"
