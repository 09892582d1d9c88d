"""The history of visits: what each changed, fixed and broke, and whether the newest achieved anything new."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from pydantic import BaseModel, ConfigDict, Field

from kotef.failures.plural import counted
from kotef.failures.progress import Direction, compare
from kotef.failures.quoting import plain, quoted

MAX_UNITS: Final = 1_000
"""Units or paths kept in each list of a visit."""

MAX_SAID: Final = 300
"""Characters kept of a coder's words about its change."""
MAX_REASON: Final = 4000
"""Characters kept of its words if it changed nothing, because they may be the diagnosis a person needs."""

MAX_BYTES: Final = 1_500
"""Bytes of the shown text, in UTF-8: 500 tokens at three bytes each, fewer than text or code has on average."""

_SHARE: Final = 900
"""Bytes of that for the newest visit."""

_REST: Final = 60
"""Bytes reserved for the line that counts the omitted ones."""

_LEVELS: Final = ((10, 8, 160), (4, 3, 80), (2, 1, 0), (0, 0, 0))
"""How much of a visit is shown: paths, ids per list, characters of words; the first level is for the newest only."""


class Visit(BaseModel):
    """One judged visit, as later ones need it; visit 0 is the state before the run.

    Source: the planner, from the verification. Ids without a runner's report are read from its output (heuristic).
    """

    model_config = ConfigDict(frozen=True)

    visit: int = Field(ge=0)
    tree: str
    """The tree that was judged."""
    red: tuple[str, ...] = Field(default=(), max_length=MAX_UNITS)
    """Units that failed, went missing or were newly skipped, sorted."""
    whole: bool = True
    """False when `red` may be only a part of what is red among the tests that ran."""
    ran_all: bool = True
    """False when tests that could have broken were not run."""
    fingerprints: tuple[str, ...] = ()
    """Fingerprints of its failures, sorted; empty if every check was satisfied."""
    rank: tuple[bool, bool, int, int] = (True, False, 0, 0)
    """Its rank among the visits; see `checks.verification.rank`."""
    executed: int = 0
    """Tests that really ran."""
    changed: tuple[str, ...] = Field(default=(), max_length=MAX_UNITS)
    """Paths the coder changed in this visit."""
    foreign: tuple[str, ...] = Field(default=(), max_length=MAX_UNITS)
    """Paths that someone else changed meanwhile."""
    said: str = Field(default="", max_length=MAX_REASON)
    """The coder's words about its change, or why there is none, in one line; a claim."""
    stopped: str = ""
    """The guard or limit that ended it, in one line; empty when the coder came to an end itself."""
    idle: str = ""
    """Why it changed nothing, in one line, as far as code can tell."""
    fixed: tuple[str, ...] = Field(default=(), max_length=MAX_UNITS)
    """Units red before this visit and green after it."""
    broke: tuple[str, ...] = Field(default=(), max_length=MAX_UNITS)
    """Units red after this visit and not before it."""


def merge_visits(visits: dict[int, Visit], new: dict[int, Visit]) -> dict[int, Visit]:
    """Reducer of the `visits` channel: one update is one judged visit."""
    return visits | new


def before(visits: Mapping[int, Visit], number: int) -> Visit | None:
    """The visit judged last before this one; None when none was."""
    return visits[max(earlier)] if (earlier := [each for each in visits if each < number]) else None


def stalled(visits: Mapping[int, Visit], number: int) -> str:
    """Why this visit made no progress, as one sentence for a nudge; empty if it did, or if unknown. Pure.

    No change to the tree; a tree judged before, with the same failures; the same failures after a change; or all
    failures of the visit before and more. Strictly fewer than the visit before are something new, unless that very
    tree had been reached already.
    """
    now, last = visits.get(number), before(visits, number)
    if now is None or last is None:
        return ""
    direction, new = _compared(visits, last, now)
    seen = [each for each in visits.values() if each.visit < last.visit and each.tree == now.tree]
    if now.tree == last.tree and direction != "subset":
        undone = ": what it edited was put back before judging" if now.changed else ""
        return f"the last attempt changed no file{undone}."
    if any((each.red, each.fingerprints) == (now.red, now.fingerprints) for each in seen if each.fingerprints):
        return "the last attempt led back to a tree that was judged before, with the same failures."
    if direction == "equal" and now.fingerprints and last.fingerprints == now.fingerprints:
        return "the last attempt changed files, but exactly the same failures came back."
    if direction == "superset":
        some = ", ".join(plain(unit, 120) for unit in new[:3])
        return f"the last attempt fixed nothing, and more fails than before it: {some}."
    return ""


def _compared(visits: Mapping[int, Visit], last: Visit, now: Visit) -> tuple[Direction | None, Sequence[str]]:
    """Progress between two visits, and the new failures; None if either is partly unknown.

    Where one of the two did not run everything, only what was red before the run is compared.
    """
    if not (last.whole and now.whole and 0 in visits):
        return None, ()
    was, red = frozenset(last.red), frozenset(now.red)
    if not (last.ran_all and now.ran_all):
        common = frozenset(visits[0].red)
        was, red = was & common, red & common
    return compare(was, red).name, sorted(red - was)


def recount(visits: Mapping[int, Visit]) -> str:
    """What each attempt changed, fixed and broke, at most `MAX_BYTES`; empty before the first. Pure.

    One line for each, the newest first and in full; what has no room is counted. No text in
    it can start a line, end the quotation it stands in, or look like a mark of a prompt.
    """
    attempts = [visits[number] for number in sorted(visits, reverse=True) if number]
    lines: list[str] = []
    left = MAX_BYTES - _REST
    for position, attempt in enumerate(attempts):
        room = left if position else _SHARE
        line = next((line for line in _ways(attempt, newest=not position) if len(line.encode()) < room), None)
        if line is None:
            return "\n".join([*lines, f"({counted(len(attempts) - position, 'earlier attempt')} left out)"])
        left -= len(line.encode()) + 1
        lines.append(line)
    return "\n".join(lines)


def _ways(attempt: Visit, *, newest: bool) -> Iterator[str]:
    """Versions of an attempt's line, each shorter than the one before."""
    for paths, ids, words in _LEVELS[0 if newest else 1 :]:
        claim = f"; it said {quoted(attempt.said, words)}" if words and attempt.said else ""
        changed = _listed(attempt.changed, paths, "nothing")
        fixed, broke = _listed(attempt.fixed, ids, "nothing"), _listed(attempt.broke, ids, "nothing")
        came_of_it = f"fixed {fixed}; broke {broke}; {len(attempt.red)} red"
        yield f"- attempt {attempt.visit}: changed {changed}; {came_of_it}{claim}"


def _listed(names: Sequence[str], most: int, nothing: str) -> str:
    if not names:
        return nothing
    if not most:
        return str(len(names))
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(plain(name, 120) for name in names[:most]) + more
