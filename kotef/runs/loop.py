"""Loop of a run: through the graph to an ending, whatever happens."""

import asyncio
import contextlib
import logging
import os
import signal
import sqlite3
import traceback
from typing import Any, Final

from langgraph.errors import GraphBubbleUp

from kotef.checks.verification import Verification
from kotef.deps import Deps
from kotef.errors import KotefError, ModelError, NoSpaceError, QuitError, SandboxError, SetupError, WorkspaceError
from kotef.failures.history import FailureHistory
from kotef.files import os_fault
from kotef.graph import Graph, build_graph, recursion_limit
from kotef.models.structured_output import RungMemory
from kotef.nodes.decide import Ending
from kotef.nodes.restore_best import put_again
from kotef.nodes.restore_environments import close_off_environments, commands_may_write
from kotef.nodes.untracked_files import remember_unheld
from kotef.redaction import redactor
from kotef.runs.checkpoints import checkpoints, forget_conversations, prepared
from kotef.runs.coder_chain import build_chain
from kotef.runs.exports.importer import TAKEN_UP
from kotef.runs.finish import finish
from kotef.runs.result import Result
from kotef.runs.session import RunSession
from kotef.runs.store import RunDir
from kotef.sdd.issue_log import timestamp
from kotef.state import AgentState, Usage
from kotef.tools.external_tools import Outside
from kotef.workspace import read_untracked, remember_environments

log = logging.getLogger("kotef")

MCP_UNCONFINED: Final = "MCP servers run outside the sandbox: only bwrap confines them (--sandbox bwrap)"
_REASONS: Final = {SandboxError: "no_sandbox", SetupError: "setup_failed"}


