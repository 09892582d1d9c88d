"""Recorded events for tests, of which only what a test is about needs to be said."""

import inspect
from types import UnionType
from typing import Any, get_args, get_origin

from hypothesis import strategies as st
from support.any_json import texts

from kotef.events import KINDS, RecordedEvent, RunEvent, UnreadEvent, parse_line


def recorded(name: str, at: float = 0.0, **facts: Any) -> RecordedEvent:
    """An event of this kind; the fields that are not named are empty."""
    found = parse_line({"n": 1, "t": at, "event": name, **facts})
    assert found is not None
    assert not isinstance(found.event, UnreadEvent), f"{name}: {facts}"
    return found


def event(name: str, **facts: Any) -> RunEvent:
    """The same without its place."""
    return recorded(name, **facts).event


def events() -> st.SearchStrategy[RunEvent]:
    """Any event of any kind, its fields of any values of their types."""
    return st.sampled_from(sorted(KINDS)).flatmap(lambda name: _event_of(KINDS[name]))


def _event_of(kind: type[RunEvent]) -> st.SearchStrategy[RunEvent]:
    declared = inspect.get_annotations(kind)
    return st.builds(kind, **{field: _value(declared[field]) for field in kind.field_names})


def _value(declared: Any) -> st.SearchStrategy[Any]:
    options = get_args(declared)
    if get_origin(declared) is UnionType:
        return st.one_of([_value(one) for one in options])
    if get_origin(declared) is tuple:
        return st.lists(_value(options[0]), max_size=3).map(tuple)
    if options:
        return st.sampled_from(options)
    known: dict[Any, st.SearchStrategy[Any]] = {
        type(None): st.none(),
        str: texts(),
        int: st.integers(0, 9) | st.integers(-(2**63), 2**63 - 1),
        float: st.floats(0, 9) | st.floats(allow_nan=False, allow_infinity=False),
        bool: st.booleans(),
    }
    return known[declared]
