"""Broken arguments are mended where only their syntax is wrong, and nothing is ever closed or made up."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.models.json_repair import mend


def meant(text: str) -> Any:
    """What a text says once it is mended; ValueError where it says nothing."""
    mended = mend(text)
    if mended is None:
        raise ValueError(text)
    return json.loads(mended.text)


@pytest.mark.parametrize(
    ("text", "value", "changes"),
    [
        ('{"a": [1, 2,], "b": 3,}', {"a": [1, 2], "b": 3}, ("trailing comma",)),
        ("{'path': 'a.py'}", {"path": "a.py"}, ("single quotes",)),
        ("""{'say': 'a "b" \\'c\\''}""", {"say": "a \"b\" 'c'"}, ("escaped single quote", "single quotes")),
        ("{path: 1, max-depth : 2}", {"path": 1, "max-depth": 2}, ("key without quotes",)),
        ('{"a": True, "b": None, "c": false}', {"a": True, "b": None, "c": False}, ("literal of Python",)),
        ('{"text": "one\ntwo\tthree"}', {"text": "one\ntwo\tthree"}, ("control character in a string",)),
        ('{"a": 1, // the first\n "b": /* two */ 2} # end', {"a": 1, "b": 2}, ("comment",)),
        ('{"a": "it\\\'s"}', {"a": "it's"}, ("escaped single quote",)),
        ('{"url": "http://x/#y, }", "a": 1,}', {"url": "http://x/#y, }", "a": 1}, ("trailing comma",)),
        ('{"True": "None"}', {"True": "None"}, ()),
    ],
)
def test_wrong_syntax_is_mended_and_named(text: str, value: Any, changes: tuple[str, ...]) -> None:
    mended = mend(text)
    assert mended is not None
    assert (json.loads(mended.text), mended.changes) == (value, changes)


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "half',
        '{"a": [1, 2}',
        '{"a": 1',
        '{"a": 1}}',
        '{"a": 1,, "b": 2}',
        '{"a" 1}',
        '{"a": "say "hi" now"}',
        "{'a': 'don't'}",
        "{'a': 'it's', 'b': 'x's'}",
        '{"a": maybe}',
        '{"a": NaN}',
        '{"a": 1 2}',
        '{"a": "\\d+"}',
        '{"a": /* never closed }',
        '{"a": 1} and so on',
        "[,]",
        "{True}",
    ],
)
def test_what_is_more_than_syntax_is_left_alone(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  JSONDecodeError is one
        meant(text)


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-1000, 1000) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)


def sloppy(value: Any, draw: Any) -> str:
    """`value` as a careless model writes it; the rules it breaks are drawn."""
    space = draw(st.sampled_from(["", " ", "\n", " // } ' \"\n", "/* ] */"]))
    match value:
        case dict():
            inner = ",".join(f"{_key(key, draw)}{space}:{sloppy(one, draw)}" for key, one in value.items())
            return f"{{{inner}{draw(st.sampled_from(['', ','])) if value else ''}{space}}}"
        case list():
            inner = ",".join(sloppy(one, draw) for one in value)
            return f"[{inner}{draw(st.sampled_from(['', ','])) if value else ''}{space}]"
        case str():
            return space + _quoted(value, draw)
        case True | False | None if draw(st.booleans()):
            return f"{space}{value}"
        case _:
            return space + json.dumps(value)


def _key(key: str, draw: Any) -> str:
    return key if key.isascii() and key.isidentifier() and draw(st.booleans()) else _quoted(key, draw)


def _quoted(text: str, draw: Any) -> str:
    written = json.dumps(text)[1:-1]
    if draw(st.booleans()):
        written = written.replace("\\n", "\n").replace("\\t", "\t") if "\\\\" not in written else written
    return "'" + written.replace("'", "\\'") + "'" if draw(st.booleans()) else f'"{written}"'


@given(st.data())
@example_count(150)
def test_a_mended_text_says_what_was_meant(data: st.DataObject) -> None:
    value = data.draw(st.dictionaries(st.text(max_size=6), VALUES, max_size=3))
    assert meant(sloppy(value, data.draw)) == value


@given(st.data())
@example_count(80)
def test_what_is_open_is_never_closed(data: st.DataObject) -> None:
    """No beginning of an object is an object, however it is written."""
    value = data.draw(st.dictionaries(st.text(min_size=1, max_size=6), VALUES, min_size=1, max_size=3))
    text = sloppy(value, data.draw)
    cut = data.draw(st.integers(1, len(text.rstrip()) - 1))
    with pytest.raises(ValueError):  # noqa: PT011  JSONDecodeError is one
        meant(text[:cut])


@given(VALUES)
@example_count(80)
def test_json_is_left_as_it_is(value: Any) -> None:
    mended = mend(json.dumps(value))
    assert mended is not None
    assert (json.loads(mended.text), mended.changes) == (value, ())


@given(st.text(alphabet="{}[]:,'\"\\/*# \nTrueNoa1-.", max_size=40))
@example_count(200)
def test_any_text_has_an_answer_and_its_brackets_are_its_own(text: str) -> None:
    mended = mend(text)
    if mended is not None:
        assert all(mended.text.count(mark) <= text.count(mark) for mark in "{}[]:,")


@pytest.mark.parametrize("unit", ['"', "'", "{", "/*", "a:", "a ", '\\"', "#", '"\n', ",", "a" * 40, "1" * 40, " "])
def test_mending_takes_linear_time(unit: str) -> None:
    with bounded_cpu():
        mend(unit * (200_000 // len(unit)))
