"""A value that was written as text becomes what the tool's schema asks for, or stays for the tool to refuse."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.models.coercion import coerced

TYPES = ["string", "integer", "number", "boolean", "null", "array", "object"]


def read(value: Any, **schema: Any) -> Any:
    return coerced({"x": value}, {"type": "object", "properties": {"x": schema}})["x"]


@pytest.mark.parametrize(
    ("value", "schema", "meant"),
    [
        ("5", {"type": "integer"}, 5),
        (" -5\n", {"type": "integer"}, -5),
        ("5.5", {"type": "integer"}, "5.5"),
        ("five", {"type": "integer"}, "five"),
        ("2.5e1", {"type": "number"}, 25.0),
        ("1e999", {"type": "number"}, "1e999"),
        ("nan", {"type": "number"}, "nan"),
        ("True", {"type": "boolean"}, True),
        ("yes", {"type": "boolean"}, "yes"),
        ("null", {"anyOf": [{"type": "number"}, {"type": "null"}]}, None),
        ("12", {"anyOf": [{"type": "number"}, {"type": "null"}]}, 12.0),
        ("12", {"type": ["string", "integer"]}, "12"),
        ("12", {}, "12"),
        ('["a"]', {"type": "array"}, ["a"]),
        ('{"a": 1}', {"type": "array"}, '{"a": 1}'),
        ('["half', {"type": "array"}, '["half'),
        ("[1]", {"type": "string"}, "[1]"),
        (5, {"type": "string"}, 5),
        ("null", {"type": "string"}, "null"),
    ],
)
def test_a_text_is_read_as_the_schema_says(value: Any, schema: dict[str, Any], meant: Any) -> None:
    found = read(value, **schema)
    assert (found, type(found)) == (meant, type(meant))


@given(st.text(max_size=30), st.sets(st.sampled_from(TYPES)))
@example_count(150)
def test_text_that_may_be_text_stays_and_nothing_is_too_strange(value: str, types: set[str]) -> None:
    found = read(value, type=sorted(types))
    assert found == value or "string" not in types


@given(st.integers(-(10**17), 10**17) | st.booleans() | st.lists(st.integers(0, 9), max_size=3))
def test_a_value_written_down_comes_back(value: Any) -> None:
    import json

    kind = {bool: "boolean", int: "integer", list: "array"}[type(value)]
    assert read(json.dumps(value), type=kind) == value
