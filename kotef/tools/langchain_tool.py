"""Adapter from a kotef tool to a langchain tool."""

from copy import deepcopy
from functools import lru_cache
from typing import Any

from langchain_core.tools import StructuredTool
from pydantic import BaseModel, PrivateAttr

from kotef.tools.schema_minify import lean


@lru_cache(maxsize=128)
def _lean_schema(arguments: type[BaseModel]) -> dict[str, Any]:
    """Made once for each class of arguments, though each visit binds its tools again."""
    return lean(arguments.model_json_schema())


class Lean(StructuredTool):
    """A tool whose schema has only what a model needs; invalid arguments return an error."""

    _described: dict[str, Any] | None = PrivateAttr(default=None)

    @property
    def tool_call_schema(self) -> dict[str, Any]:
        """The schema of the arguments, used in every request."""
        if self._described is None:
            assert isinstance(self.args_schema, type)  # noqa: S101  a row of ours
            assert issubclass(self.args_schema, BaseModel)  # noqa: S101  see above
            self._described = deepcopy(_lean_schema(self.args_schema))
        return self._described


class FromOutside(StructuredTool):
    """Hands its arguments over as one dictionary: a server may call them `config` or `self`, as langchain does."""

    def _to_args_and_kwargs(
        self,
        tool_input: str | dict[str, Any],
        tool_call_id: str | None,  # noqa: ARG002  part of the hook
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        return (tool_input,), {}
