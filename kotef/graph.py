"""The graph: which node works next. The whole loop, on one screen.

verifier (baseline) → planner → coder → verifier → planner → …, and snitch at the end of every run that did not succeed.
"""

from typing import Any, Literal

from langgraph.checkpoint.base import BaseCheckpointSaver
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph

from kotef.deps import Deps
from kotef.nodes.coder import coder
from kotef.nodes.planner import planner
from kotef.nodes.snitch import snitch
from kotef.nodes.verifier import verifier
from kotef.state import AgentInput, AgentState

Graph = CompiledStateGraph[AgentState, Deps, AgentInput, AgentState]


def build_graph(checkpointer: BaseCheckpointSaver[Any] | None = None) -> Graph:
    """The four nodes and their edges; without a checkpointer nothing survives the process."""
    graph = StateGraph(AgentState, context_schema=Deps, input_schema=AgentInput)
    graph.add_node("verifier", verifier)
    graph.add_node("planner", planner)
    graph.add_node("coder", coder)
    graph.add_node("snitch", snitch)
    graph.add_edge(START, "verifier")
    graph.add_edge("verifier", "planner")
    graph.add_conditional_edges("planner", after_planner)
    graph.add_edge("coder", "verifier")
    graph.add_edge("snitch", END)
    return graph.compile(checkpointer=checkpointer, name="kotef")


def after_planner(state: AgentState) -> Literal["coder", "snitch", "__end__"]:
    """A plan goes to the coder; an ending leaves the graph, through the snitch unless the run succeeded."""
    match state.get("outcome"):
        case None:
            return "coder"
        case "verified":
            return "__end__"
        case _:
            return "snitch"


def recursion_limit(max_attempts: int) -> int:
    """Most super-steps of a run: three per visit, plus the baseline, an unspent visit and the ending."""
    return 3 * (max_attempts + 2) + 4
