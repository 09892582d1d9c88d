"""Similarity of names: the known name that a misspelt one meant."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from typing import Final

MIN_LENGTH: Final = 3
"""Least letters of a name that is compared; shorter ones are ambiguous."""
ALIKE: Final = 0.75
"""Ratio of `difflib` from which two words may be the same one misspelt: one slip in four letters."""
SWAPPED: Final = 0.6
"""The same for words of the same letters: a swap costs the ratio more than it costs the reader."""
LAYOUT_ONLY: Final = 0.99

_CONSTANTS: Final = frozenset({"True", "False", "None"})
_JOINTS: Final = re.compile(r"_+|(?<=[a-z0-9])(?=[A-Z])")


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that is most like `name`; None when none is like it, or two are equally so."""
    ranked = sorted(((likeness(name, one), one) for one in set(known) - {name}), reverse=True)[:2]
    if not ranked or not ranked[0][0] or (len(ranked) > 1 and ranked[0][0] == ranked[1][0]):
        return None
    return ranked[0][1]


def likeness(name: str, known: str) -> float:
    """From 0.0, another name, to 0.99, the same name except for capitals and underscores; symmetric enough for ranking.

    Names are compared word by word, so that `min_size` is not a misspelt `max_size`. Not misspelt are: other digits
    (`x1`, `x2`), another first letter (`encode`, `decode`), a class for a variable (`Item`, `item`), and another
    number of leading underscores.
    """
    if min(len(name), len(known)) < MIN_LENGTH or _marks(name) != _marks(known):
        return 0.0
    if _capital(name) != _capital(known) and not (name.isupper() or known.isupper() or known in _CONSTANTS):
        return 0.0
    if name.replace("_", "").casefold() == known.replace("_", "").casefold():
        return LAYOUT_ONLY
    words, others = _JOINTS.split(name), _JOINTS.split(known)
    if len(words) != len(others) or not all(map(_alike, words, others)):
        return 0.0
    return SequenceMatcher(None, name.casefold(), known.casefold()).ratio()


def _marks(name: str) -> tuple[int, list[str]]:
    """Leading underscores and digits."""
    return len(name) - len(name.lstrip("_")), re.findall(r"\d", name)


def _capital(name: str) -> bool:
    return name.lstrip("_")[:1].isupper()


def _alike(word: str, other: str) -> bool:
    word, other = word.casefold(), other.casefold()
    if word == other:
        return True
    ratio = SequenceMatcher(None, word, other).ratio()
    if sorted(word) == sorted(other):
        return ratio >= SWAPPED
    return ratio >= ALIKE and word[:1] == other[:1]
