"""Tools that a run may have here, by the user's settings, the environment, and the repository."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kotef.context.skills import Skills, find_skills
from kotef.extensions import ExtensionSet
from kotef.failures.plural import counted
from kotef.runs.config import UserConfig, config_path
from kotef.runs.extension_setup import equipped
from kotef.sdd.agents import Role
from kotef.sdd.memory import memory_of, remembers
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


def users_skills(environment: Mapping[str, str] = os.environ) -> Path:
    """The folder for skills in the user's configuration."""
    return config_path(environment).parent / "skills"
