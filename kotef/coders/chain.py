"""The chain of coders: the next one takes over when a coder declines or finds nothing."""

import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

from kotef.coders.base import NO_TIME, Brief, Coder, CoderResult, failure_key
from kotef.coders.command.line import command_of, is_command, splits_text
from kotef.coders.command.presets import PRESETS
from kotef.deps import Emit
from kotef.errors import UsageError
from kotef.state import CoderTrial, Edits, StoppedBy, Usage

KNOWN: Final = ("fixers", "search", "model")
WITHOUT_MODEL: Final = "fixers,search"
"""The chain on a machine without an endpoint."""
WITH_MODEL: Final = "fixers,search:10s,model"
"""The default with an endpoint: ten seconds of search come before the model."""

SEARCH_SECONDS: Final = 60.0
"""CPU seconds of one search unless the chain names another (`search:10s`); wall time bounds it."""
_LONGER: Final = 4
"""Factor for the time of a search that ran out of time; at least the usual time."""

_LINK: Final = re.compile(r"(?P<place>[\w@%+.~/-]*/)?(?P<name>[a-z][a-z0-9_-]*)(?::(?P<seconds>\d+(?:\.\d+)?)s)?$")


class Link(NamedTuple):
    """One coder of a chain, as written."""

    name: str
    seconds: float | None
    """Wall time for one visit, CPU time for a search; None is the coder's own default."""
    command: str = ""
    """The command line of an agent as written, also `aider` or its path alone; empty for kotef's own coders."""


def longer(seconds: float) -> float:
    """More seconds for a search for which these were too few."""
    return max(SEARCH_SECONDS, _LONGER * seconds)


def parse_chain(text: str, *, extensions: Collection[str] | None = ()) -> tuple[Link, ...]:
    """`fixers,search:10s,aider` as links; UsageError names what is not understood.

    A part of several words, or with a placeholder, begins a command line; it continues to the end, its own commas
    included, so only the last link can be one. `extensions` are the names of further coders; None: the chain was read
    before, so any name is one.
    """
    links = []
    parts = text.split(",")
    for at, part in enumerate(parts):
        if is_command(part):
            links.append(_command(",".join(parts[at:]).strip()))
            break
        links.append(_named(part.strip(), text, extensions))
    names = [link.name for link in links]
    if len(set(names)) != len(names):
        raise UsageError(f"--coder {text}: a coder is named twice", hint="name each once, the cheapest first")
    return tuple(links)


def _named(part: str, text: str, extensions: Collection[str] | None) -> Link:
    match = _LINK.match(part)
    if match is None or not _is_known(match, extensions):
        known = ", ".join((*KNOWN, *PRESETS, *(extensions or ())))
        hint = f"coders are {known}, or a command line with {{brief}}; write a time as search:10s"
        raise UsageError(f"--coder: {part or text!r} is not understood", hint=hint)
    seconds = float(match["seconds"]) if match["seconds"] else None
    if seconds == 0:
        raise UsageError(f"--coder: {part!r} has no valid time", hint="write a time as search:10s")
    name = match["name"]
    return Link(name, seconds, f"{match['place'] or ''}{name}" if name in PRESETS else "")


def _is_known(match: re.Match[str], extensions: Collection[str] | None) -> bool:
    name = match["name"]
    if match["place"]:
        return name in PRESETS
    return extensions is None or name in KNOWN or name in PRESETS or name in extensions


def _command(line: str) -> Link:
    if len(line.splitlines()) > 1 or "\0" in line:
        raise UsageError("--coder: the command has several lines", hint="put them into a script, and name that")
    if splits_text(line):
        hint = 'end the quotes before it, "Solve: "{brief_text}; a script in quotes takes {brief}'
        raise UsageError("--coder: {brief_text} is inside quotes with other words", hint=hint)
    command = command_of(line)
    if command is None:
        known = f"coders are {', '.join((*KNOWN, *PRESETS))}"
        hint = f"{{brief}} is replaced by a file with the task, {{brief_text}} by its text; {known}"
        raise UsageError(f"--coder: `{line}` does not say where the brief goes", hint=hint)
    return Link(command.name, None, line)


@dataclass(frozen=True, slots=True)
class Chain:
    """Coders in order; within one visit the first that changes something ends it."""

    coders: tuple[Coder, ...]
    emit: Emit

    @property
    def name(self) -> str:
        """The names in order."""
        return ",".join(coder.name for coder in self.coders)

    @property
    def has_model(self) -> bool:
        """Whether a coder of the chain works with a model."""
        return any(coder.uses_model for coder in self.coders)

    def model_plans(self, tried: frozenset[CoderTrial]) -> bool:
        """Whether to plan with a model: a coder of the chain uses plans, and those without a model have been tried."""
        coders = {entry.coder for entry in tried}
        rest = [coder for coder in self.coders if coder.name not in coders]
        return self.has_model and all(coder.uses_model for coder in rest)

    async def work(self, brief: Brief) -> CoderResult:
        """Ask the coders in order until one has edited; hints are passed on."""
        visit, hints = brief.plan.visit, brief.hints
        coder_names: list[str] = []
        reasons: list[str] = []
        ended: StoppedBy = "exhausted"
        tried: frozenset[CoderTrial] = frozenset()
        usage = Usage()
        idle: Edits | None = None
        for number, coder in enumerate(self.coders, 1):
            question = CoderTrial(coder=coder.name, fingerprint=failure_key(brief.judged), tree=brief.tree)
            again = question in brief.tried and not coder.uses_model
            tried |= {question}
            why = "already tried this failure on exactly this tree" if again else coder.declines(brief)
            if not why:
                coder_names.append(coder.name)
                model_follows = any(after.uses_model for after in self.coders[number:])
                work = await coder.work(replace(brief, hints=hints, model_follows=model_follows))
                usage = Usage(by_call=usage.by_call | work.usage.by_call)
                hints = (*hints, *work.hints)
                if work.found:
                    edits = work.edits.model_copy(update={"asked": tuple(coder_names)})
                    return CoderResult(edits, usage, hints=hints, tried=tried)
                why = work.edits.detail
                idle = work.edits if coder.uses_model else idle
                ended = work.edits.stopped_by if work.edits.stopped_by == "search_time" else ended
            reasons.append(f"{coder.name}: {why}")
            self.emit("declined", visit=visit, coder=coder.name, why=why)
        if idle is not None:  # a model had its say, and may have another: nothing is exhausted yet
            idle = idle.model_copy(update={"asked": tuple(coder_names)})
            return CoderResult(idle, usage, found=False, hints=hints, tried=tried)
        if any(NO_TIME in reason for reason in reasons):
            ended = "time"
            reasons.append(f"the time left of {brief.task.limits.max_time:g} s (--max-time) is reserved for judging")
        edits = Edits(
            visit=visit,
            coder=self.name,
            stopped_by=ended,
            detail="; ".join(reasons),
            asked=tuple(coder_names),
        )
        return CoderResult(edits, usage, found=False, hints=hints, tried=tried)
