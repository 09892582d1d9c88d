"""Each level this machine has; what it lacks is skipped with the probe's own reason."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.sandbox.confinement import confine
from kotef.sandbox.environment import child_environment
from kotef.sandbox.levels import probe_level
from kotef.sandbox.sandbox import OFF, Level, Sandbox
from tests.support.workspace import own_state, root, user_git

__all__ = ["make", "own_state", "project", "root", "user_git"]

Make = Callable[..., Sandbox]

WHY_NOT: dict[Level, str] = {}
"""What the probe said of each level: the machine is the same for every test."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "app.py").write_text("print('app')\n")
    return root


@pytest.fixture
def make(project: Path, tmp_path: Path) -> Make:
    """A sandbox of a level around the project, with what `confine` takes; skips where the machine lacks it."""

    def made(level: Level, root: Path = project, **options: object) -> Sandbox:
        if level == "off":
            return OFF
        env = child_environment(os.environ)
        confinement = confine(root, tmp_path / "state" / "kotef" / "abc" / "sandbox", env, **options)  # type: ignore[arg-type]
        if level not in WHY_NOT:
            WHY_NOT[level] = probe_level(level, confinement, env).why_not
        if why := WHY_NOT[level]:
            pytest.skip(f"{level}: {why}")
        return Sandbox(level, confinement)

    return made
