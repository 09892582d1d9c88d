"""Run contexts for tests of one guard or one node: only what a test names is real."""

from pathlib import Path
from typing import Any

from kotef.context.prompts import Prompts
from kotef.deps import Clock, Emit, RunContext
from kotef.tools.approvals import Permits
from kotef.tools.toolset import Kit


def silent(*_: object, **__: object) -> None:
    """An `Emit` that nobody hears."""


def run_context(root: Path, *, emit: Emit = silent, **known: Any) -> RunContext:
    """A run in `root`, which is its state directory, too; whatever is not named is None and fails when it is used."""
    missing: Any = None
    facts: dict[str, Any] = {
        "task": missing,
        "snapshots": missing,
        "prompts": Prompts(),
        "clock": Clock(60.0),
        "baselines": missing,
        "executor": missing,
        "surroundings": missing,
        "confined": "off",
        "kit": Kit(),
        "permits": Permits(),
    }
    return RunContext(root=root, run_dir=root, emit=emit, **{**facts, **known})
