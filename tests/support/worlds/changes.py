"""A change of a project, with what is true of it."""

from dataclasses import dataclass
from typing import Literal

Truth = Literal["right", "wrong", "fits"]
"""`fits`: as wrong as before but for the tests' own values, or while a test runs; no judge can know."""


@dataclass(frozen=True)
class Change:
    """What a coder does in a project, as a program."""

    kind: str
    form: str
    script: str
    truth: Truth
    arguments: tuple[str, ...] = ()
    files: tuple[tuple[str, str | None], ...] = ()
    """What the project has beside, or instead of, its own files before the change."""


def w(path: str, text: str) -> str:
    """A line of the program that writes a file."""
    return f"w({path!r}, {text!r})\n"
