"""Notes on truncated output, and how the model reads the rest."""

from collections.abc import Callable
from typing import Final

from kotef.failures.plural import counted
from kotef.tools.errors import ToolFault
from kotef.tools.text import clip_line, clip_middle

Keep = Callable[[str], str]
"""Keeps a whole text and returns the id by which `view_truncated_output` shows it."""

MAX_WIDTH: Final = 2000
"""Characters of one line; a longer one continues in the next."""
MAX_VIEW: Final = 40_000
MAX_LINES: Final = 2000


def note(name: str) -> str:
    """The note in place of an omitted part."""
    return f"view_truncated_output {name} shows what was kept"


def clip_kept(text: str, limit: int, keep: Keep | None) -> str:
    """`clip_middle` that keeps what it cuts, where there is someone to keep it."""
    if len(text) <= limit or keep is None:
        return clip_middle(text, limit)
    return f"{clip_middle(text, limit)}\n[{note(keep(text))}]"


def view(text: str | None, name: str, lines: str) -> str:
    """The lines `first-last` (from 1) of a text that was kept under `name`. Raises `ToolFault`."""
    if text is None:
        raise ToolFault("exec_error", f"{clip_line(name, 40)}: no such output; an id looks like tr_abc234def567")
    first, last = _range(lines)
    wrapped = [line[at : at + MAX_WIDTH] for line in text.split("\n") for at in range(0, max(1, len(line)), MAX_WIDTH)]
    total = len(wrapped)
    if first > total:
        raise ToolFault("exec_error", f"{name} has {counted(total, 'line')}; {lines} is beyond the end")
    shown: list[str] = []
    size = 0
    for line in wrapped[first - 1 : min(last, first - 1 + MAX_LINES)]:
        size += len(line) + 1
        if size > MAX_VIEW and shown:
            break
        shown.append(line)
    end = first + len(shown) - 1
    more = f"\n[{counted(total - end, 'more line')}: range={end + 1}-{total}]" if end < total else ""
    return f"{name}: lines {first}-{end} of {total}\n" + "\n".join(shown) + more


def _range(lines: str) -> tuple[int, int]:
    first, _, last = (part.strip() for part in lines.partition("-"))
    if not first.isdecimal() or (last and not last.isdecimal()) or int(first) < 1 or (last and int(last) < int(first)):
        raise ToolFault("schema_reject", f"range {clip_line(lines, 40)!r} is not valid; a range looks like 1-400")
    return int(first), int(last) if last else int(first) + MAX_LINES - 1
