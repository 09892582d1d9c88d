import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.models.text_tool_calls import rescue_tool_calls, text_calls

KNOWN = {"view_file", "write_file"}


def rescued(text: str) -> list[tuple[str, dict[str, Any]]]:
    return [(call["name"], call["args"]) for call in rescue_tool_calls(text, KNOWN)]


VIEW = ("view_file", {"path": "a.py"})


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>\n{"name": "view_file", "arguments": {"path": "a.py"}}\n</tool_call>',
        'Let me look.\n<tool_call>{"name": "view_file", "arguments": "{\\"path\\": \\"a.py\\"}"}</tool_call>',
        "<tool_call>\n<function=view_file>\n<parameter=path>\na.py\n</parameter>\n</function>\n</tool_call>",
        "<function=view_file><parameter=path>a.py</parameter></function>",
        '<function=view_file>{"path": "a.py"}</function>',
        '<tool_call><name>view_file</name><arguments>{"path": "a.py"}</arguments></tool_call>',
        'So:\n<tool_call>\n<name> view_file </name>\n<arguments>\n{"path": "a.py"}\n</arguments>\n</tool_call>\n',
        "<tool_call><name>view_file</name><arguments><path>a.py</path></arguments></tool_call>",
        "<tool_call>\n<name>view_file</name>\n<parameters>\n<path>\na.py\n</path>\n</parameters>\n</tool_call>",
        'I will call:\n```json\n{"name": "view_file", "parameters": {"path": "a.py"}}\n```',
        '{"name": "view_file", "arguments": {"path": "a.py"}}',
        '[{"type": "function", "function": {"name": "view_file", "arguments": {"path": "a.py"}}}]',
        '<think>or <tool_call>{"name": "write_file", "arguments": {}}</tool_call></think>{"name": "view_file", "args": {"path": "a.py"}}',
    ],
)
def test_a_call_written_as_text_is_read(text: str) -> None:
    assert rescued(text) == [VIEW]


def test_several_calls_come_in_order_with_ids_of_their_own() -> None:
    one = '<tool_call>{"name": "view_file", "arguments": {"path": "a.py"}}</tool_call>'
    two = "<tool_call><function=write_file><parameter=path>b</parameter><parameter=content>\nx = 1\ny = 2\n</parameter></function></tool_call>"
    found = rescue_tool_calls(one + "\nand\n" + two, KNOWN)
    assert [(call["name"], call["args"]) for call in found] == [
        VIEW,
        ("write_file", {"path": "b", "content": "x = 1\ny = 2"}),
    ]
    assert len({call["id"] for call in found}) == 2


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "rm_rf", "arguments": {"path": "/"}}</tool_call>',
        "<function=rm_rf><parameter=path>/</parameter></function>",
        '{"name": "view_file"}',
        '{"name": "view_file", "arguments": ["a.py"]}',
        '{"name": "view_file", "version": "1.0", "arguments": {"path": "a.py"}}',
        'The call {"name": "view_file", "arguments": {"path": "a.py"}} would show it.',
        "plain words",
        "",
    ],
)
def test_what_is_no_call_of_a_known_tool_is_left(text: str) -> None:
    assert rescued(text) == []


@pytest.mark.parametrize(
    "whole",
    [
        '<tool_call>{"name": "write_file", "arguments": {"path": "a", "content": "one two"}}</tool_call>',
        "<function=write_file><parameter=path>a</parameter><parameter=content>one two</parameter></function>",
        '<function=write_file>{"path": "a", "content": "one two"}</function>',
        '<tool_call><name>write_file</name><arguments>{"path": "a", "content": "one two"}</arguments></tool_call>',
        "<tool_call><name>write_file</name><arguments><path>a</path><content>one</content></arguments></tool_call>",
        '```json\n{"name": "write_file", "arguments": {"path": "a", "content": "one two"}}\n```',
        '{"name": "write_file", "arguments": {"path": "a", "content": "one two"}}',
    ],
)
def test_no_part_of_a_call_is_a_call(whole: str) -> None:
    assert len(rescued(whole)) == 1
    for end in range(len(whole)):
        assert rescued(whole[:end]) == []


@pytest.mark.parametrize("tag", ["</parameter>", "</function>", "<parameter=content>x</parameter> y"])
def test_a_value_that_holds_a_tag_is_ambiguous_and_no_call(tag: str) -> None:
    assert rescued(f"<function=write_file><parameter=content>a {tag} b</parameter></function>") == []


