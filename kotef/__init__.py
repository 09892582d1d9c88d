"""kotef: a coding agent that can be trusted to stop."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kotef.api import (
        AgentState,
        Diagnosis,
        Event,
        Inspection,
        Result,
        RunHandle,
        acheck,
        aresume,
        arun,
        build_graph,
        check,
        classify,
        resume,
        run,
        start,
    )

__version__ = "0.1.0"

__all__ = [
    "AgentState",
    "Diagnosis",
    "Event",
    "Inspection",
    "Result",
    "RunHandle",
    "__version__",
    "acheck",
    "aresume",
    "arun",
    "build_graph",
    "check",
    "classify",
    "resume",
    "run",
    "start",
]


def __getattr__(name: str) -> Any:
    """A name of the public surface, imported when it is asked for: `kotef --help` needs none of them."""
    if name.startswith("_") or name not in __all__:
        raise AttributeError(f"module 'kotef' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module("kotef.api"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
