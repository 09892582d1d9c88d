"""The tape: the protocol of recorder and player between a run and the outside world."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

from kotef.checks.baselines import Baselines
from kotef.checks.types import CommandResult
from kotef.coders.base import Coder
from kotef.deps import Approval, Clock
from kotef.events import RecordedEvent
from kotef.tools.toolset import Kit
from kotef.workspace import Snapshots

if TYPE_CHECKING:
    from kotef.deps import Models

Run = Callable[[], Awaitable[CommandResult]]


class CommandKey(NamedTuple):
    """Which command this is, as a later run can tell it again."""

    kind: Literal["check", "command"]
    name: str
    """Its purpose, such as `visit-1-pytest-alone`; empty for a command of the coder."""
    command: str


class Tape(Protocol):
    """Everything that is not decided by code goes through it: models, commands, and tools that reach outside."""

    def begin(self, clock: Clock, snapshots: Snapshots, kit: Kit) -> None:
        """The run begins, or continues, in this process."""
        ...

    def see(self, event: RecordedEvent) -> None:
        """Watch an event: it says in which visit, and for which node, a model is called."""
        ...

    def baselines(self, store: Baselines) -> Baselines:
        """The baselines of earlier runs that may stand for this one's."""
        ...

    def coder(self, coder: Coder) -> Coder:
        """A coder whose work is one effect: it starts processes of its own."""
        ...

    def approval(self, given: Approval | None) -> Approval | None:
        """The person beside the run, where there is one."""
        ...

    def models(self, models: "Models") -> "Models":
        """The models that are asked."""
        ...

    def window(self, tokens: int | None) -> int | None:
        """How many tokens the model reads at once, as far as the settings say."""
        ...

    def read_at_once(self, tokens: int) -> None:
        """Note how many tokens the model reads at once."""
        ...

    async def command(self, ran: CommandKey, run: Run) -> CommandResult:
        """One command of a check or a coder, which `run` would run."""
        ...

    async def tool(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """One tool call, which `handler` would make."""
        ...
