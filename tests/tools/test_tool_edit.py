"""edit_file: exact first, then white space, then an answer that shows what is there."""

from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu

from kotef.tools.edit import Replacement, edit_file
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard

ANYTHING = EditGuard(frozenset())


def edit(path: Path, *edits: Replacement) -> str:
    return edit_file(path.parent, path.name, edits, guard=ANYTHING).report


def given_file(tmp_path: Path, content: str | bytes) -> Path:
    path = tmp_path / "a.txt"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def refused(path: Path, *edits: Replacement) -> str:
    """The message of the fault; the file must be as it was."""
    before = path.read_bytes()
    with pytest.raises(ToolFault) as caught:
        edit(path, *edits)
    assert path.read_bytes() == before
    return caught.value.message


def test_an_exact_edit_returns_its_diff(tmp_path: Path) -> None:
    path = given_file(tmp_path, "a = 1\nb = 2\nc = 3\n")
    assert edit(path, Replacement(search="b = 2", replace="b = 20")) == (
        "edited a.txt: +1 -1 lines\n@@ line 1 @@\n a = 1\n-b = 2\n+b = 20\n c = 3\n "
    )
    assert path.read_text() == "a = 1\nb = 20\nc = 3\n"


PIECE = st.text("ab \n", max_size=12)


@given(st.tuples(PIECE, PIECE), st.tuples(PIECE, PIECE).map("X".join), st.text("abc\n", max_size=4), st.booleans())
def test_a_unique_text_is_replaced_and_nothing_else(
    tmp_path_factory: pytest.TempPathFactory, around: tuple[str, str], search: str, replace: str, windows: bool
) -> None:
    before, after = around
    margin = before.rpartition("\n")[2]
    assume(not margin or margin.strip() or "\n" not in replace)  # else it may be indented as a whole
    text = before + search + after
    newline = "\r\n" if windows and "\n" in text else "\n"
    path = given_file(tmp_path_factory.mktemp("edit"), text.replace("\n", newline))
    edit(path, Replacement(search=search, replace=replace))
    assert path.read_bytes().decode() == (before + replace + after).replace("\n", newline)


@given(st.text("ab\n\t ", max_size=40), st.text("ab\n\t ", max_size=6), st.text("ab\n", max_size=6), st.booleans())
def test_an_edit_that_is_refused_leaves_the_file(
    tmp_path_factory: pytest.TempPathFactory, text: str, search: str, replace: str, everywhere: bool
) -> None:
    path = given_file(tmp_path_factory.mktemp("edit"), text)
    try:
        edit(path, Replacement(search=search, replace=replace, all=everywhere))
    except ToolFault:
        assert path.read_text() == text
    else:
        assert path.read_text() != text


def test_a_text_found_twice_is_refused_with_its_lines(tmp_path: Path) -> None:
    path = given_file(tmp_path, "x = 1\ny = 2\nx = 1\n")
    assert "found 2 times (lines 1, 3)" in refused(path, Replacement(search="x = 1", replace="x = 3"))
    edit(path, Replacement(search="x = 1", replace="x = 3", all=True))
    assert path.read_text() == "x = 3\ny = 2\nx = 3\n"


def test_overlapping_places_are_not_unique(tmp_path: Path) -> None:
    path = given_file(tmp_path, "aXaXa")
    assert "found 2 times" in refused(path, Replacement(search="aXa", replace="b"))


def test_several_edits_apply_in_order_and_all_or_none(tmp_path: Path) -> None:
    path = given_file(tmp_path, "one\ntwo\n")
    message = refused(path, Replacement(search="one", replace="1"), Replacement(search="nothing alike", replace="2"))
    assert message.startswith("a.txt, edit 2 of 2; no edit was applied: search is not found")
    edit(path, Replacement(search="one", replace="1"), Replacement(search="1\ntwo", replace="12"))
    assert path.read_text() == "12\n"


def test_encoding_mark_and_last_line_stay(tmp_path: Path) -> None:
    path = given_file(tmp_path, "\ufeffa\r\nb".encode("utf-16-le"))
    edit(path, Replacement(search="b", replace="b\nc"))
    assert path.read_bytes() == "\ufeffa\r\nb\r\nc".encode("utf-16-le")
    path = given_file(tmp_path, "grün\nb\n".encode("latin-1"))
    edit(path, Replacement(search="b", replace="ü"))
    assert path.read_bytes() == "grün\nü\n".encode("latin-1")


def test_mixed_line_ends_stay_as_they_are(tmp_path: Path) -> None:
    path = given_file(tmp_path, b"a\r\nb\nc\r\nd\n")
    edit(path, Replacement(search="c\nd", replace="c\nD"))
    assert path.read_bytes() == b"a\r\nb\nc\r\nD\n"


