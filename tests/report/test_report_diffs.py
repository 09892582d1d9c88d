"""A patch is read as git writes it, and never at the cost of the page."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.report.diffs import DiffRow, diff_of

CHANGED = """\
diff --git a/shop/cart.py b/shop/cart.py
index 51c0b3f..c1142b4 100644
--- a/shop/cart.py
+++ b/shop/cart.py
@@ -4,3 +4,4 @@ def to_pay(prices):
 same
-old
+new
+more
\\ No newline at end of file
"""


def test_before_and_after_stand_side_by_side() -> None:
    (file,) = diff_of(CHANGED)
    assert (file.path, file.change, file.added, file.removed, file.cut) == ("shop/cart.py", "changed", 2, 1, False)
    assert file.rows == (
        DiffRow("gap", left="def to_pay(prices):"),
        DiffRow("same", 4, "same", 4, "same"),
        DiffRow("changed", 5, "old", 5, "new"),
        DiffRow("added", right_number=6, right="more"),
    )


def test_lines_that_look_like_headers_are_lines() -> None:
    patch = "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,2 +1,2 @@\n--- x\n-diff --git a/b b/b\n+++ y\n+@@ -1 +1 @@\n"
    (file,) = diff_of(patch)
    assert [(row.left, row.right) for row in file.rows[1:]] == [("-- x", "++ y"), ("diff --git a/b b/b", "@@ -1 +1 @@")]


def test_what_a_patch_does_to_a_file_is_named() -> None:
    patch = (
        "diff --git a/new.py b/new.py\nnew file mode 100644\n--- /dev/null\n+++ b/new.py\n@@ -0,0 +1 @@\n+x\n"
        "diff --git a/old.py b/old.py\ndeleted file mode 100644\n--- a/old.py\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"
        "diff --git a/from.py b/to.py\nsimilarity index 100%\nrename from from.py\nrename to to.py\n"
        "diff --git a/x.png b/x.png\nindex 1..2\nBinary files a/x.png and b/x.png differ\n"
        "diff --git a/run b/run\nold mode 100644\nnew mode 100755\n"
        'diff --git "a/\\303\\244.py" "b/\\303\\244.py"\n--- "a/\\303\\244.py"\n+++ "b/\\303\\244.py"\n@@ -1 +1 @@\n-a\n+b\n'
    )
    assert [(file.path, file.change) for file in diff_of(patch)] == [
        ("new.py", "new"),
        ("old.py", "deleted"),
        ("to.py", "renamed from from.py"),
        ("x.png", "binary"),
        ("run", "mode"),
        ("ä.py", "changed"),
    ]


def test_what_is_too_long_is_cut_and_says_so() -> None:
    lines = "".join(f"+line {number}\n" for number in range(100))
    patch = f"diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -0,0 +1,100 @@\n{lines}" + CHANGED
    first, second = diff_of(patch, 50)
    assert (len(first.rows), first.cut, first.added) == (50, True, 100)
    assert (len(second.rows), second.cut, second.added) == (0, True, 2), "its counts are told all the same"


@given(st.text(st.sampled_from(list("+-@ \\\n0123,adib/\"'")), max_size=300))
def test_nothing_that_is_no_patch_does_harm(text: str) -> None:
    diff_of(text)
    diff_of("diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n" + text)


@example_count(15)
@given(
    *[st.lists(st.sampled_from(["a", "b", "-- c", "++ d", "@@ -1 +1 @@", "diff --git a/x b/x", ""]), max_size=12)] * 2,
    st.sampled_from(["true", "false"]),
)
def test_both_sides_are_those_of_the_files(before: list[str], after: list[str], suppressed: str) -> None:
    import tempfile

    with tempfile.TemporaryDirectory() as place:
        for name, lines in (("old", before), ("new", after)):
            Path(place, name).write_text("".join(f"{line}\n" for line in lines))
        command = ["git", "-c", f"diff.suppressBlankEmpty={suppressed}", "diff", "--no-index", "-U999", "old", "new"]
        patch = subprocess.run(command, cwd=place, capture_output=True, text=True, check=False).stdout
    for file in diff_of(patch):
        rows = [row for row in file.rows if row.kind != "gap"]
        assert [row.left for row in rows if row.left_number is not None] == before
        assert [row.right for row in rows if row.right_number is not None] == after
        assert [row.right_number for row in rows if row.right_number is not None] == [*range(1, len(after) + 1)]


@pytest.mark.parametrize(
    ("header", "path"),
    [
        ("b/naïve_ß.py", "naïve_ß.py"),
        (r'"b/na\303\257ve.py"', "naïve.py"),
        (r'"b/quo\"ted ß.py"', 'quo"ted ß.py'),
        (r'"b/tab\t日.py"', "tab\t日.py"),
    ],
)
def test_a_name_in_any_script_is_read_from_the_header(header: str, path: str) -> None:
    old = header.replace("b/", "a/", 1)
    (file,) = diff_of(f"diff --git {old} {header}\n--- {old}\n+++ {header}\n@@ -1 +1 @@\n-a\n+b\n")
    assert file.path == path
