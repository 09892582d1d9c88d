"""Detection of a model that repeats itself."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from itertools import takewhile
from typing import Final, Literal

from kotef.classification import normalise
from kotef.failures.tool_calls import ToolUse

LoopKind = Literal["doom_loop", "cycle", "content_repeat"]

TIMES: Final = 3
"""Repetitions of the same call with the same result, of a cycle, or of the same content."""
IDENTICAL: Final = 4
"""Identical calls in a row that are a loop whatever their results."""
PERIODS: Final = range(2, 5)
"""Lengths of a cycle, in calls."""
FRUITLESS: Final = 8
"""Consecutive calls of one tool of which only the first brought anything new."""
SAYING: Final = 40
"""Least characters of repeated words that count as content."""
_SAMPLE: Final = 20
"""Lines at both ends of a result that are compared."""


@dataclass(frozen=True, slots=True)
class ToolLoop:
    """A loop that the newest call closes."""

    kind: LoopKind
    tool: str
    what: str
    """One line for people and models: `the same call with the same result, 3 times`."""
    turn: int


@dataclass(frozen=True, slots=True)
class Tools:
    """Names of tools by their nature."""

    editors: frozenset[str] = frozenset()
    """Tools that write their arguments."""
    polls: frozenset[str] = frozenset()
    """Tools that poll something that changes by itself; their calls neither make nor break a loop."""
    acts: frozenset[str] = frozenset()
    """Tools that change something, and may return nothing."""
    exact: frozenset[str] = frozenset()
    """Their results have no times and addresses of a run in them; lines are compared as they are, which costs less."""


def loop_in(calls: Sequence[ToolUse], tools: Tools, *, warned: int = 0) -> ToolLoop | None:
    """The loop that the newest calls close; None while there is none. Pure.

    `warned` is the turn that earned the last warning, 0 for none: what was done until then counts no more, so that a
    model that is warned gets the chance to leave its loop.
    """
    if not calls or calls[-1].turn <= warned or calls[-1].tool in tools.polls:
        return None
    seen = [call for call in calls if call.turn > warned and call.tool not in tools.polls]
    return _doom_loop(seen) or _cycle(seen) or _same_content(seen, tools) or _fruitless(seen, tools)


def _doom_loop(calls: Sequence[ToolUse]) -> ToolLoop | None:
    alike = list(takewhile(lambda call: _same_call(call, calls[-1]), reversed(calls)))
    equal = sum(1 for _ in takewhile(lambda call: _same_result(call, calls[-1]), alike))
    if equal >= TIMES:
        return _loop("doom_loop", calls[-1], f"the same call with the same result, {equal} times")
    if len(alike) >= IDENTICAL:
        return _loop("doom_loop", calls[-1], f"the same call {len(alike)} times, whatever the result")
    return None


def _cycle(calls: Sequence[ToolUse]) -> ToolLoop | None:
    for period in PERIODS:
        tail = calls[-period * TIMES :]
        if len(tail) == period * TIMES and all(
            _same_call(earlier, later) and _same_result(earlier, later)
            for earlier, later in zip(tail, tail[period:], strict=False)
        ):
            names = " → ".join(call.tool for call in tail[:period])
            return _loop("cycle", calls[-1], f"the cycle {names}, {TIMES} times with the same results")
    return None


def _same_content(calls: Sequence[ToolUse], tools: Tools) -> ToolLoop | None:
    """The same text written again and again, or the same words in answer after answer that found out nothing."""
    last = calls[-1]
    if last.tool in tools.editors and not last.failed:
        times = sum(_same_call(call, last) and not call.failed for call in calls)
        if times >= TIMES:
            return _loop("content_repeat", last, f"the same content written {times} times")
    return _same_words(calls, tools) if len(last.words) >= SAYING else None


def _same_words(calls: Sequence[ToolUse], tools: Tools) -> ToolLoop | None:
    turns = sorted({call.turn for call in calls})[-TIMES:]
    spoken = [call for call in calls if call.turn in turns]
    words = {" ".join(call.words.split()) for call in spoken}
    if len(turns) < TIMES or len(words) > 1 or not _nothing_new(spoken, tools):
        return None
    return _loop("content_repeat", calls[-1], f"the same words in {TIMES} answers, and no new information")


def _fruitless(calls: Sequence[ToolUse], tools: Tools) -> ToolLoop | None:
    run = list(takewhile(lambda call: call.tool == calls[-1].tool, reversed(calls)))[::-1]
    if len(run) < FRUITLESS or not _nothing_new(run[-FRUITLESS:], tools):
        return None
    return _loop("content_repeat", calls[-1], f"{calls[-1].tool} {FRUITLESS} times in a row without new information")


def _loop(kind: LoopKind, last: ToolUse, what: str) -> ToolLoop:
    return ToolLoop(kind, last.tool, what, last.turn)


def _same_call(one: ToolUse, other: ToolUse) -> bool:
    return one.tool == other.tool and one.arguments == other.arguments


def _same_result(one: ToolUse, other: ToolUse) -> bool:
    return one.result == other.result or normalise(one.result) == normalise(other.result)


def _nothing_new(calls: Sequence[ToolUse], tools: Tools) -> bool:
    """Whether every result after the first has only lines that stood in one before it; the newest is asked first.

    A command that did its work says so by silence: a new one, not red, is as good as news.
    """
    for number, call in enumerate(calls):
        acts = call.tool in tools.acts and not call.failed
        if number and acts and not any(_same_call(call, earlier) for earlier in calls[:number]):
            return False
    lines = [lines_of(without_echo(call), exact=call.tool in tools.exact) for call in calls]
    return all(lines[at] <= frozenset().union(*lines[:at]) for at in range(len(lines) - 1, 0, -1))


def without_echo(call: ToolUse) -> str:
    """The result; where it is one line, as when nothing was found, without what it repeats of the question."""
    if "\n" in call.result:
        return call.result
    values = sorted((value for value in call.arguments.values() if isinstance(value, str) and value), key=len)
    return reduce(lambda text, value: text.replace(value, "…"), reversed(values), call.result)


@lru_cache(maxsize=256)
def lines_of(result: str, *, exact: bool) -> frozenset[str]:
    """The lines that stand for a result when it is compared with others; `exact` ones are compared as they are."""
    lines = result.splitlines()
    ends = lines if len(lines) <= 2 * _SAMPLE else lines[:_SAMPLE] + lines[-_SAMPLE:]
    return frozenset(ends if exact else map(normalise, ends))
