"""A model is sent what it needs to make a call, and no more."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ConfigDict, Field

from kotef.tools.schema_minify import lean


class Part(BaseModel):
    """For readers of the code."""

    model_config = ConfigDict(extra="forbid")

    text: str = Field(description="what to put", min_length=1)


class Whole(BaseModel):
    """For readers of the code."""

    parts: list[Part] = Field(min_length=1)
    one: Part | None = None
    title: str = "t"
    default: int | None = Field(default=None, ge=0, description="a number")


def test_bounds_and_doc_strings_go_and_the_shape_stays() -> None:
    part = {
        "type": "object",
        "properties": {"text": {"type": "string", "description": "what to put"}},
        "required": ["text"],
    }
    assert lean(Whole.model_json_schema()) == {
        "type": "object",
        "properties": {
            "parts": {"type": "array", "items": part},
            "one": part,
            "title": {"type": "string"},
            "default": {"type": "integer", "description": "a number"},
        },
        "required": ["parts"],
    }


NAMES = st.sampled_from(["default", "title", "path", "properties", "items"])
SCHEMAS: st.SearchStrategy[dict[str, Any]] = st.recursive(
    st.just({"type": "string", "default": "x"}),
    lambda inner: (
        st.builds(lambda fields: {"type": "object", "properties": fields}, st.dictionaries(NAMES, inner))
        | st.builds(lambda items: {"type": "array", "items": items, "minItems": 1}, inner)
    ),
)


@given(SCHEMAS)
def test_no_argument_is_lost_and_twice_is_once(schema: dict[str, Any]) -> None:
    once = lean(schema)
    assert lean(once) == once
    assert len(json.dumps(once)) <= len(json.dumps(schema))
    assert _fields(once) == _fields(schema)


def _fields(schema: dict[str, Any]) -> list[str]:
    named = schema.get("properties", {})
    inner = [*named.values(), *([schema["items"]] if "items" in schema else [])]
    return [*named, *(name for one in inner for name in _fields(one))]
