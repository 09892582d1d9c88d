"""Budgets as text: what is used of what is allowed."""

from typing import Final

_MINUTE: Final = 60
_THOUSAND: Final = 1_000
_MILLION: Final = 1_000_000


def clock(seconds: float) -> str:
    """`4:05`, `1:02:03`."""
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def time_used(seconds: float, allowed: float) -> str:
    """`3:05 of 10 min`; without the second part if no limit is known."""
    if not allowed:
        return clock(seconds)
    if allowed % _MINUTE:
        return f"{clock(seconds)} of {clock(allowed)}"
    return f"{clock(seconds)} of {int(allowed // _MINUTE)} min"


def tokens_used(tokens: int, allowed: int) -> str:
    """`12k of 2M tokens`."""
    if allowed:
        return f"{short(tokens)} of {short(allowed)} tokens"
    return "1 token" if tokens == 1 else f"{short(tokens)} tokens"


def cost_used(cost: float, allowed: float) -> str:
    """`0.0120 of 2 spent`; without a currency, because prices are configured without one."""
    return f"{cost:.4f} of {allowed:g} spent" if allowed else f"{cost:.4f} spent"


def short(number: int) -> str:
    """`950`, `12k`, `1.2M`."""
    for size, unit in ((_MILLION, "M"), (_THOUSAND, "k")):
        if number >= size:
            text = f"{number / size:.1f}" if number < 10 * size else f"{number // size}"
            return f"{text.removesuffix('.0')}{unit}"
    return str(number)