@pytest.mark.parametrize(
    ("text", "search", "replace", "expected"),
    [
        ("class A:\n    def f(self):\n        return 1\n", "def f(self):\n    return 1\n", "def f(self):\n    if x:\n        return 2\n", "class A:\n    def f(self):\n        if x:\n            return 2\n"),
        ("def f():\n    return 1\n", "    def f():\n        return 1\n", "    def f():\n        return 2\n", "def f():\n    return 2\n"),
        ("if x:\n\tif y:\n\t\tgo()\n", "if x:\n    if y:\n        go()", "if x:\n    if z:\n        go(1)", "if x:\n\tif z:\n\t\tgo(1)\n"),
        ("if x:\n  if y:\n    go()\n", "if x:\n\tif y:\n\t\tgo()", "if x:\n\tgo()", "if x:\n  go()\n"),
        ("a = 1   \nb = 2\n", "a = 1\nb = 2\n", "a = 2\n", "a = 2\n"),
        ("a\n  b\nc", "b\nc\n", "b\nd\n", None),
        ("x\nb\n  c", "b \n  c\n", "b\n  d\n", "x\nb\n  d"),
        ("f():\n    a\n\n    b\n", "a\n   \nb", "a\n\nc", "f():\n    a\n\n    c\n"),
    ],
)  # fmt: skip
def test_white_space_at_the_ends_of_lines_may_differ_if_the_shift_is_even(
    tmp_path: Path, text: str, search: str, replace: str, expected: str | None
) -> None:
    path = given_file(tmp_path, text)
    if expected is None:
        assert "unevenly" in refused(path, Replacement(search=search, replace=replace))
    else:
        assert "edit 1: matched at lines" in edit(path, Replacement(search=search, replace=replace))
        assert path.read_text() == expected


def test_a_tolerant_match_must_be_unique(tmp_path: Path) -> None:
    path = given_file(tmp_path, "if a:\n    go()\n    stop()\nelse:\n  go()\n  stop()\n")
    assert "fits 2 times (lines 2, 5)" in refused(path, Replacement(search="go()\nstop()\n", replace="x\n"))


def test_white_space_within_a_line_is_never_tolerated(tmp_path: Path) -> None:
    path = given_file(tmp_path, "s = 'a  b'\n")
    assert "nearest" in refused(path, Replacement(search="s = 'a b'", replace="s = ''"))


def test_a_mismatch_shows_the_nearest_lines_with_numbers_and_what_differs(root: Path) -> None:
    with pytest.raises(ToolFault) as caught:
        edit_file(
            root,
            "src/cart.py",
            [Replacement(search="    for item in items:\n        result += item.cost\n    return result", replace="x")],
            guard=ANYTHING,
        )
    assert caught.value.message == (
        "src/cart.py, edit 1 of 1: search is not found: lines that the edit changes are different in the file; "
        "the nearest text, 90% alike (- the file, + your search):\n"
        " 6\t    for item in items:\n"
        "-7\t        result += item.price\n"
        "+\t        result += item.cost\n"
        " 8\t    return result"
    )


def test_nothing_alike_says_so(tmp_path: Path) -> None:
    assert "nor anything like it, in 2 lines" in refused(
        given_file(tmp_path, "a\n"), Replacement(search="zebra crossing", replace="x")
    )


def test_line_numbers_copied_from_a_view_are_pointed_out(tmp_path: Path) -> None:
    path = given_file(tmp_path, "a = 1\nb = 2\n")
    assert "leave them out" in refused(path, Replacement(search="1\ta = 1\n2\tb = 2", replace="x"))


@pytest.mark.parametrize(
    ("edits", "words"),
    [
        ([Replacement(search="", replace="x")], "search is empty"),
        ([Replacement(search="a", replace="a")], "nothing to change"),
        ([Replacement(search="a", replace="b"), Replacement(search="b", replace="a")], "nothing to change"),
        ([], "no edit"),
    ],
)
def test_edits_that_say_nothing_are_refused(tmp_path: Path, edits: list[Replacement], words: str) -> None:
    assert words in refused(given_file(tmp_path, "a\n"), *edits)


def test_an_edit_that_swaps_code_for_a_placeholder_is_refused(tmp_path: Path) -> None:
    path = given_file(tmp_path, "def f():\n    a()\n    b()\n")
    assert "replaces code" in refused(
        path, Replacement(search="    a()\n    b()\n", replace="    # ... rest of the code ...\n")
    )


def test_editing_a_missing_file_names_a_close_one(root: Path) -> None:
    with pytest.raises(ToolFault, match=r"did you mean src/cart.py"):
        edit_file(root, "src/carts.py", [Replacement(search="a", replace="b")], guard=ANYTHING)
    assert not (root / "src/carts.py").exists()


def test_a_protected_file_is_refused_before_it_is_read(root: Path) -> None:
    guard = EditGuard(frozenset({"tests/gone.py"}))
    with pytest.raises(ToolFault, match="protected") as caught:
        edit_file(root, "tests/gone.py", [Replacement(search="a", replace="b")], guard=guard)
    assert caught.value.kind == "permission_denied"


def test_a_mismatch_in_a_long_file_is_answered_quickly(tmp_path: Path) -> None:

    path = given_file(tmp_path, "".join(f"value_{number} = compute({number})\n" for number in range(60_000)))
    with bounded_cpu():
        assert "nearest" in refused(path, Replacement(search="value_59999 = computed(1)\nother", replace="x"))
        assert "not found" in refused(path, Replacement(search="something else entirely = 3", replace="x"))
