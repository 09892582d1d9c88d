"""Tools that a role's words select, and whether they suffice for a coder."""

from collections.abc import Sequence
from typing import Final

from kotef.sdd.agents import Role
from kotef.tools.registry import EDITORS, READERS, RUNNERS, TABLE, TIERS, cannot_edit, offered
from kotef.tools.toolset import Kit

GROUPS: Final[dict[str, tuple[str, ...]]] = {
    "readers": READERS,
    "editors": EDITORS,
    "runners": RUNNERS,
    **{tier: tuple(row.name for row in TABLE if TIERS.index(row.tier) <= number) for number, tier in enumerate(TIERS)},
}
"""Words for several tools: of a kind, or up to a tier."""


def names_of(word: str) -> Sequence[str]:
    """The tools of a group, else the word itself, which may be a tool that only some runs have."""
    return GROUPS.get(word.lower(), (word,))


def unfit(kit: Kit, role: Role) -> str:
    """Why a coder in this role can change no file, in one line with what keeps its tools from it; empty when it can."""
    why = cannot_edit(offered(kit.tier, kit.features, only=role.tools))
    tier = f"at KOTEF_TOOLS={kit.tier}" if kit.tier != "all" else ""
    narrowed = f"in the role {role.name}" if role.tools is not None else ""
    return ", ".join(part for part in (why, tier, narrowed) if part) if why else ""
