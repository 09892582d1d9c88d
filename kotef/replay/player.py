"""The player: recorded answers for a replayed run, and the requests that have none."""

from collections import defaultdict, deque
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kotef.checks.baselines import Baselines, Facts, StoredBaseline
from kotef.checks.types import Check, CommandResult
from kotef.coders.base import Brief, Coder, CoderResult
from kotef.deps import Approval, Clock, Permission
from kotef.errors import UsageError
from kotef.events import RecordedEvent
from kotef.replay.record_types import (
    Agreed,
    Begun,
    Called,
    Commanded,
    Declined,
    Entry,
    Full,
    ModelCallRecord,
    ModelsRecord,
    Permitted,
    Reused,
    TreeRecord,
    WindowRecord,
    Worked,
    asked_of,
    digest_of,
)
from kotef.replay.recorder import Whereabouts, comes_from_outside, without_pid
from kotef.replay.tape import CommandKey, Run
from kotef.tools.toolset import Kit
from kotef.workspace import Snapshots

if TYPE_CHECKING:
    from kotef.deps import Models

MOST: Final = 50
"""Differences that are kept; one often brings others after it."""


class NeverHeardError(UsageError):
    """The run asks for what the record does not hold."""

    def __init__(self, what: str) -> None:
        super().__init__(f"{what} was never recorded", hint="the replay cannot continue from here")


@dataclass(frozen=True, slots=True)
class Divergence:
    """One thing that is not as it was."""

    visit: int
    what: str
    """In one line: which call, and how it differs."""


