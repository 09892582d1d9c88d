"""How is a command line run in a sandbox, from a test?"""

import asyncio
import os
from pathlib import Path

import pytest

from kotef.files import state_dir
from kotef.sandbox import Completed, Level, Sandbox, child_environment, confine, probe_level, run_process


def shell(command: str, sandbox: Sandbox, cwd: Path, *, timeout: float = 60) -> Completed:
    """One command line in the sandbox."""
    env = child_environment(os.environ)
    return asyncio.run(run_process(command, cwd=cwd, env=env, timeout=timeout, idle_timeout=None, sandbox=sandbox))


def need(level: Level, root: Path) -> None:
    """Skip, with the probe's own reason, where this machine lacks a level."""
    env = child_environment(os.environ)
    if why := probe_level(level, confine(root, state_dir(root) / "sandbox", env), env).why_not:
        pytest.skip(f"{level}: {why}")
