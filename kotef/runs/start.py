"""How does a run begin, go on after a kill, and always end?"""

import asyncio
import contextlib
import os
import signal
import sqlite3
import traceback
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from langchain_core.language_models import BaseChatModel

from kotef.checks.baselines import Baselines
from kotef.coders.chain import parse_chain
from kotef.context.prompts import Prompts
from kotef.deps import Ask, Clock, Deps, Emit
from kotef.errors import KotefError, ModelError, NoSpaceError, UsageError, WorkspaceError
from kotef.failures.counted import counted
from kotef.failures.history import FailureHistory
from kotef.failures.outcomes import RESUMABLE
from kotef.graph import Graph, build_graph, recursion_limit
from kotef.models.structured import RungMemory
from kotef.nodes.best import put_again
from kotef.nodes.decide import Ending
from kotef.runs.checkpoints import checkpoints, forget_conversations
from kotef.runs.events import EventLog, Watcher
from kotef.runs.finish import finish
from kotef.runs.result import Result
from kotef.runs.store import RunDir
from kotef.runs.workshop import Workshop
from kotef.sdd.issues import timestamp
from kotef.settings import Price
from kotef.state import VISIT_CAPS, AgentState, Task, Usage
from kotef.tools.kit import Kit
from kotef.tools.mcp.servers import Server
from kotef.tools.outside import Outside
from kotef.workspace.environment import child_environment
from kotef.workspace.lock import workspace_lock
from kotef.workspace.paths import state_dir
from kotef.workspace.snapshots import Snapshots


@dataclass(frozen=True, slots=True)
class Models:
    """Who is asked: the chat models of one run and what they cost."""

    coder: BaseChatModel | None = None
    """None when no coder of the chain needs one."""
    planner: BaseChatModel | None = None
    coder_price: Price | None = None
    planner_price: Price | None = None
    reviewer: BaseChatModel | None = None
    """None: the planner reviews."""
    reviewer_price: Price | None = None
    coder_name: str = "model"

    async def aclose(self) -> None:
        """Let go of the connections, where a model keeps some; the loop they belong to is about to end."""
        for model in (self.coder, self.planner, self.reviewer):
            if close := getattr(model, "aclose", None):
                await close()


@dataclass(frozen=True, slots=True)
class Setting:
    """Where and with whom one run works; nothing of it is checkpointed."""

    root: Path
    models: Callable[[Emit], Models]
    """Makes the models, which tell of their retries and of what takes over for them."""
    prompts: Prompts
    watchers: tuple[Watcher, ...] = ()
    notices: tuple[str, ...] = ()
    ask: Ask | None = None
    """Puts a question to the person at the terminal; None where there is nobody."""
    servers: tuple[Server, ...] = ()
    """MCP servers this run may start."""
    kit: Kit = field(default_factory=Kit)


def start(run: RunDir, task: Task, setting: Setting) -> Result:
    """Run `task` from its baseline to its ending.

    BusyError when another run works here, WorkspaceError when the run directory cannot be made; nothing else.
    """
    with workspace_lock(setting.root, run.run_id):
        run.create()
        run.write_task(task)
        return asyncio.run(_Loop(run, task, setting).go(resumed=False))


def resume(run: RunDir, task: Task, setting: Setting) -> Result:
    """Go on with a run that `may_resume` allows; `task` is its task with the limits now in force.

    BusyError when another run works here. An earlier ending is forgotten first, so that a kill finds none.
    """
    with workspace_lock(setting.root, run.run_id):
        run.write_task(task)
        run.forget_result()
        return asyncio.run(_Loop(run, task, setting).go(resumed=True))


def may_resume(run: RunDir, task: Task, changed: Task) -> None:
    """UsageError, with the reason and the way out, when a resume with the `changed` task could not change anything."""
    result, limits = run.result(), changed.limits
    if result is None or result.outcome in RESUMABLE - {"budget_exceeded"}:
        return
    if result.outcome in ("bounded_attempts_exceeded", "stuck"):
        used = result.failure_history.attempts
        granted = ", or --continue" if result.stopped_by in VISIT_CAPS else ""
        if limits.max_attempts <= used:
            raise UsageError(
                f"run {run.run_id} has used its {counted(used, 'attempt')}",
                hint=f"pass --max-attempts {min(20, used + 1)} or more{granted}",
            )
        if result.reason in ("nothing_left_to_try", "search_time_over") and not _somebody_new(task, changed):
            why = "each of its coders was asked about this failure on this very tree already"
            raise UsageError(f"run {run.run_id}: {why}", hint="name a model, or start a new run with `kotef run`")
    elif result.outcome == "budget_exceeded":
        if limits == task.limits:
            raise UsageError(f"run {run.run_id}: {result.sentence}", hint="raise that limit to go on")
    elif result.reason == "ambiguous_repair":
        if not changed.accept_ambiguous:
            raise UsageError(f"run {run.run_id}: {result.sentence}", hint="--accept-ambiguous keeps the edit as it is")
    else:
        why = "it is done" if result.done else "a person must act first; see its entry in .sdd/issues.md"
        raise UsageError(f"run {run.run_id} ended {result.outcome}: {why}", hint="start a new run with `kotef run`")


