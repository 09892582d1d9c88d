"""One assertion of a test, and what its file is with a failure or the end of the process in its place."""

import re
from typing import Final, Literal, NamedTuple

Decider = Literal["nothing", "rounds", "branch"]
"""What decides whether an assertion is reached: nothing; a loop or a function that something calls; a condition."""

_EQUALITY: Final = re.compile(
    r"(?i:equal|tobe|close|approx|almost|same)|_eq\b|EQ\b|STREQ|\beq\b|===?|\bis\(|assertIn\b|\bin\b"
)
_ABSENCE: Final = re.compile(
    r"(?i:\bnot|isnot)|[.\w]not[A-Z_]|Not[A-Z]|!==?|(?<!\w)!(?!=)|_ne\b|NE\b|\b(?:None|null|nil|undefined|[Ff]alse)\b"
)


class HaltedAssertion(NamedTuple):
    """One assertion that must fail its test, or end its process, wherever it is reached."""

    line: int
    text: str
    """The first line of the assertion, stripped; for people."""
    decider: Decider
    asks_for_equality: bool
    """Whether it names what has to be there: an assertion that something is missing may lose its cause by right."""
    failing: bytes
    """The whole file with a failure in its place; lines keep their numbers."""
    ending: bytes
    """The whole file with the end of the process in its place."""


def asks_for_equality(text: str) -> bool:
    """Whether an assertion compares with what has to be there (heuristic)."""
    return bool(_EQUALITY.search(text)) and not _ABSENCE.search(text)
