"""The gate that a run passes before each step; a gentle stop ends the run there."""

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Final

Gate = Callable[[], Awaitable[None]]

_gate: Final[ContextVar[Gate | None]] = ContextVar("gate", default=None)


def guard_steps(gate: Gate) -> None:
    """Make each later step of this context, and of tasks it starts, await `gate` first."""
    _gate.set(gate)


async def next_step() -> None:
    """Return, unless a person asked the run to stop: then this never returns, and the run is cancelled here.

    Whoever starts a command, a check, a model call or a tool awaits it right before, and has nothing half done.
    """
    if (gate := _gate.get()) is not None:
        await gate()
