"""The graph that LangGraph Studio opens.

Two nodes around the loop: `open` makes a run of a goal, as `kotef run` would here, and `work` goes through the loop of
`kotef.graph` with what nodes are handed at run time. That is made again in `work` and never leaves it: connections,
locks and clocks can be neither typed into a form nor kept in a checkpoint.
"""

import asyncio
from contextvars import copy_context
from dataclasses import replace
from typing import Any, Final, NotRequired

from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from typing_extensions import TypedDict

from kotef.cli.commands.run import run as command
from kotef.cli.run_setup import ready
from kotef.cli.screen import warn
from kotef.cli.workspace_option import workspace_of
from kotef.graph import Graph, build_graph
from kotef.redaction import know, redactor, scope
from kotef.runs import store
from kotef.runs.config import config_path, read_config
from kotef.runs.loop import RunLoop
from kotef.runs.result import Result
from kotef.runs.run_config import RunConfig
from kotef.runs.secret_sources import hide
from kotef.runs.session import open_session
from kotef.runs.signals import Signals
from kotef.state import Task
from kotef.telemetry import hide_secrets, observed, traced_by
from kotef.workspace import workspace_lock

LOOP: Final = build_graph()
"""Its state is kept by whoever keeps that of the graph around it."""


class StudioInput(TypedDict):
    """The task; everything else is as on a command line without options, in the server's directory."""

    goal: str
    ticket: NotRequired[str]
    checks: NotRequired[list[str]]


class StudioOutput(TypedDict):
    """The ending; the rest is in the run's directory."""

    run_id: str
    outcome: str
    sentence: str
    exit_code: int
    changed: list[str]
    issue: str | None


class StudioState(StudioInput, StudioOutput):
    """Input and output, and the run that is worked on."""

    task: Task


async def open_(state: StudioInput) -> dict[str, Any]:
    """Begin a run: its directory and its task. Raises the errors of `kotef run`."""
    with scope():
        config = (await _ready(state)).redacted()
        with workspace_lock(config.root, config.run.run_id):
            config.run.create()
            config.run.write_task(config.task)
    return {"task": config.task, "run_id": config.run.run_id}


async def work(state: StudioState) -> StudioOutput:
    """Go through the loop to its end; a thread that continues after a breakpoint comes back to the same run."""
    with scope():
        config, task = await _ready(state), state["task"]
        config = replace(config, run=store.at(config.root, task.run_id), task=task)
        with workspace_lock(config.root, task.run_id), observed(config, warn) as seen:
            result = await _follow(seen, LOOP)  # named here, for Studio to find it
    return {
        "run_id": result.run_id,
        "outcome": result.outcome,
        "sentence": result.sentence,
        "exit_code": result.exit_code,
        "changed": list(result.changed),
        "issue": result.issue,
    }


async def _follow(config: RunConfig, graph: Graph) -> Result:
    known = config.run.events.exists()
    # the baseline is the first node's, where it can be watched
    async with open_session(config, Signals(), begin=False) as session:
        session.announce(resumed=known)
        return await RunLoop(session).follow(graph)


async def _ready(state: StudioInput) -> RunConfig:
    """In a thread, where an endpoint may be asked for its models; the secrets it finds are known here, too."""
    checks = [f"--check={check}" for check in state.get("checks", ())]
    ticket = [f"--ticket={named}"] if (named := state.get("ticket")) else []
    options = command.make_context("run", [*checks, *ticket, "--", state["goal"]]).params
    context = copy_context()
    found = await asyncio.get_running_loop().run_in_executor(None, lambda: context.run(ready, options))
    know(context.run(redactor))
    return found


def build() -> CompiledStateGraph[StudioState, None, StudioInput, StudioOutput]:
    """The graph, without a checkpointer: the server brings its own."""
    made = StateGraph(StudioState, input_schema=StudioInput, output_schema=StudioOutput)
    made.add_node("open", open_)
    made.add_node("work", work)
    made.add_edge(START, "open")
    made.add_edge("open", "work")
    made.add_edge("work", END)
    return made.compile(name="kotef")


def _hide() -> None:
    """Whoever traces a thread takes its client before the first node, so what is secret here is hidden from it now.

    Raises `UsageError` for a configuration that cannot be read.
    """
    if traced_by():
        with scope():
            hide(workspace_of(None), read_config(config_path()))
            hide_secrets()


_hide()
graph = build()
"""The graph that `langgraph.json` names."""