def test_nothing_is_read_after_a_broken_call() -> None:
    whole = "<function=view_file><parameter=path>a.py</parameter></function>"
    assert rescued(f'{whole} <tool_call>{{"name": "write_file", "arg</tool_call> {whole}') == [VIEW]


def test_a_json_value_may_hold_any_tag() -> None:
    args = {"content": "</tool_call></function><tool_call>{}"}
    assert rescued(f"<tool_call>{json.dumps({'name': 'write_file', 'arguments': args})}</tool_call>") == [
        ("write_file", args)
    ]
    assert rescued(f"<function=write_file>{json.dumps(args)}</function>") == [("write_file", args)]


@given(
    st.dictionaries(
        st.text(max_size=8),
        st.text(max_size=20) | st.integers() | st.lists(st.text(max_size=5), max_size=3),
        max_size=4,
    )
)
@example_count(60)
def test_any_arguments_come_back_from_tagged_json(args: dict[str, Any]) -> None:
    written = json.dumps({"name": "write_file", "arguments": args})
    if "think>" not in written:
        assert rescued(f"I go.\n<tool_call>\n{written}\n</tool_call>") == [("write_file", args)]


@given(
    st.lists(
        st.sampled_from(
            [
                "<tool_call>",
                "</tool_call>",
                "<function=view_file>",
                "</function>",
                "<parameter=path>",
                "</parameter>",
                "<name>view_file</name>",
                "<arguments>",
                "</arguments>",
                '{"name": "view_file", "arguments": {}}',
                "```json\n",
                "```",
                "{",
                "x",
                "<think>",
                "</think>",
            ]
        ),
        max_size=14,
    )
)
@example_count(200)
def test_no_text_is_too_strange(parts: list[str]) -> None:
    assert all(call["name"] in KNOWN for call in rescue_tool_calls("".join(parts), KNOWN))


@pytest.mark.parametrize(
    "unit",
    [
        "<tool_call>",
        "<tool_call>{",
        "<function=a>",
        "<function=view_file><parameter=p>",
        "```\n",
        '<tool_call>{"a":',
        "<function=a>{",
        "<parameter=p></parameter>",
        "<function=a></function>",
        "<tool_call><name>a</name><arguments>",
        "<tool_call><name>a</name><arguments>{",
        "<tool_call><name>a</name><arguments><b>",
    ],
)
def test_rescue_takes_linear_time(unit: str) -> None:
    with bounded_cpu():
        rescued(unit * (200_000 // len(unit)))


@pytest.mark.parametrize(
    "call",
    [
        '```json\n{"name": "view_file", "arguments": {"path": "a"}}\n```',
        '<tool_call>{"name": "view_file", "arguments": {"path": "a"}}</tool_call>',
        "<function=view_file><parameter=path>a</parameter></function>",
    ],
)
def test_a_call_that_the_text_goes_on_after_is_quoted_and_not_made(call: str) -> None:
    assert len(rescue_tool_calls(f"I look at it:\n{call}\n<|im_end|>", {"view_file"})) == 1
    assert rescue_tool_calls(f"The README shows this:\n{call}\nbut I did not do that.", {"view_file"}) == []


@pytest.mark.parametrize(
    "text",
    [
        '<tool_call>{"name": "rm_rf", "arguments": {}}</tool_call>',
        "<tool_call><name>rm_rf</name><arguments>{}</arguments></tool_call>",
        "<function=rm_rf></function>",
        '{"name": "rm_rf", "arguments": {}}',
    ],
)
def test_a_call_of_an_unknown_tool_is_read_too(text: str) -> None:
    assert [call["name"] for call in text_calls(text).calls] == ["rm_rf"]


@pytest.mark.parametrize(
    ("text", "broken"),
    [
        ('<tool_call>{"name": "view_file", "arguments": {"path": </tool_call>', True),
        ('I look.\n<tool_call>{"name": "view_file", "argum', True),
        ("<tool_call><name>view_file</name><arguments>{path}</arguments></tool_call>", True),
        ("<function=view_file><parameter=path>a.py", True),
        ("<function=write_file><parameter=content>a </parameter> b</parameter></function>", True),
        ("A call begins with <tool_call> and ends with </tool_call>, which I did not use.", False),
        ("I changed what the plan asks for.", False),
        ('```json\n{"a": 1}\n```', False),
        ("", False),
    ],
)
def test_an_answer_that_ends_in_a_call_no_one_can_read_is_said_to(text: str, broken: bool) -> None:
    assert (text_calls(text).calls, text_calls(text).broken) == ([], broken)
