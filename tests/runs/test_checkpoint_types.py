"""A real run reads its checkpoints back as they were written, also without the strict mode the tests run in."""

import typing
from collections.abc import Iterator

from pydantic import BaseModel

from kotef.runs.checkpoints import STORED
from kotef.state import AgentState


def test_every_model_in_a_channel_may_be_read_back() -> None:
    """A type that is missing comes back as a plain dict; strict mode derives the list from the graph and hides it."""
    hints = typing.get_type_hints(AgentState, include_extras=True)
    models = {model for hint in hints.values() for model in _models(hint)}
    assert len(models) > 6
    assert {(model.__module__, model.__name__) for model in models} <= set(STORED)


def _models(hint: object) -> Iterator[type[BaseModel]]:
    if isinstance(hint, type) and issubclass(hint, BaseModel):
        yield hint
    for part in typing.get_args(hint):
        yield from _models(part)
