"""Hints: what a search learnt about the program, for the next coder."""

import re
from typing import Final

from kotef.repair.near_misses import NearMisses
from kotef.repair.preflight import SearchGround
from kotef.repair.rank import diff_of
from kotef.repair.scope import Types
from kotef.repair.types import Hints

_LINES: Final = 10
_NEAR: Final = 5


def hints_of(ground: SearchGround, near: NearMisses) -> Hints:
    """The most suspicious lines, and the edits that cure some of the failing tests."""
    places = [
        (score, suspect.scope.source, line, suspect.scope.types)
        for suspect in ground.suspects
        if suspect.scope.unit is not None
        for line, score in suspect.lines.items()
    ]
    places.sort(key=lambda place: -place[0])
    suspicious = tuple(
        (source.path, line, round(score, 3), source.line(line), _types_on(source.line(line), types))
        for score, source, line, types in places[:_LINES]
    )
    total = len(ground.failing)
    cured = [(diff_of(candidate, ground.sources), count, total) for candidate, count in near.best(_NEAR)]
    return Hints(suspicious, tuple(cured))


def _types_on(text: str, types: Types) -> str:
    names = dict.fromkeys(re.findall(r"[A-Za-z_]\w*", text))
    return ", ".join(f"{name}: {' | '.join(sorted(types[name]))}" for name in names if types.get(name))
