"""Reading and writing text changes only what was meant to change."""

from hypothesis import given
from hypothesis import strategies as st

from kotef.tools.text import Text, clip_middle, decode, lines_of
from kotef.tools.text_diff import compare

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8), max_size=6)


@given(st.binary(max_size=80))
def test_whatever_can_be_decoded_is_encoded_to_the_same_bytes(content: bytes) -> None:
    text = decode(content)
    assert text is None or text.encode(text.raw) == content


@given(
    LINES,
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(
        [(b"", "utf-8"), (b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")]
    ),
)
def test_each_encoding_is_recognised(lines: list[str], newline: str, kind: tuple[bytes, str]) -> None:
    raw = newline.join(["x", *lines]).removeprefix("\ufeff")
    text = decode(kind[0] + raw.encode(kind[1]))
    assert text == Text(raw, kind[1], kind[0])
    assert text.plain == raw.replace("\r\n", "\n")


def test_bytes_that_are_not_utf8_are_shown_as_latin1_and_say_so() -> None:
    text = decode("größe\n".encode("latin-1"))
    assert text is not None
    assert (text.raw, text.encoding) == ("größe\n", "latin-1")
    assert "latin-1" in text.note


def test_a_nul_makes_a_file_binary_but_not_in_utf16() -> None:
    assert decode(b"\x89PNG\0\x01") is None
    assert decode("\ufeffab".encode("utf-16-le")) == Text("ab", "utf-16-le", b"\xff\xfe")
    assert decode(b"\xff\xfe\x00") is None, "half a character: not UTF-16, and it has a NUL"


@given(st.lists(st.tuples(st.text("ab ", max_size=3), st.sampled_from(["\n", "\r\n"])), max_size=8), st.data())
def test_text_outside_the_replaced_span_keeps_its_line_ends(rows: list[tuple[str, str]], data: st.DataObject) -> None:
    raw = "".join(line + end for line, end in rows)
    text = Text(raw)
    start = data.draw(st.integers(0, len(text.plain)))
    end = data.draw(st.integers(start, len(text.plain)))
    new = text.replaced([(start, end, "NEW")]).raw
    before, _, after = new.partition("NEW")
    assert raw.startswith(before)
    assert raw.endswith(after)
    assert before.replace("\r\n", "\n") == text.plain[:start]
    assert after.replace("\r\n", "\n") == text.plain[end:]


def test_new_lines_take_the_line_end_of_what_they_replace() -> None:
    assert Text("a\r\nb\r\nc\n").replaced([(0, 3, "x\ny")]).raw == "x\r\ny\r\nc\n"
    assert Text("a\r\nb\r\nc\nd\n").replaced([(4, 7, "x\ny")]).raw == "a\r\nb\r\nx\ny\n"
    assert Text("a\r\nb\r\n").replaced([(0, 1, "x\ny")]).raw == "x\r\ny\r\nb\r\n"


def test_lines_are_counted_as_editors_do() -> None:
    assert lines_of("") == []
    assert lines_of("a\n") == ["a"]
    assert lines_of("a\n\n") == ["a", ""]
    assert lines_of("a\fb\u2028c\nd") == ["a\fb\u2028c", "d"]


@given(LINES, LINES)
def test_a_difference_counts_what_two_texts_do_not_share(old: list[str], new: list[str]) -> None:
    change = compare("\n".join(old), "\n".join(new))
    assert len("\n".join(old).split("\n")) - change.removed + change.added == len("\n".join(new).split("\n"))
    assert (change.added + change.removed == 0) == ("\n".join(old) == "\n".join(new))


def test_a_difference_names_the_line_and_shows_two_around_it() -> None:
    old = "\n".join(f"line {number}" for number in range(1, 101))
    change = compare(old, old.replace("line 50", "line fifty"))
    assert change.hunks == "@@ line 48 @@\n line 48\n line 49\n-line 50\n+line fifty\n line 51\n line 52"
    assert change.stat == "+1 -1 lines"


def test_a_long_difference_is_bounded() -> None:
    hunks = compare("", "\n".join("x" * 1000 for _ in range(500))).hunks
    assert len(hunks.splitlines()) <= 81
    assert len(hunks) < 30_000
    assert "more lines of diff" in hunks


@given(st.text(max_size=400), st.integers(20, 100))
def test_a_clipped_text_keeps_its_head_and_its_tail(text: str, limit: int) -> None:
    clipped = clip_middle(text, limit)
    if len(text) <= limit:
        assert clipped == text
    else:
        head, _, tail = clipped.partition("… [")
        assert text.startswith(head)
        assert text.endswith(tail.partition("\n")[2])
        assert len(clipped) < limit + 60
