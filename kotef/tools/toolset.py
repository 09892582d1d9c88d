"""The toolset of one run: what its tools may use in the workspace, and their limits."""

from dataclasses import dataclass, field

from kotef.context.skills import SHOWN, Skills
from kotef.sdd.memory import MemoryFiles
from kotef.tools.tool import Feature, Tier


@dataclass(frozen=True, slots=True)
class Kit:
    """What this machine, this user and this repository give a run; nothing of it is checkpointed."""

    tier: Tier = "all"
    """The ceiling: it narrows what is offered and never widens it."""
    patches: bool = False
    """Whether the model's settings ask for apply_patch."""
    window: int | None = None
    """Tokens the model reads at once, by its settings; None if they do not say."""
    memory: MemoryFiles | None = None
    skills: Skills = field(default_factory=Skills)

    @property
    def features(self) -> tuple[Feature, ...]:
        """What the registry asks for before it offers a tool."""
        skills = self.skills.found
        had: dict[Feature, object] = {
            "apply_patch": self.patches,
            "memory": self.memory,
            "skills": skills,
            "more_skills": len(skills) > SHOWN,
            "skill_files": any(skill.has_files for skill in skills),
        }
        return tuple(name for name, is_there in had.items() if is_there)
