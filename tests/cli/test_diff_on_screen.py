"""A diff on the screen has every line of its hunks, and of its headers the names of the files."""

import pytest

from kotef.cli.screen import coloured

GIT = "diff --git a/q.sql b/q.sql\nindex 1..2 100644\n"
HEAD = "--- a/q.sql\n+++ b/q.sql\n"
HUNK = "@@ -1,2 +1,2 @@\n select 1;\n--- all of it\n+++ b/none\n"


@pytest.mark.parametrize("diff", [HEAD + HUNK + HEAD + HUNK, 2 * (GIT + HEAD + HUNK)])
def test_a_changed_line_that_looks_like_a_header_is_shown(diff: str) -> None:
    shown = ["q.sql", *HUNK.splitlines()]
    assert coloured(diff).plain.splitlines() == shown * 2


def test_a_hunk_of_one_line_and_a_file_without_a_last_line_break() -> None:
    hunk = "@@ -1 +1 @@ def f\n--- old\n+new\n\\ No newline at end of file\n"
    assert coloured(HEAD + hunk + HEAD + hunk).plain.splitlines() == ["q.sql", *hunk.splitlines()] * 2