def _somebody_new(task: Task, changed: Task) -> bool:
    """Whether a coder is asked that was not: a model answers anew each time, the others do not."""
    before, now = ({link.name for link in parse_chain(each.coder)} for each in (task, changed))
    return "model" in now or not now <= before


class _Loop:
    """One process's share of a run."""

    def __init__(self, run: RunDir, task: Task, setting: Setting) -> None:
        self.run, self.task, self.setting = run, task, setting
        self.emit = EventLog(run.events, setting.watchers)
        self.signal = 0
        self.config: Any = {
            "configurable": {"thread_id": run.run_id},
            "recursion_limit": recursion_limit(task.limits.max_attempts),
        }

    async def go(self, *, resumed: bool) -> Result:
        """Invoke the graph, take whatever ends it, and leave a result."""
        async with checkpoints(self.run.checkpoints) as saver:
            graph = build_graph(saver)
            known = (await graph.aget_state(self.config)).values if resumed else {}
            used = known.get("usage", Usage()).total.seconds
            models = self.setting.models(self.emit)
            outside = self._outside()
            deps = self._deps(models, outside, Clock(self.task.limits.max_time, used=used))
            self._announce(known, resumed=resumed)
            try:
                async with self._signals():
                    ending = await self._invoke(graph, known, deps)
                    if ending is None:
                        with contextlib.suppress(sqlite3.OperationalError):  # a full disk: they only take up room
                            await forget_conversations(saver, self.run.run_id)
            finally:
                await outside.aclose()
                await models.aclose()
            state = await self._state(graph)
            return self._finish(state, ending, deps)

    async def _invoke(self, graph: Graph, known: dict[str, Any], deps: Deps) -> Ending | None:
        """None when the graph came to its own end; else the ending that stopped it from outside."""
        try:
            given: Any = {"task": self.task}
            if known:
                await self._reopen(graph, known, deps)
                given = None
            await graph.ainvoke(given, self.config, context=deps, durability="sync")
        except asyncio.CancelledError:
            return Ending(
                "interrupted", signal.Signals(self.signal or signal.SIGINT).name, "stopped by a person or by the system"
            )
        except Exception as error:  # noqa: BLE001  the promise: every run ends with an outcome and an entry
            return self._outcome_of(error)
        return None

    async def _reopen(self, graph: Graph, known: dict[str, Any], deps: Deps) -> None:
        """Make a run that had ended go on at its planner.

        Where the baseline was broken it is taken anew; an edit that was set aside as ambiguous is put in place again,
        and judged once more; the tree of a visit that a person lets go on is put in place again, too.
        """
        outcome = known.get("outcome")
        update: dict[str, Any] = {}
        if known["task"] != self.task:
            update["task"] = self.task
        if outcome is None:
            if update:
                await graph.aupdate_state(self.config, update)
            return
        update |= {"outcome": None, "reason": "", "sentence": "", "done": False}
        if edits := known.get("edits"):
            update["edits"] = edits.model_copy(update={"stopped_by": "aborted"})
        node = "verifier"
        if outcome == "environment_broken":
            update["baseline"] = None
            node = "__start__"
        elif known.get("reason") == "ambiguous_repair":
            trees, visit = known["snapshots"], known["edits"].visit
            deps.snapshots.restore(trees[visit], last=trees[0])
            node = "coder"
        elif self.task.goes_on_from:
            state = await self._state(graph)
            put_again(state, deps)
        await graph.aupdate_state(self.config, update, as_node=node)

    def _outside(self) -> Outside:
        """What the person has allowed beyond the workspace; nothing is imported for it else."""
        web, servers = None, None
        if self.task.web:
            from kotef.tools.web import fetch

            web = fetch.Web(self.task.web_search_url)
        if self.setting.servers:
            from kotef.tools.mcp.sessions import Servers

            root, logs = self.setting.root, self.run.logs
            servers = Servers(self.setting.servers, root, logs, lambda text: self.emit("notice", text=text))
        return Outside(web, servers)

    def _deps(self, models: Models, outside: Outside, clock: Clock) -> Deps:
        snapshots = Snapshots.open(self.setting.root)
        root, env = self.setting.root, child_environment(os.environ)
        baselines = Baselines(state_dir(root) / "baselines", root, env)
        shop = Workshop(
            self.setting.root,
            self.run,
            self.task,
            snapshots,
            self.setting.prompts,
            self.emit,
            clock,
            baselines,
            self.setting.ask,
            outside,
            self.setting.kit,
        )
        chain = shop.chain(models.coder, model_name=models.coder_name, price=models.coder_price)
        return Deps(
            root=self.setting.root,
            run_dir=self.run.path,
            snapshots=snapshots,
            run_check=shop.run_check,
            baselines=baselines,
            coder=chain,
            planner=models.planner,
            priced=models.coder_price is not None and models.planner_price is not None,
            planner_price=models.planner_price,
            reviewer=models.reviewer or models.planner,
            reviewer_price=models.reviewer_price if models.reviewer else models.planner_price,
            prompts=self.setting.prompts,
            rungs=RungMemory(),
            emit=self.emit,
            clock=clock,
        )

    def _announce(self, known: dict[str, Any], *, resumed: bool) -> None:
        if resumed:
            self.emit("run_resumed", run=self.run.run_id, outcome=known.get("outcome"))
        else:
            self.emit(
                "run_started",
                run=self.run.run_id,
                goal=self.task.goal,
                ticket=self.task.ticket.id if self.task.ticket else None,
                checks=[check.command for check in self.task.checks],
                coder=self.task.coder,
                model=self.task.model,
                sandbox="off",
            )
        for text in self.setting.notices:
            self.emit("notice", text=text)

    @contextlib.asynccontextmanager
    async def _signals(self) -> AsyncIterator[None]:
        """SIGINT and SIGTERM cancel the run once; a second one is the system's to answer."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None  # noqa: S101  asyncio.run made it

        def stop(number: signal.Signals) -> None:
            self.signal = number
            loop.remove_signal_handler(number)
            task.cancel()

        for number in (signal.SIGINT, signal.SIGTERM):
            with contextlib.suppress(ValueError, RuntimeError):  # not the main thread: somebody embeds us
                loop.add_signal_handler(number, stop, number)
        try:
            yield
        finally:
            for number in (signal.SIGINT, signal.SIGTERM):
                loop.remove_signal_handler(number)

    async def _state(self, graph: Graph) -> AgentState:
        """What is checkpointed, with the empty start of every channel that was never written."""
        found = (await graph.aget_state(self.config)).values
        empty: AgentState = {
            "task": self.task,
            "failure_history": FailureHistory(),
            "usage": Usage(),
            "snapshots": {},
            "tried": frozenset(),
            "visits": {},
        }
        return {**empty, **found}  # type: ignore[typeddict-item]

    def _finish(self, state: AgentState, ending: Ending | None, deps: Deps) -> Result:
        if ending is None:
            outcome = state.get("outcome")
            assert outcome is not None  # noqa: S101  the graph ends nowhere else
            ending = Ending(outcome, state.get("reason", ""), state.get("sentence", ""))
        else:
            self.emit("ended", outcome=ending.outcome, reason=ending.reason, sentence=ending.sentence)
        notices, started = self.setting.notices, _started(self.run)
        return finish(self.run, state, ending, deps, started_at=started, notices=notices, signal=self.signal)

    def _outcome_of(self, error: Exception) -> Ending:
        """The ending an error stands for; a defect leaves its traceback in the run directory."""
        if isinstance(error, ModelError):
            return Ending("model_unavailable", error.fault, str(error))
        full = isinstance(error, OSError) and error.errno in NoSpaceError.ERRNOS
        full = full or (isinstance(error, sqlite3.OperationalError) and "full" in str(error))
        if isinstance(error, NoSpaceError) or full:
            return Ending("environment_broken", "no_space", str(error))
        if isinstance(error, WorkspaceError):
            return Ending("environment_broken", "workspace", str(error))
        if isinstance(error, KotefError):
            return Ending("environment_broken", type(error).__name__, str(error))
        trace = "".join(traceback.format_exception(error))
        (self.run.path / "traceback.txt").write_text(trace, encoding="utf-8")
        return Ending("crashed", type(error).__name__, f"a defect in kotef: {type(error).__name__}: {error}"[:400])


def _started(run: RunDir) -> str:
    """When the run began, from its id."""
    digits = run.run_id[:15]
    valid = len(digits) == 15 and digits.replace("-", "").isdigit()  # noqa: PLR2004  YYYYMMDD-HHMMSS
    if not valid:
        return timestamp()
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[9:11]}:{digits[11:13]}:{digits[13:15]}Z"
