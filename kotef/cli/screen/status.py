"""The status line, fitted to the terminal's width."""

from typing import Final

from kotef.cli.screen.budget import cost_used, time_used, tokens_used
from kotef.cli.screen.sanitize import one_line
from kotef.runs.progress import RunProgress
from kotef.settings import Limits

_LEAST: Final = 12
"""Below this width the current step is not shown at all."""


def status_line(doing: RunProgress, limits: Limits | None, *, now: float, width: int) -> str:
    """Attempt, node, step and used budgets; the least important parts go first if there is no room.

    `limits` is None where they are not known: then it says what is used alone.
    """
    attempts = f" of {limits.max_attempts}" if limits else ""
    most_tokens = limits.max_tokens if limits else 0
    most_cost = (limits.max_cost if limits else None) or 0.0
    parts: dict[str, str] = {
        "where": f"attempt {doing.attempt}{attempts}" if doing.attempt else "baseline",
        "node": doing.node,
        "tokens": tokens_used(doing.tokens, most_tokens) if doing.tokens else "",
        "cost": cost_used(doing.cost, most_cost) if doing.cost else "",
        "time": time_used(doing.seconds(now), limits.max_time if limits else 0.0),
    }
    what = "stopping after this step" if doing.stopping else doing.what
    needed = len(what) + 3 if doing.stopping else 0
    for least in ("nothing", "cost", "tokens", "node"):
        parts.pop(least, "")
        if len(_joined(parts)) + needed <= width:
            break

    room = width - len(_joined(parts)) - 3
    if room >= _LEAST:
        first = ("where", "node")
        before = {name: part for name, part in parts.items() if name in first}
        rest = {name: part for name, part in parts.items() if name not in first}
        parts = {**before, "what": one_line(what, min(room, 60)), **rest}
    return one_line(_joined(parts), width)


def _joined(parts: dict[str, str]) -> str:
    return " · ".join(part for part in parts.values() if part)
