"""Material for a plan: what the planner sees of the repository, and the files of a plan that do not exist."""

import asyncio
import difflib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from kotef.deps import RunContext
from kotef.redaction import redactor
from kotef.state import AgentState, Task
from kotef.tools.planning_excerpts import MAX_EXCERPTS, planning_excerpts

_CREATES: Final = re.compile(r"\b(?:creat|add|new|introduc|generat|writ|mov|renam|split|extract)", re.IGNORECASE)
"""Words of a step that suggest a new file."""
_NEAREST: Final = 2
_SIMILAR: Final = 0.75
"""From 0 to 1, as in `difflib`."""


class UnknownFile(NamedTuple):
    """A file that a plan names and the workspace does not have."""

    name: str
    nearest: tuple[str, ...]
    """Files of the workspace with similar paths, the most similar first."""


async def excerpts_for(state: AgentState, context: RunContext, *, most: int = MAX_EXCERPTS) -> str:
    """Source around what fails, the diff so far and a map of the repository, at most `most` characters."""
    trees = state["snapshots"]
    patch = context.snapshots.patch(trees[0], trees[max(trees)]) if 0 in trees else ""
    words = planning_words(state["task"])
    failing = failing_words(state)
    text = await asyncio.to_thread(planning_excerpts, context.root, task=words, failing=failing, patch=patch, most=most)
    return redactor().whole(text)


def planning_words(task: Task) -> str:
    """The goal and what the ticket says about it."""
    ticket = task.ticket
    parts = [task.goal]
    if ticket is not None:
        parts += [ticket.title, ticket.objective, *ticket.affected, *(line.text for line in ticket.done)]
    return "\n".join(part for part in parts if part)


def failing_words(state: AgentState) -> Sequence[str]:
    """Summaries and ids of what fails, the newest first; before the first attempt those of the baseline."""
    texts = [text for entry in reversed(state["failure_history"].entries) for text in (entry.summary, *entry.tests)]
    baseline = state.get("baseline")
    if baseline is not None:
        texts += [text for check in baseline.checks if not check.satisfied for text in (check.summary, *check.failing)]
        texts += baseline.targets
    return texts


def unknown_files(steps: Iterable[tuple[str, Sequence[str]]], known: Collection[str]) -> Iterator[UnknownFile]:
    """The files of steps, each a description and its files, that are not among `known`; new ones are left out."""
    folders = {path[: at.start()] for path in known for at in re.finditer("/", path)}
    for description, files in steps:
        if _CREATES.search(description):
            continue
        for file in files:
            name = file.removeprefix("./").rstrip("/")
            if name and name not in known and name not in folders and not re.search(r"[*?\[]", name):
                near = difflib.get_close_matches(name, known, _NEAREST, _SIMILAR)
                yield UnknownFile(file, tuple(near or _same_name(name, known)))


def _same_name(name: str, known: Collection[str]) -> list[str]:
    """The files in other folders whose own names are equal or similar."""
    own = {path.rpartition("/")[2] for path in known}
    similar = difflib.get_close_matches(name.rpartition("/")[2], own, _NEAREST, _SIMILAR)
    return sorted(path for path in known if path.rpartition("/")[2] in similar)[:_NEAREST]