class Player:
    """Plays a record: nothing is asked, and nothing is run."""

    def __init__(self, record: Sequence[Entry], root: Path) -> None:
        """`root` is where the run works now."""
        self.root, self.where = root, Whereabouts()
        self.divergences: list[Divergence] = []
        self.over: NeverHeardError | None = None
        """Set once it was asked for what it does not have."""
        self._answers: defaultdict[tuple[int, str], deque[ModelCallRecord]] = defaultdict(deque)
        self._commands: defaultdict[tuple[str, str, str], deque[Commanded]] = defaultdict(deque)
        self._works: defaultdict[tuple[int, str], deque[Worked]] = defaultdict(deque)
        self._declined: defaultdict[tuple[int, str], deque[Declined]] = defaultdict(deque)
        self._tools: defaultdict[tuple[int, str, str], deque[Called]] = defaultdict(deque)
        self._effects: dict[int, str] = {}
        self._agreed: dict[int, tuple[str, ...] | None] = {}
        self._permitted: defaultdict[tuple[int, str], deque[Permission]] = defaultdict(deque)
        self._reused: deque[StoredBaseline] = deque()
        self._windows: list[int] = []
        self._asking: ModelsRecord | None = None
        self._begun: Begun | None = None
        self.full = False
        for line in record:
            self._take(line)
        self._before: dict[tuple[int, str], list[tuple[str, str]]] = {}
        self._clock: Clock | None = None
        self._snapshots: Snapshots | None = None

    def _take(self, line: Entry) -> None:
        match line:
            case ModelCallRecord():
                self._answers[line.visit, line.node].append(line)
            case Commanded():
                self._commands[line.of, line.name, line.command].append(line)
            case Worked():
                self._works[line.visit, line.coder].append(line)
            case Declined():
                self._declined[line.visit, line.coder].append(line)
            case Called():
                self._tools[line.visit, line.tool, line.arguments].append(line)
            case TreeRecord():
                self._effects[line.of] = line.tree
            case Agreed():
                self._agreed[line.visit] = line.steps
            case Permitted():
                self._permitted[line.visit, line.command].append(line.said)
            case Reused():
                self._reused.append(line.kept)
            case WindowRecord():
                self._windows.append(line.tokens)
            case ModelsRecord():
                self._asking = self._asking or line
            case Begun():
                self._begun = self._begun or line
                self._agreed = {visit: steps for visit, steps in self._agreed.items() if steps is not None}
            case Full():
                self.full = True

    @property
    def begun(self) -> Begun | None:
        """How the first process took up the run."""
        return self._begun

    def begin(self, clock: Clock, snapshots: Snapshots, kit: Kit) -> None:  # noqa: ARG002  as the protocol has it
        """Advance the clock by the recorded time."""
        self._clock, self._snapshots = clock, snapshots

    def see(self, event: RecordedEvent) -> None:
        """Where the run is."""
        self.where.see(event)

    def baselines(self, store: Baselines) -> Baselines:
        """The one that was taken over, if one was."""
        return _Played(store, self._reused)

    def coder(self, coder: Coder) -> Coder:
        """One that does what it did."""
        return _PlayedCoder(coder, self)

    def approval(self, given: Approval | None) -> Approval | None:  # noqa: ARG002  no one is asked
        """One that says what the person said; who quit and resumed has not quit. None if no one was asked."""
        if not (self._agreed or self._permitted):
            return None

        async def plan(visit: int, steps: Sequence[str]) -> tuple[str, ...] | None:
            return self._agreed.get(visit, tuple(steps))

        async def command(visit: int, line: str, _: str) -> Permission:
            answer = self._permitted[visit, line]
            if not answer:
                raise self._never(f"the answer about `{line[:200]}` in visit {visit}")
            return answer.popleft()

        return Approval(plan, command)

    def models(self, models: "Models") -> "Models":
        """One that answers for all, at the prices there were."""
        from kotef.deps import Models
        from kotef.replay.recorded_models import PlayedChatModel

        asking = self._asking
        if asking is None:
            return models
        model = PlayedChatModel(player=self)
        return Models(
            coder=model if asking.coder else None,
            planner=model if asking.planner else None,
            reviewer=model if asking.reviewer else None,
            coder_price=asking.coder_price,
            planner_price=asking.planner_price,
            reviewer_price=asking.reviewer_price,
            coder_name=asking.coder or "model",
        )

    def window(self, tokens: int | None) -> int | None:
        """The recorded context window."""
        return tokens or next(iter(self._windows), None)

    def read_at_once(self, tokens: int) -> None:
        """Note nothing: the record has it."""

    def answer(self, messages: Sequence[Any], tools: Sequence[Any]) -> ModelCallRecord:
        """The next answer there was; NeverHeardError where there was none."""
        if self.over is not None:
            raise self.over
        visit, node, call = self.where.next_call()
        answers = self._answers[visit, node]
        if not answers:
            raise self._never(f"call {call} of the {node} in visit {visit}")
        answer = answers.popleft()
        self._pass(answer.seconds)
        was = [*self._before.get((visit, node), ())[: answer.kept], *answer.request]
        self._before[visit, node] = was
        now = asked_of(messages, tools, str(self.root))
        if now != was:
            self.differs(visit, f"call {call} of the {node}: {_difference(was, now)}")
        return answer

    async def command(self, ran: CommandKey, run: Run) -> CommandResult:  # noqa: ARG002  it is not run
        """The recorded result of the command, including its file changes."""
        found = self._commands[ran.kind, without_pid(ran.name), ran.command]
        if not found:
            what = f"`{ran.command[:200]}`" + (f" ({ran.name})" if ran.name else "")
            raise self._never(f"the command {what} in visit {self.where.visit}")
        done = found.popleft()
        self._pass(done.result.seconds)
        self._have(done.n)
        return done.result

    async def tool(self, request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        """The recorded answer of an outside call; other calls are made."""
        from langchain_core.messages import ToolMessage

        call = request.tool_call
        if not comes_from_outside(call["name"], call["args"]):
            return await handler(request)
        found = self._tools[self.where.visit, call["name"], digest_of(call["args"])]
        if not found:
            raise self._never(f"the call of {call['name']} in visit {self.where.visit}")
        answer = found.popleft()
        self._have(answer.n)
        return ToolMessage(
            answer.content,
            tool_call_id=call["id"] or "",
            name=call["name"],
            status=answer.status,
            additional_kwargs=answer.marks,
        )

    def declined(self, visit: int, coder: str) -> str:
        """Whether such a coder had something to do."""
        found = self._declined[visit, coder]
        if not found:
            raise self._never(f"the coder {coder} in visit {visit}")
        return found.popleft().why

    def work(self, visit: int, coder: str) -> CoderResult:
        """Its recorded work."""
        found = self._works[visit, coder]
        if not found:
            raise self._never(f"the work of {coder} in visit {visit}")
        done = found.popleft()
        self._pass(done.seconds)
        self._have(done.n)
        return CoderResult(done.edits, done.usage, found=done.found, hints=done.hints, tried=done.tried)

    def differs(self, visit: int, what: str) -> None:
        """Note it; the run continues."""
        if len(self.divergences) < MOST:
            self.divergences.append(Divergence(visit, what))

    def _never(self, what: str) -> NeverHeardError:
        self.over = NeverHeardError(what)
        self.differs(self.where.visit, f"{what} was never recorded")
        return self.over

    def _pass(self, seconds: float) -> None:
        if self._clock is not None:
            self._clock.used += seconds

    def _have(self, number: int) -> None:
        """The files as they were after what has this number."""
        tree = self._effects.get(number)
        if tree and self._snapshots is not None:
            self._snapshots.restore(tree, last=self._snapshots.take())


def _difference(was: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> str:
    """The first part of a request that is another one."""
    with_tools = bool(now) and now[0][0] == "tools"
    for place, (old, new) in enumerate(zip(was, now, strict=False)):
        if old != new and "tools" in (old[0], new[0]):
            return "the tools offered are not as recorded"
        if old != new:
            return f"message {place + (not with_tools)} of the request ({new[0]}) is not as recorded"
    return f"the request has {len(now) - with_tools} messages, the recorded one {len(was) - with_tools}"


class _Played(Baselines):
    """No baseline but the one that stood for the run's."""

    def __init__(self, store: Baselines, reused: deque[StoredBaseline]) -> None:
        super().__init__(store.directory, store.root, {})
        self._reused = reused

    def find(self, tree: str, checks: Sequence[Check], *, reruns: int, ignored: Iterable[str]) -> StoredBaseline | None:  # noqa: ARG002  as above
        """The recorded baseline, if it was reused."""
        kept = self._reused.popleft() if self._reused else None
        if kept is not None:
            self.seconds = {check.name: result.seconds for check, result in kept.results}
        return kept

    def keep(self, *args: Any, **kwargs: Any) -> None:
        """Keep nothing: a replay says nothing about this machine."""

    def forget(self) -> None:
        """There is nothing of it."""

    def facts(self, paths: Iterable[str]) -> Facts:  # noqa: ARG002  as above
        """Nothing is compared."""
        return {}


class _PlayedCoder:
    """A coder that starts nothing."""

    def __init__(self, coder: Coder, player: Player) -> None:
        self._player = player
        self.name, self.uses_model = coder.name, coder.uses_model

    def declines(self, brief: Brief) -> str:
        """Its recorded answer."""
        return self._player.declined(brief.plan.visit, self.name)

    async def work(self, brief: Brief) -> CoderResult:
        """Its recorded work."""
        return self._player.work(brief.plan.visit, self.name)
