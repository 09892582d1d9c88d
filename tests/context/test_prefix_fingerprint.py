"""What stands before the conversation has one name, and what changed in it has several."""

from hypothesis import given
from hypothesis import strategies as st

from kotef.context.prefix_fingerprint import Prefix

NAMES = st.sampled_from(["edit_file", "grep", "list_dir", "view_file"])
TOOLS = st.dictionaries(NAMES, st.text(max_size=5)).map(
    lambda tools: [
        {"type": "function", "function": {"name": name, "description": said}} for name, said in tools.items()
    ]
)


@given(st.text(), TOOLS, st.text(), TOOLS)
def test_it_has_changed_exactly_when_something_in_it_has(
    system: str, tools: list[dict], other: str, others: list[dict]
) -> None:
    one, two = Prefix.of(system, tools), Prefix.of(other, others)
    assert bool(two.changed(one)) == (system != other or tools != others)
    assert one.changed(Prefix.of(system, tools)) == ()
    assert one.length >= len(system)


def test_it_says_what() -> None:
    tools = [{"function": {"name": name}} for name in ("grep", "view_file")]
    before = Prefix.of("You code.", tools)
    assert Prefix.of("You plan.", tools).changed(before) == ("system prompt",)
    assert Prefix.of("You code.", tools[:1]).changed(before) == ("view_file",)
    assert Prefix.of("You code.", tools[::-1]).changed(before) == ("order of the tools",)
