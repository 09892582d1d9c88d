"""The head of a Markdown file: read as it is written, refused with its line where it cannot be."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.sdd.frontmatter import FrontmatterError, read_frontmatter


@pytest.mark.parametrize(
    ("head", "fields"),
    [
        ("name: a\ndescription: b", {"name": "a", "description": "b"}),
        ("# a comment\n\nname:   a  ", {"name": "a"}),
        ("description: Use when: there is a colon", {"description": "Use when: there is a colon"}),
        ("description: 'it''s quoted'", {"description": "it's quoted"}),
        ('description: "a \\"b\\" \\u00e9"', {"description": 'a "b" é'}),
        ("description: >\n  folded\n  text\nname: a", {"description": "folded text", "name": "a"}),
        ("description: |-\n  kept\n  lines", {"description": "kept\nlines"}),
        ("description: goes\n  on here", {"description": "goes on here"}),
        ("tools:\n- a\n- b\nname: x", {"tools": "- a - b", "name": "x"}),
        ("metadata:\n  version: 1", {"metadata": "version: 1"}),
        ("empty:", {"empty": ""}),
        ("", {}),
    ],
)
def test_fields_are_read_as_they_are_written(head: str, fields: dict[str, str]) -> None:
    for ends in ("---", "..."):
        text = f"---\n{head}\n{ends}\n\n# Body\n---\nmore\n"
        for newline in ("\n", "\r\n"):
            found = read_frontmatter("\ufeff" + text.replace("\n", newline))
            assert (found.fields, found.body) == (fields, "# Body\n---\nmore")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        ("", 1, "does not begin with `---`"),
        ("# Title\n---\n---\n", 1, "does not begin"),
        ("---\nname: a\n", 1, "that ends its head is missing"),
        ("---\nname a\n---\n", 2, "'name a' is not a field"),
        ("---\nname: a\nname: b\n---\n", 3, "appears twice"),
        ('---\nname: a\nx: "\\q"\n---\n', 3, "quote it with '"),
        ("---\n  name: a\n---\n", 2, "is not a field"),
    ],
)
def test_what_cannot_be_read_names_its_line(text: str, line: int, says: str) -> None:
    with pytest.raises(FrontmatterError, match=says) as caught:
        read_frontmatter(text)
    assert caught.value.line == line


@given(st.text("-ab: >|'\"\n #.", max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        found = read_frontmatter(f"---\n{text}\n---\nbody")
    except FrontmatterError:
        return
    assert all("\n" not in key for key in found.fields)


PLAIN = st.text(st.characters(exclude_characters="\n\r", exclude_categories=["Cs"]), max_size=30)


@given(st.dictionaries(st.from_regex(r"[a-z][a-z-]{0,8}", fullmatch=True), PLAIN, max_size=5))
def test_quoted_fields_come_back_whole(fields: dict[str, str]) -> None:
    head = "".join(f"{key}: '{value.replace(chr(39), chr(39) * 2)}'\n" for key, value in fields.items())
    found = read_frontmatter(f"---\n{head}---\n").fields
    assert found == fields
