"""The toolset of one run: what its tools may use in the workspace, and their limits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kotef.context.skills import SHOWN, Skills
from kotef.sdd.memory import MemoryFiles
from kotef.tools.tool import Feature, Tier, ToolSpec

CallRule = Callable[[str, Mapping[str, Any]], str]
"""Tool and arguments → why the call may not be made; empty if it may. Never raises."""


@dataclass(frozen=True, slots=True)
class Kit:
    """The tools that machine, user and repository allow a run; nothing of it is checkpointed."""

    tier: Tier = "all"
    """The ceiling: it narrows what is offered and never widens it."""
    patches: bool = False
    """Whether the model's settings ask for apply_patch."""
    window: int | None = None
    """Tokens the model reads at once, by its settings; None if they do not say."""
    memory: MemoryFiles | None = None
    skills: Skills = field(default_factory=Skills)
    more: tuple[ToolSpec, ...] = ()
    """Tools of extensions."""
    rules: tuple[CallRule, ...] = ()
    """Guards of extensions: each can refuse a call of a tool."""

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of the run, for the registry."""
        skills = self.skills.found
        had: dict[Feature, object] = {
            "apply_patch": self.patches,
            "memory": self.memory,
            "skills": skills,
            "more_skills": len(skills) > SHOWN,
            "skill_files": any(skill.has_files for skill in skills),
        }
        return tuple(name for name, is_there in had.items() if is_there)
