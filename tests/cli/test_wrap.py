"""A line that is longer than the terminal breaks at blanks, and hangs below its words."""

import io

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from rich.markdown import Markdown
from rich.text import Text

from kotef.cli.screen.console import _Console
from kotef.cli.screen.wrap import wrapped

CONSOLE = Console(width=200)
WORDS = st.lists(st.text(alphabet="abcdé漢-/`", min_size=1, max_size=30), max_size=30)
LEADS = st.sampled_from(["", "  ", "    1. ", "  ↳ ", "ok      ", "missing ", "note: ", "        - "])


def lines(text: str, width: int) -> list[str]:
    return [line.plain for line in wrapped(Text(text), CONSOLE, width)]


@given(LEADS, WORDS, st.integers(10, 120))
def test_no_line_is_wider_than_the_terminal_and_no_word_is_lost(lead: str, words: list[str], width: int) -> None:
    shown = lines(lead + " ".join(words), width)
    assert all(cell_len(line) <= width for line in shown)
    assert "".join("".join(shown).split()) == "".join((lead + " ".join(words)).split())


@given(LEADS, st.lists(st.text(alphabet="abc", min_size=1, max_size=9), min_size=1, max_size=30), st.integers(40, 120))
def test_words_that_fit_are_never_broken(lead: str, words: list[str], width: int) -> None:
    shown = lines(lead + " ".join(words), width)
    assert " ".join(" ".join(shown).split()) == " ".join((lead + " ".join(words)).split())


def test_the_next_lines_hang_below_the_words() -> None:
    assert lines("    1. use the sum of both arguments here", 24) == [
        "    1. use the sum of",
        "       both arguments",
        "       here",
    ]
    assert lines("missing git: not found on the PATH", 24) == ["missing git: not found", "        on the PATH"]
    assert lines("missing git: not found", 12) == ["missing", "  git: not", "  found"], (
        "in hardly any room hardly at all"
    )
    assert lines("  changed: one.py, two.py, three.py", 24) == ["  changed: one.py,", "    two.py, three.py"]


def test_a_short_line_is_left_as_it_is_and_colours_stay() -> None:
    text = Text("  a  b  ", style="red")
    assert wrapped(text, CONSOLE, 20) == [text]
    long = Text("one two three four", style="red")
    assert all(line.style == "red" or line.spans for line in wrapped(long, CONSOLE, 12))


@given(st.integers(40, 120), st.integers(1, 80))
def test_nothing_of_markdown_is_lost_at_the_width_of_the_terminal(width: int, number: int) -> None:
    words = [f"word{at}" for at in range(number)]
    page = io.StringIO()
    screen = _Console(file=page, force_terminal=True, width=width, color_system=None, soft_wrap=True)
    screen.print(Markdown(f"- Why: {' '.join(words)}"))
    assert [word for word in page.getvalue().split() if word.startswith("word")] == words
