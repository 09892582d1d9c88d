"""A key that is not a channel is dropped in silence by langgraph, so the keys are held here."""

import typing

from langgraph.channels import BinaryOperatorAggregate

from kotef.graph import build_graph
from kotef.state import AgentInput, AgentState, CoderTrial, StateUpdate, Usage, merge_snapshots, merge_usage, union


def test_what_nodes_may_return_are_channels() -> None:
    assert set(StateUpdate.__annotations__) <= set(AgentState.__annotations__)
    assert set(StateUpdate.__annotations__) == set(AgentState.__annotations__) - set(AgentInput.__annotations__)


def test_the_input_has_no_channel_with_a_reducer() -> None:
    """Input goes through a reducer as if it were an update."""
    channels = build_graph().channels
    assert not any(isinstance(channels[name], BinaryOperatorAggregate) for name in AgentInput.__annotations__)


def test_every_reducer_is_idempotent_on_its_own_result() -> None:
    """A crash may run a node twice; the second update must change nothing."""
    usage = Usage.model_validate({"by_call": {"1/coder/0": {"tokens_in": 3}}})
    assert merge_usage(merge_usage(Usage(), usage), usage) == usage
    assert merge_snapshots(merge_snapshots({0: "a"}, {1: "b"}), {1: "b"}) == {0: "a", 1: "b"}
    tried = frozenset({CoderTrial(coder="search", fingerprint="f", tree="t")})
    assert union(union(frozenset(), tried), tried) == tried


def test_only_typed_updates_leave_a_node() -> None:
    from kotef.nodes import coder, planner, snitch, verifier

    for node in (coder.coder, planner.planner, snitch.snitch, verifier.verifier):
        assert typing.get_type_hints(node)["return"] is StateUpdate
