"""Short lines for many calls of one tool."""

from collections.abc import Sequence
from typing import Final, NamedTuple

from kotef.cli.screen.sanitize import one_line
from kotef.events import ToolFinishedEvent

FOLDED: Final = 3
"""Consecutive calls of one tool that become one line."""
NAMED: Final = 4
"""Arguments that such a line names."""

Line = tuple[str, str]
"""Text and style."""


class FinishedCall(NamedTuple):
    """One tool call that has ended."""

    tool: str
    arguments: str
    ok: bool
    note: str

    @classmethod
    def of(cls, event: ToolFinishedEvent) -> "FinishedCall":
        """The call of a `tool_finished` event."""
        return cls(event.tool, event.arguments, event.ok, event.note)


def call_lines(calls: Sequence[FinishedCall], *, told: int = 0, width: int = 80) -> list[Line]:
    """Lines for consecutive calls of one tool, the first `told` of which are on the screen already.

    Three and more are one line, and one more for each that failed; arguments are cut to `width`.
    """
    left = calls[told:]
    if len(left) < FOLDED and not (told and len(left) > 1):
        return [_single(call, width) for call in left]
    failed = [call for call in left if not call.ok]
    names = list(dict.fromkeys(one_line(call.arguments, 40) for call in left if call.arguments))
    shown = ", ".join(names[:NAMED]) + (", …" if names[NAMED:] else "")
    marks = f"✓ {len(left) - len(failed)}, ✗ {len(failed)}" if failed else "✓"
    again = f"{len(left)} more" if told else f"{len(left)} times"
    head = (
        f"  ↳ {left[0].tool} {again}: {one_line(shown, width)} {marks}"
        if shown
        else f"  ↳ {left[0].tool} {again} {marks}"
    )
    return [(head, "red" if failed else ""), *(_failed(call, width) for call in failed)]


def _single(call: FinishedCall, width: int) -> Line:
    note = "" if call.ok else f" {one_line(call.note, 100)}"
    text = f"  ↳ {call.tool} {one_line(call.arguments, width)} {'✓' if call.ok else '✗'}{note}"
    return text, "" if call.ok else "red"


def _failed(call: FinishedCall, width: int) -> Line:
    return f"      ✗ {one_line(call.arguments, width)} {one_line(call.note, 100)}", "red"
