"""A diff on the screen has every line of its hunks, and of its headers the names of the files."""

import io
from pathlib import Path

import pytest
from rich.console import Console
from support.loop import git
from support.run_events import recorded

from kotef.cli.screen import Detail, Screen, coloured
from kotef.cli.screen.diffs import ShownDiffs, file_diffs
from kotef.events import RecordedEvent

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


def patch_of(path: str, *lines: str) -> str:
    added = sum(line.startswith("+") for line in lines)
    removed = sum(line.startswith("-") for line in lines)
    head = f"diff --git a/{path} b/{path}\nindex 1..2 100644\n--- a/{path}\n+++ b/{path}\n"
    return head + f"@@ -1,{removed} +1,{added} @@\n" + "".join(f"{line}\n" for line in lines)


def test_a_patch_is_taken_apart_by_its_files() -> None:
    files = list(file_diffs(patch_of("a.py", "-x", "+diff --git a/q b/q") + patch_of("b.py", "+y")))
    assert [diff.path for diff in files] == ["a.py", "b.py"]
    assert [sorted(diff.changed) for diff in files] == [["+diff --git a/q b/q", "-x"], ["+y"]]


def test_a_file_whose_changes_were_all_shown_is_known() -> None:
    shown = ShownDiffs()
    assert shown.note_edit("a.py", "@@ line 1 @@\n-x\n+y")
    assert not shown.note_edit("a.py", "@@ line 1 @@\n-x\n+y"), "the same edit once more"
    seen, other = file_diffs(patch_of("a.py", "-x", "+y") + patch_of("b.py", "-x", "+y"))
    assert shown.has(seen)
    assert not shown.has(other)
    (more,) = file_diffs(patch_of("a.py", "-x", "+y", "+z"))
    assert not shown.has(more)


def screen_of(place: Path, detail: Detail = "usual") -> tuple[Screen, io.StringIO]:
    """A terminal with a run of one edit in `place`."""
    page = io.StringIO()
    run = place / "r1"
    run.mkdir(parents=True)
    paper = Console(file=page, force_terminal=True, width=80, height=24, color_system=None, highlight=False)
    return Screen(runs=place, screen=paper, detail=detail), page


def edited(path: str, diff: str) -> RecordedEvent:
    return recorded("edited", visit=1, path=path, diff=diff)


def called(path: str) -> RecordedEvent:
    return recorded("tool_finished", visit=1, tool="edit_file", arguments=path, ok=True)


VERIFIED = recorded("verified", visit=1, passed=True)


def test_an_edit_is_shown_when_it_is_made_and_not_again_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    screen, page = screen_of(tmp_path)
    screen(recorded("run_resumed", run="r1", sandbox="off"))
    (tmp_path / "r1" / "visit-1.patch").write_text(patch_of("a.py", "-old", "+new") + patch_of("b.py", "+by a command"))
    for event in (edited("a.py", "@@ line 1 @@\n-old\n+new"), called("a.py"), VERIFIED):
        screen(event)
    text = page.getvalue()
    assert text.index("edit_file a.py ✓") < text.index("-old") < text.index("attempt 1 changed")
    assert (text.count("-old"), text.count("+new"), text.count("+by a command")) == (1, 1, 1)
    assert "other files as shown" in text


@pytest.mark.parametrize(("detail", "lines"), [("quiet", 0), ("usual", 12), ("full", 60)])
def test_a_long_edit_is_folded_unless_all_is_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, detail: Detail, lines: int
) -> None:
    monkeypatch.delenv("CI", raising=False)
    screen, page = screen_of(tmp_path, detail)
    screen(edited("a.py", "\n".join(f"+line {number}" for number in range(60))))
    screen(called("a.py"))
    assert page.getvalue().count("+line ") == lines
    assert ("48 more lines" in page.getvalue()) == (detail == "usual")


@pytest.mark.parametrize("name", ["割引.py", "naïve café.py", 'say "hi".py', "a\tb.py", "plain b/name.py"])
def test_the_name_of_a_file_is_readable_however_git_quotes_it(name: str, tmp_path: Path) -> None:
    """As git itself writes the difference: the edit of such a file is known again, and not shown twice."""
    git(tmp_path, "init", "-q")
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("old\n")
    git(tmp_path, "add", "-A")
    (tmp_path / name).write_text("new\n")
    patch = git(tmp_path, "diff")
    (diff,) = file_diffs(patch)
    assert coloured(patch).plain.splitlines()[0] == name
    shown = ShownDiffs()
    shown.note_edit(name, "@@ line 1 @@\n-old\n+new")
    assert "b/" in name or shown.has(diff)


def test_a_quoted_name_cannot_steer_the_terminal() -> None:
    patch = 'diff --git "a/\\033[2Jx" "b/\\033[2Jx"\n--- "a/\\033[2Jx"\n+++ "b/\\033[2Jx"\n@@ -1 +1 @@\n-a\n+b\n'
    (diff,) = file_diffs(patch)
    assert diff.path == "[2Jx"
    assert "\x1b" not in coloured(patch).plain


def test_what_the_options_of_a_question_show_is_not_shown_again() -> None:
    """Their differences have no header of git."""
    (diff,) = file_diffs(HEAD + HUNK)
    assert (diff.path, diff.changed) == ("q.sql", {"--- all of it", "+++ b/none"})
