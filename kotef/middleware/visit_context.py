"""Context of one visit of the model coder: what the guards of the inner loop share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from kotef.context.seen_files import Known
from kotef.deps import RunContext
from kotef.middleware.answer_recorder import Hear
from kotef.middleware.conversation import AnsweredCalls
from kotef.middleware.effect_log import Effects
from kotef.settings import Limits
from kotef.tools.stash import Stash


@dataclass(frozen=True, slots=True)
class VisitContext:
    """One visit, in its run. The guards hold no count of their own: all is taken from the conversation."""

    context: RunContext
    number: int
    """The number of the visit."""
    limits: Limits
    """Those of the run, as far as the role of the coder does not narrow them."""
    effects: Effects
    """Which effects of tools have happened already."""
    tools: tuple[str, ...]
    """Names of the tools offered."""
    effectful: frozenset[str] = frozenset()
    """Those among them that are not in the registry and may change anything: the tools of MCP servers."""
    stash: Stash | None = None
    """Where texts are kept that are cut; None if the model is offered no tool to read them."""
    known: Known = field(default_factory=Known)
    """In which states the model has seen the files."""
    permit: Callable[[str], Awaitable[None]] | None = None
    """Asks a person about a command line, where one has to be; None: no one is."""
    calls: AnsweredCalls = field(default_factory=AnsweredCalls)
    """Of the conversation so far."""
    hear: Hear | None = None
    """Who keeps the run's record, or plays it; None: no one does."""
