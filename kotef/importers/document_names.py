"""Check commands that a foreign document names, and readable names of folders."""

from collections.abc import Mapping
from typing import Final

from kotef.sdd.files import Problem
from kotef.sdd.markdown import fences, read_markdown, sections
from kotef.sdd.references import fenced_commands

CHECK_HEADINGS: Final[dict[str, str]] = dict.fromkeys(
    (
        *("tests", "test commands", "tests to run", "checks", "check commands", "quality gates"),
        *("verification", "verify", "how to verify", "how to test", "verification commands"),
    ),
    "tests",
)
"""Headings, as `words` has them, under which a fenced block holds commands."""


def checks_in(files: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[Problem, ...]]:
    """The commands in fenced blocks under such headings (path → text), each once; and what is none."""
    found: dict[str, None] = {}
    problems: list[Problem] = []
    for path, text in files.items():
        under = sections(read_markdown(text).lines, CHECK_HEADINGS).get("tests")
        if under is None:
            continue
        commands, complaints = fenced_commands(fences(under.lines))
        found |= dict.fromkeys(commands)
        problems += (Problem(path=path, line=line, text=complaint) for line, complaint in complaints)
    return tuple(found), tuple(problems)


def readable_name(folder: str) -> str:
    """`001-add-a-cart` in words: `add a cart`."""
    return folder.lstrip("0123456789-_ ").replace("-", " ").replace("_", " ").strip() or folder
