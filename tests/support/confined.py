"""How is a command line run in a sandbox, from a test?"""

import asyncio
import os
from pathlib import Path

from kotef.workspace.environment import child_environment
from kotef.workspace.process import Completed, run_process
from kotef.workspace.sandbox.sandbox import Sandbox


def shell(command: str, sandbox: Sandbox, cwd: Path, *, timeout: float = 60) -> Completed:
    """One command line in the sandbox."""
    env = child_environment(os.environ)
    return asyncio.run(run_process(command, cwd=cwd, env=env, timeout=timeout, idle_timeout=None, sandbox=sandbox))