class RunLoop:
    """The graph, run by one process."""

    def __init__(self, session: RunSession) -> None:
        """Imports the models and the coders of the run."""
        self.session, self.context = session, session.context
        self.run, self.task = session.config.run, session.config.task
        self.models = session.tape.models(session.config.models(session.emit))
        self.models.answer_within(self.task.limits.max_call_time)
        self.models.keep_lessons(self.run.path)
        self.outside = self._outside()
        self.deps = self._deps()
        self.config: Any = {
            "configurable": {"thread_id": self.run.run_id},
            "recursion_limit": recursion_limit(self.task.limits.max_attempts),
        }

    async def go(self) -> Result:
        """Invoke the graph until it ends, however that happens, and write a result."""
        given = self.session.config.checkpointer
        async with contextlib.AsyncExitStack() as stack:
            own = None if given else await stack.enter_async_context(checkpoints(self.run.checkpoints))
            graph = build_graph(prepared(given) if given else own)
            known: dict[str, Any] = {}
            if self.session.baseline is None:
                known = (await graph.aget_state(self.config)).values
                if baseline := known.get("baseline"):
                    close_off_environments(baseline, self.context)
                self.context.clock.catch_up(known.get("usage", Usage()).total.seconds)
                spent = known.get("failure_history", FailureHistory()).attempts
                self.session.announce(resumed=True, outcome=known.get("outcome"), attempt=spent + 1)
            try:
                ending = await self._invoke(graph, known)
                if ending is None and own is not None:
                    with contextlib.suppress(sqlite3.OperationalError):  # a full disk: they only take up room
                        await forget_conversations(own, self.run.run_id)
            finally:
                await self.outside.aclose()
                await self.models.aclose()
            return self._finish(await self._state(graph), ending)

    async def follow(self, graph: Graph) -> Result:
        """Like `go`, within a graph whose state someone else keeps, such as LangGraph Studio.

        Cancelled, it leaves its result all the same, and stays cancelled; stopped at a breakpoint it leaves none.
        """
        state, ending = self._whole({}), None
        config: Any = {"recursion_limit": self.config["recursion_limit"]}
        try:
            await self.session.prepare_workspace()
            given: Any = {"task": self.task}
            async for values in graph.astream(given, config, context=self.deps, stream_mode="values"):
                state = self._whole(values)
        except GraphBubbleUp:
            raise
        except asyncio.CancelledError:
            self._finish(state, self._interrupted())
            raise
        except Exception as error:  # noqa: BLE001  as in `_invoke`
            ending = self._outcome_of(error)
        finally:
            await self.outside.aclose()
            await self.models.aclose()
        return self._finish(state, ending)

    async def _invoke(self, graph: Graph, known: dict[str, Any]) -> Ending | None:
        """Run the graph; None if it ended by itself, else the ending that stopped it from outside."""
        if self.session.signals.number:  # it came while the frameworks were imported, or the checkpoints opened
            return self._interrupted()
        self.session.signals.catch(asyncio.current_task())
        try:
            if self.session.baseline is None:
                await self.session.prepare_workspace()
            given: Any = {"task": self.task}
            if known:
                await self._reopen(graph, known)
                given = None
            await graph.ainvoke(given, self.config, context=self.deps, durability="sync")
        except asyncio.CancelledError:
            return self._interrupted()
        except QuitError as error:
            return Ending("interrupted", "quit", str(error))
        except Exception as error:  # noqa: BLE001  the promise: every run ends with an outcome and an entry
            return self._outcome_of(error)
        finally:
            self.session.signals.catch(None)  # what is left is short, and must not be cut off
        return None

    async def _reopen(self, graph: Graph, known: dict[str, Any]) -> None:
        """Make a run that had ended go on at its planner.

        Where the baseline was broken it is taken again; an edit that was set aside as ambiguous is put in place again,
        and judged again; the tree of a visit that a person lets go on is put in place again, too.
        """
        outcome = known.get("outcome")
        update: dict[str, Any] = {}
        if baseline := self._baseline_here(known):
            update["baseline"] = baseline
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
            # the start takes the input's channels alone: the others are reset by a node after which nothing follows
            await graph.aupdate_state(self.config, update | {"baseline": None}, as_node="snitch")
            update, node = {"task": self.task}, "__start__"
        elif known.get("reason") == "ambiguous_repair":
            trees, visit = known["snapshots"], known["edits"].visit
            self.context.snapshots.restore(trees[visit], last=trees[0], modes=self.context.snapshots.modes(trees[0]))
            node = "coder"
        elif self.task.goes_on_from:
            state = await self._state(graph)
            put_again(state, self.context)
        await graph.aupdate_state(self.config, update, as_node=node)

    def _baseline_here(self, known: dict[str, Any]) -> Verification | None:
        """The baseline of an imported run, with files outside snapshots read again, because the machine is another."""
        mark = self.run.path / TAKEN_UP
        baseline: Verification | None = known.get("baseline")
        if not mark.exists() or baseline is None:
            return None
        mark.unlink()
        snapshots = self.context.snapshots
        before = read_untracked(snapshots, baseline.unheld)
        environments = remember_environments(
            snapshots,
            snapshots.paths(baseline.tree),
            opened=before.environments.open if before else (),
            writable=commands_may_write(self.context),
        )
        unheld = remember_unheld(self.task, baseline.tree, self.context, environments=environments)
        here = baseline.model_copy(update={"unheld": unheld})
        close_off_environments(here, self.context)
        return here

    def _outside(self) -> Outside:
        """The tools outside the workspace that the person allowed; imported only if needed."""
        web, servers = None, None
        if self.task.web:
            from kotef.web import Web

            web = Web(self.task.web_search_url)
        config = self.session.config
        if config.servers:
            from kotef.mcp_client import Servers

            sandbox = config.confined.opened
            if sandbox.level == "landlock" and any(server.type == "stdio" for server in config.servers):
                self.context.emit("notice", text=MCP_UNCONFINED)

            def notice(text: str) -> None:
                self.context.emit("notice", text=text)

            servers = Servers(config.servers, config.root, self.run.logs, notice, sandbox)
        return Outside(web, servers)

    def _deps(self) -> Deps:
        chain = build_chain(self.session, self.models, self.outside)
        return Deps(self.context, chain, self.models, RungMemory(), self.session.baseline)

    async def _state(self, graph: Graph) -> AgentState:
        """The checkpointed state, with empty values for channels that were never written."""
        return self._whole((await graph.aget_state(self.config)).values)

    def _whole(self, found: dict[str, Any]) -> AgentState:
        empty: AgentState = {
            "task": self.task,
            "failure_history": FailureHistory(),
            "usage": Usage(),
            "snapshots": {},
            "tried": frozenset(),
            "visits": {},
        }
        return {**empty, **found}  # type: ignore[typeddict-item]

    def _finish(self, state: AgentState, ending: Ending | None) -> Result:
        if ending is None:
            outcome = state.get("outcome")
            assert outcome is not None  # noqa: S101  the graph ends nowhere else
            ending = Ending(outcome, state.get("reason", ""), state.get("sentence", ""))
        else:
            self.context.emit("ended", outcome=ending.outcome, reason=ending.reason, sentence=ending.sentence)
        return finish(
            self.run,
            state,
            ending,
            self.context,
            priced=self.models.priced,
            started_at=_started(self.run),
            notices=self.session.config.notices,
            signal=self.session.signals.number,
        )

    def _interrupted(self) -> Ending:
        name = signal.Signals(self.session.signals.number or signal.SIGINT).name
        return Ending("interrupted", name, "stopped by a person or by the system")

    def _outcome_of(self, error: Exception) -> Ending:
        """The ending for an error; a defect leaves its traceback in the run directory."""
        if isinstance(error, ModelError):
            return Ending("model_unavailable", error.fault, str(error))
        if not (self.run.path / "task.json").exists():  # whatever the error is, this is why
            log.debug("the run ends because its directory is gone", exc_info=error)
            gone = f"{self.run.path}: the run's directory was deleted while it was at work; start it again"
            return Ending("environment_broken", "workspace", gone)
        full = isinstance(error, OSError) and error.errno in NoSpaceError.ERRNOS
        full = full or (isinstance(error, sqlite3.OperationalError) and "full" in str(error))
        if isinstance(error, NoSpaceError) or full:
            return Ending("environment_broken", "no_space", str(error))
        if isinstance(error, OSError) and error.filename is not None:
            log.debug("the run ends with an error of the operating system", exc_info=error)
            error = os_fault(os.fsdecode(error.filename), error)
        if isinstance(error, WorkspaceError):
            return Ending("environment_broken", "workspace", str(error))
        if isinstance(error, SandboxError | SetupError):
            return Ending("environment_broken", _REASONS[type(error)], str(error))
        if isinstance(error, KotefError):
            return Ending("environment_broken", type(error).__name__, str(error))
        trace = redactor().text("".join(traceback.format_exception(error)))
        (self.run.path / "traceback.txt").write_text(trace, encoding="utf-8")
        return Ending("crashed", type(error).__name__, f"a defect in kotef: {type(error).__name__}: {error}"[:400])


def _started(run: RunDir) -> str:
    """When the run began, from its id."""
    digits = run.run_id[:15]
    valid = len(digits) == 15 and digits.replace("-", "").isdigit()  # noqa: PLR2004  YYYYMMDD-HHMMSS
    if not valid:
        return timestamp()
    return f"{digits[:4]}-{digits[4:6]}-{digits[6:8]}T{digits[9:11]}:{digits[11:13]}:{digits[13:15]}Z"
