"""Which answers can a server send? An object whose parts have any shape, whole or in pieces."""

from typing import Any

from hypothesis import strategies as st
from support.any_json import any_json, texts

PARTS = st.lists(
    st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(("text", "thinking", "x", None)) | any_json(depth=1),
            "text": texts() | any_json(),
            "thinking": texts() | any_json(),
            "index": st.sampled_from((0, 1)) | any_json(depth=1),
        },
    ),
    max_size=3,
)
CONTENT = st.none() | texts() | PARTS | any_json()


def raw_calls() -> st.SearchStrategy[Any]:
    name = st.sampled_from(("view_file", "list_dir", "run_checks", "\x1b[31m", "\ud800")) | any_json(depth=2)
    written = st.sampled_from(("{}", '{"path": "calc.py"}', "[" * 5_000, "nul", '"\\ud800"', '{"path": "\\u0000"}'))
    function = st.fixed_dictionaries({}, optional={"name": name, "arguments": written | any_json()})
    one = st.fixed_dictionaries(
        {},
        optional={
            "id": st.sampled_from(("x", "x", "", None)) | any_json(depth=1),
            "index": st.sampled_from((0, 0, 1, None)) | any_json(depth=1),
            "type": st.just("function") | any_json(depth=1),
            "function": function | any_json(depth=2),
        },
    )
    return st.lists(one | any_json(depth=2), max_size=4) | any_json(depth=2)


@st.composite
def answers(draw: st.DrawFn, *, part: str = "message") -> dict[str, Any]:
    """An answer whose parts have any shape: whole, or, with `delta` for the part, one piece of a stream."""
    optional = {"content": CONTENT, "tool_calls": raw_calls(), "refusal": CONTENT, "reasoning_content": CONTENT}
    message = draw(st.fixed_dictionaries({"role": st.just("assistant")}, optional=optional))
    finish = draw(st.sampled_from(("stop", "tool_calls", "tool_calls", "length", "odd", None, 5)))
    usage = draw(st.sampled_from(({"prompt_tokens": 10, "completion_tokens": 2}, {}, None)) | any_json(depth=3))
    index = draw(st.just(0) | st.just(0) | any_json(depth=1))
    choice = {"index": index, "finish_reason": finish, part: message}
    return {"id": draw(texts()), "model": draw(texts()), "choices": [choice], "usage": usage}
