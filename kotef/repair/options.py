"""Options of one search."""

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from kotef.sandbox import Sandbox


@dataclass(frozen=True, slots=True)
class SearchOptions:
    """The arguments of `repair`, and what its command says."""

    root: Path
    """Resolved."""
    command: str
    arguments: tuple[str, ...]
    """For pytest, taken from the command."""
    folder_on_path: bool
    """Whether Python puts the current folder on its path."""
    failing: frozenset[str]
    """pytest ids; empty means whatever fails."""
    python: str
    env: Mapping[str, str]
    jobs: int
    """Candidates run at a time."""
    protected: Callable[[str], bool]
    """Whether a workspace-relative path must not be edited."""
    stop_after: int
    sandbox: Sandbox
    """What the project's code is run in."""


def cpu_seconds() -> float:
    """CPU time of this process and of the children it has waited for."""
    return sum(os.times()[:4])
