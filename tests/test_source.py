"""The one editor of source files: positions, lines and edits, whatever the line ends and characters are."""

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.source import SourceEdit, SourceText, TextEdit

TEXT = st.text(st.sampled_from("ab\n\r\t é𝒳\f "), max_size=40)


@given(TEXT, st.booleans())
def test_an_unedited_file_goes_back_byte_for_byte(text: str, marked: bool) -> None:
    content = (b"\xef\xbb\xbf" if marked else b"") + text.encode()
    source = SourceText.of_bytes(content)
    assert source is not None
    assert source.edited([]).encoded() == content


@given(TEXT)
def test_lines_are_the_text_and_each_character_is_on_one(text: str) -> None:
    source = SourceText(text)
    assert "".join(source.lines) == text
    assert [source.line_at(start) for start in source.line_starts] == list(range(1, len(source.line_starts) + 1))
    for line, start in enumerate(source.line_starts, 1):
        assert text[start:].startswith(source.line(line))
        assert source.offset(line, len(source.line(line).encode())) == start + len(source.line(line))


@given(
    st.lists(st.sampled_from(["é = 1", "𝒳 = 'é𝒳', é", "if a:\n    b('é')", "# é"]), max_size=5),
    st.sampled_from(["\n", "\r\n"]),
)
def test_a_node_is_where_its_text_is(statements: list[str], newline: str) -> None:
    source = SourceText(newline.join(statements).replace("\n", newline).replace("\r\r", "\r"))
    for node in ast.walk(ast.parse(source.text)):
        if isinstance(node, ast.expr):
            assert ast.dump(ast.parse(source.segment(node), mode="eval").body) == ast.dump(node).replace(
                "Store()", "Load()"
            )


def test_edits_are_made_in_the_order_of_the_text() -> None:
    edits = [TextEdit(4, 5, "E"), TextEdit(0, 1, "A"), SourceEdit("m.py", 2, 2, "-")]
    assert SourceText("abcdef").edited(edits).text == "Ab-cdEf"


def test_edits_that_overlap_are_refused() -> None:
    with pytest.raises(ValueError, match="overlap"):
        SourceText("abc").edited([TextEdit(0, 2, "x"), TextEdit(1, 3, "y")])
