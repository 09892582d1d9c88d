"""A prompt cut to a number of characters: every part of it gives up its share."""

import re
from collections.abc import Sequence
from typing import Final

LEAST: Final = 80
"""Characters that a part keeps."""
CUT: Final = "\n[… cut for the size of the window …]\n"

_PART: Final = re.compile(r"(<repository>.*?</repository>)", re.DOTALL)


def fitted_prompt(text: str, room: int) -> str:
    """The prompt in at most about `room` characters.

    Material between <repository> marks is cut first, the longest part most, each in its middle; then the paragraphs
    outside of it. What the prompt begins with, its rules, stays whole. What cannot be cut further is returned as it is.
    """
    if len(text) <= room:
        return text
    parts = [part for part in _PART.split(text) if part]
    material = [place for place, part in enumerate(parts) if part.startswith("<repository>")]
    parts = _cut(parts, material, room)
    if sum(map(len, parts)) <= room:
        return "".join(parts)
    others = [place for place in range(1, len(parts)) if place not in material]
    if len(parts) == 1:
        head, _, rest = text.partition("\n\n")
        return head + _middle("\n\n" + rest, max(LEAST, room - len(head))) if rest else _middle(text, max(LEAST, room))
    return "".join(_cut(parts, others, room))


def _cut(parts: Sequence[str], places: Sequence[int], room: int) -> list[str]:
    """The parts, those at `places` cut so that all have room; the longest give up most."""
    fixed = sum(len(part) for place, part in enumerate(parts) if place not in places)
    share = _share([len(parts[place]) for place in places], max(0, room - fixed))
    return [_part(part, share) if place in places else part for place, part in enumerate(parts)]


def _share(sizes: list[int], room: int) -> int:
    """The most characters that each may have so that together they have room."""
    left = room
    for count, size in zip(range(len(sizes), 0, -1), sorted(sizes), strict=True):
        if size > left // count:
            return max(LEAST, left // count)
        left -= size
    return max(sizes, default=LEAST)


def _part(part: str, share: int) -> str:
    """A part cut to its share, between its marks where it has some."""
    if len(part) <= share:
        return part
    if not part.startswith("<repository>"):
        return _middle(part, share)
    opening, closing = "<repository>", "</repository>"
    inner = part.removeprefix(opening).removesuffix(closing)
    return opening + _middle(inner, max(0, share - len(opening) - len(closing))) + closing


def _middle(text: str, room: int) -> str:
    """The beginning, two thirds of the room, and the end of a text."""
    if len(text) <= room:
        return text
    left = max(0, room - len(CUT))
    end = left // 3
    return text[: left - end] + CUT + (text[-end:] if end else "")
