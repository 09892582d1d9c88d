"""The status line, fitted to the terminal's width."""

from typing import Final

from kotef.cli.screen.sanitize import one_line
from kotef.failures.plural import counted
from kotef.runs.progress import RunProgress

_LEAST: Final = 12
"""Below this width the current step is not shown at all."""


def status_line(doing: RunProgress, *, max_attempts: int, max_time: float, now: float, width: int) -> str:
    """Attempt, node, step, tokens, cost, time, time left; without room the least telling parts go first."""
    where = f"attempt {doing.attempt} of {max_attempts}" if doing.attempt else "baseline"
    seconds = doing.seconds(now)
    left = f"{clock(max(0.0, max_time - seconds))} left" if max_time else ""
    parts: dict[str, str] = {
        "where": where,
        "node": doing.node,
        "tokens": counted(doing.tokens, "token") if doing.tokens else "",
        "cost": f"{doing.cost:.4f} spent" if doing.cost else "",
        "time": clock(seconds),
        "left": left,
    }
    what = "stopping after this step" if doing.stopping else doing.what
    needed = len(what) + 3 if doing.stopping else 0
    for least in ("nothing", "cost", "tokens", "left", "node"):
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


def clock(seconds: float) -> str:
    """`4:05`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _joined(parts: dict[str, str]) -> str:
    return " · ".join(part for part in parts.values() if part)
