"""A real run reads its checkpoints back as they were written, also without the strict mode the tests run in."""

import typing
from collections.abc import Iterator

from pydantic import BaseModel

from kotef.runs.checkpoints import STORED
from kotef.state import SCHEMA_VERSION, AgentState


def test_every_model_in_a_channel_may_be_read_back() -> None:
    """A type that is missing comes back as a plain dict; strict mode derives the list from the graph and hides it."""
    hints = typing.get_type_hints(AgentState, include_extras=True)
    models = {model for hint in hints.values() for model in _models(hint)}
    assert len(models) > 6
    assert {(model.__module__, model.__name__) for model in models} <= set(STORED)


def test_a_stored_class_that_moves_raises_the_schema_version() -> None:
    """A checkpoint names a class by its module: with another of either, runs of this schema could not be resumed."""
    names = sorted(f"{module.removeprefix('kotef.')}.{name}" for module, name in STORED)
    assert (SCHEMA_VERSION, names) == (
        2,
        [
            "checks.verification.Verification",
            "failures.history.FailureHistory",
            "failures.visit_history.Visit",
            "state.CoderTrial",
            "state.Edits",
            "state.Plan",
            "state.Task",
            "state.Usage",
        ],
    )


def _models(hint: object) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for part in typing.get_args(hint):
        yield from _models(part)
