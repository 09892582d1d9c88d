"""Context of one visit of the model coder: what the guards of the inner loop share."""

from collections.abc import Awaitable, Callable, Mapping
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
    """Limits of the run, narrowed by the coder's role."""
    effects: Effects
    """The log of tool effects."""
    tools: tuple[str, ...]
    """Names of the tools offered."""
    effectful: frozenset[str] = frozenset()
    """Those among them that are not in the registry and may change anything: tools of MCP servers and extensions."""
    stash: Stash | None = None
    """Storage of cut texts; None if the model has no tool to read them."""
    known: Known = field(default_factory=Known)
    """The states in which the model has seen files."""
    permit: Callable[[str], Awaitable[None]] | None = None
    """Asks a person about a command line; None: no one is asked."""
    calls: AnsweredCalls = field(default_factory=AnsweredCalls)
    """The tool calls of the conversation so far."""
    changes: Callable[[], Mapping[str, tuple[str, str]]] = dict
    """Files that the coder's tools and commands have changed since it was asked last, with the hashes of before and
    after."""
    planned: tuple[str, ...] = ()
    """Files that the plan names."""
    hear: Hear | None = None
    """The recorder or player of tool answers; None: neither."""
