"""Many calls of one tool are one line; what failed is still told, and nothing twice."""

import io

import pyte
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from support.run_events import recorded

from kotef.cli.screen.live import Screen
from kotef.cli.screen.tool_calls import FinishedCall, call_lines


def viewed(*names: str, ok: bool = True) -> list[FinishedCall]:
    return [FinishedCall("view_file", name, ok, "" if ok else "no such file") for name in names]


def texts(*calls: FinishedCall, told: int = 0) -> list[str]:
    return [text for text, _ in call_lines(calls, told=told)]


def test_one_and_two_calls_have_a_line_each() -> None:
    assert texts(*viewed("a.py", "b.py")) == ["  ↳ view_file a.py ✓", "  ↳ view_file b.py ✓"]


def test_three_are_one_line() -> None:
    assert texts(*viewed("a.py", "b.py", "c.py")) == ["  ↳ view_file 3 times: a.py, b.py, c.py ✓"]


def test_what_failed_among_them_has_a_line_of_its_own() -> None:
    calls = [*viewed("a.py", "b.py"), *viewed("none.py", ok=False)]
    assert texts(*calls) == [
        "  ↳ view_file 3 times: a.py, b.py, none.py ✓ 2, ✗ 1",
        "      ✗ none.py no such file",
    ]


def test_what_was_told_already_is_not_told_again() -> None:
    calls = viewed("a", "b", "c", "d")
    assert texts(*calls, told=2) == ["  ↳ view_file 2 more: c, d ✓"]
    assert texts(*calls[:3], told=2) == ["  ↳ view_file c ✓"]


@given(st.lists(st.sampled_from(["view_file", "grep", "run_command"]), max_size=30), st.booleans())
def test_the_lines_count_exactly_the_calls_that_were_made(tools: list[str], ok: bool) -> None:
    lines: list[str] = []
    screen = Screen(max_attempts=3)
    screen.screen.print = lambda text, **_: lines.append(str(text))  # type: ignore[method-assign]
    with screen.watching():
        for at, tool in enumerate(tools):
            screen(recorded("tool_finished", visit=1, tool=tool, arguments=str(at), ok=ok))
    heads = [line for line in lines if line.startswith("  ↳ ")]
    words = [line.removesuffix(" ✓").split() for line in heads]
    counts = [int(found[2]) if found[3:4] and found[3].startswith(("times", "more")) else 1 for found in words]
    assert sum(counts) == len(tools)


def test_piped_the_first_two_are_told_at_once() -> None:
    lines: list[str] = []
    screen = Screen(max_attempts=3)
    screen.screen.print = lambda text, **_: lines.append(str(text))  # type: ignore[method-assign]
    for at in range(3):
        screen(recorded("tool_finished", visit=1, tool="grep", arguments=str(at), ok=True))
    assert lines == ["  ↳ grep 0 ✓", "  ↳ grep 1 ✓"]
    screen(recorded("nudge", visit=1, what="go on"))
    assert lines[2:] == ["  ↳ grep 2 ✓", "  nudge: go on"]


def test_what_is_told_is_no_longer_below_as_held_back() -> None:
    """rich draws what it drew last below each new line; between two of its frames a call stood there twice."""
    stream, seen = pyte.Stream(shown := pyte.Screen(80, 20)), io.StringIO()
    screen = Screen(max_attempts=3, screen=Console(file=seen, force_terminal=True, width=80, height=20))
    with screen.watching():
        screen(recorded("tool_finished", visit=1, tool="grep", arguments="add", ok=True))
        assert screen._live is not None
        screen._live.refresh()
        screen(recorded("nudge", visit=1, what="go on"))
        stream.feed(seen.getvalue())
        assert [line for line in shown.display if "grep" in line] == [f"{'  ↳ grep add ✓':80}"]
