"""Which tools does a role mean by a word?"""

from collections.abc import Sequence
from typing import Final

from kotef.tools.registry import EDITORS, READERS, RUNNERS, TABLE, TIERS

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
