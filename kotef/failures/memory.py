"""Memory of what earlier runs learnt about the failures of this one."""

from collections.abc import Collection, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.failures.outcomes import Outcome
from kotef.failures.plural import counted
from kotef.failures.quoting import plain, quoted

MAX_RUNS: Final = 20
"""Earlier runs kept, the newest."""

MAX_BYTES: Final = 1_500
"""Bytes of the shown text, in UTF-8: 500 tokens at three bytes each, fewer than text or code has on average."""

_TEXT: Final = 160
_FILES: Final = 5
_ATTEMPTS: Final = 3


class EarlierAttempt(BaseModel):
    """One attempt of an earlier run."""

    model_config = ConfigDict(frozen=True)

    visit: int
    what: str
    """The plan in its own words; a claim. Empty if it was not recorded."""
    changed: tuple[str, ...] = ()
    ended: str = ""
    """The result of its verification."""


class Memory(BaseModel):
    """One earlier run of this workspace, as far as a later one can learn from it.

    Source: `runs.memory`, from the run store and the issue log. Every text comes from models, tools and people, and
    the files from a repository that may be hostile: it is shown as data.
    """

    model_config = ConfigDict(frozen=True)

    run_id: str
    date: str
    """UTC, ISO 8601; when it ended."""
    outcome: Outcome
    sentence: str
    fingerprints: tuple[str, ...]
    """Fingerprints of all its failures, including the baseline's."""
    tried: tuple[EarlierAttempt, ...] = ()


def recall(memories: Sequence[Memory], fingerprints: Collection[str]) -> tuple[Memory, ...]:
    """The earlier runs that saw one of these failures, newest first. Pure."""
    seen = [memory for memory in memories if not set(memory.fingerprints).isdisjoint(fingerprints)]
    return tuple(sorted(seen, key=lambda memory: (memory.date, memory.run_id), reverse=True))


def tell(memories: Sequence[Memory], fingerprints: Collection[str]) -> str:
    """What earlier runs tried against these failures and how it ended, at most `MAX_BYTES`; empty when none did.

    Whole lines only, the newest run first, and of a run its newest attempts. No text in it can start a line, end the
    quotation it stands in, or look like a mark of a prompt.
    """
    lines: list[str] = []
    left = MAX_BYTES - 60  # the last line, which says that there is more
    known = recall(memories, fingerprints)
    for number, memory in enumerate(known):
        for line in _lines(memory, fingerprints):
            left -= len(line.encode()) + 1
            if left < 0:
                rest = f"(cut here; {counted(len(known) - number, 'earlier run')} shortened)"
                return "\n".join([*lines, rest])
            lines.append(line)
    return "\n".join(lines)


def _lines(memory: Memory, fingerprints: Collection[str]) -> list[str]:
    same = ", ".join(name for name in memory.fingerprints if name in fingerprints)
    run, ended = f"{plain(memory.run_id, 40)}, {plain(memory.date, 20)}", quoted(memory.sentence, _TEXT)
    head = f"- seen before in run {run} (fingerprint {plain(same, 80)}); it ended {memory.outcome}, {ended}"
    return [head, *(_attempt(tried) for tried in reversed(memory.tried[-_ATTEMPTS:]))]


def _attempt(tried: EarlierAttempt) -> str:
    files = ", ".join(plain(path, 80) for path in tried.changed[:_FILES]) or "nothing"
    more = f" and {len(tried.changed) - _FILES} more" if len(tried.changed) > _FILES else ""
    what = f" {quoted(tried.what, _TEXT)};" if tried.what else ""
    ended = f"; then {quoted(tried.ended, _TEXT)}" if tried.ended else ""
    return f"  - tried:{what} changed {files}{more}{ended}"
