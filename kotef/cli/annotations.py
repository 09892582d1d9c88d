"""GitHub Actions workflow commands, and the escaping that keeps other output from being read as one.

Source: https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands
"""

import contextlib
import os
import secrets
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, Literal

Level = Literal["error", "warning", "notice"]

SHOWN: Final = 10
"""Annotations of one level that GitHub shows per step; later ones appear only in its log."""


def in_actions(env: Mapping[str, str] = os.environ) -> bool:
    """Whether this is a job of GitHub Actions."""
    return env.get("GITHUB_ACTIONS") == "true"


def in_checkout(root: Path, env: Mapping[str, str] = os.environ) -> str:
    """Path of the workspace in the checkout, with a trailing slash; empty if it is the whole checkout."""
    top = env.get("GITHUB_WORKSPACE", "")
    try:
        place = Path(os.path.realpath(root)).relative_to(os.path.realpath(top)).as_posix() if top else "."
    except ValueError:
        return ""
    return "" if place == "." else f"{place}/"


def unheard(line: str) -> str:
    """A line that is safe to print: in a job, text quoted in it is not read as a command."""
    return " ".join(line.splitlines()).replace("##[", "# #[") if in_actions() else line


def annotation(level: Level, message: str, *, title: str = "", file: str = "", line: int | None = None) -> str:
    """One workflow command that marks a line of a file, or the run as a whole."""
    properties = {"file": file, "line": str(line or ""), "title": title}
    fields = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items() if value)
    return f"::{level} {fields}::{_escaped(message)}" if fields else f"::{level}::{_escaped(message)}"


def _escaped(text: str, more: str = "") -> str:
    """Escape percent signs and line ends, and in a property colons and commas."""
    from kotef.cli.screen import plain  # loads rich, which no help needs

    kept = plain(text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A"))
    for char in more:
        kept = kept.replace(char, f"%{ord(char):02X}")
    return kept


@contextlib.contextmanager
def deaf() -> Iterator[None]:
    """Within this block the runner reads no line as a command, whether a test, a model or a file name wrote it.

    Both streams become one, because the runner reads two of them in no certain order.
    """
    from kotef.cli.screen import say

    token = secrets.token_hex(16)
    say(f"::stop-commands::{token}\n")
    try:
        with contextlib.redirect_stderr(sys.stdout):
            yield
    finally:
        say(f"::{token}::\n")
