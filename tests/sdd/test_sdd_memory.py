"""Notes from run to run: bounded, one line each, written nowhere else, and read-only in CI."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.sdd import memory
from kotef.sdd.memory import MAX_ENTRY, MAX_TOLD, MOST, MemoryFault, MemoryFiles, act, memory_of, notes, remembers
from kotef.workspace import Snapshots

NOTE = st.text(max_size=40).map(lambda text: " ".join(text.split())).filter(bool)
OTHER = st.text(st.characters(exclude_characters="\n\r"), max_size=20).filter(
    lambda line: not line.startswith(("- ", "* "))
)


def core(root: Path) -> Path:
    return root / ".sdd" / "memory" / "core.md"


def test_a_note_is_added_replaced_listed_and_removed(tmp_path: Path) -> None:
    files = memory_of(tmp_path, {})
    assert act(files, "add", "core", "tests run\n with  make", "") == "added to core"
    assert core(tmp_path).read_text() == "# Core memory\n\n- tests run with make\n"
    assert act(files, "add", "core", "tests run with make", "") == "core already has this note"
    assert act(files, "replace", "core", "tests run with just", "make") == "replaced in core: tests run with make"
    told = act(files, "list", "core", "", "")
    assert told.splitlines()[:2] == ["core: 1 of 20 notes", "- tests run with just"]
    assert "daily: 0 of 100 notes" in told
    assert files.core_text() == "- tests run with just"
    assert act(files, "remove", "core", "", "just") == "removed from core: tests run with just"
    assert notes(core(tmp_path).read_text()) == []
    assert files.core_text() == ""


def test_a_note_of_the_log_has_its_day(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory.time, "gmtime", lambda: (2026, 1, 31, 0, 0, 0, 0, 0, 0))
    act(memory_of(tmp_path, {}), "add", "daily", "upgraded", "")
    assert notes((tmp_path / ".sdd/memory/daily.md").read_text()) == ["2026-01-31 upgraded"]


@pytest.mark.parametrize(
    ("action", "entry", "old", "says"),
    [
        ("add", "  \n ", "", "the entry is empty"),
        ("add", "x" * (MAX_ENTRY + 1), "", f"shorten it to {MAX_ENTRY}"),
        ("replace", "new", "nowhere", "no such note; its notes: one thing; two things"),
        ("replace", "one thing", "two things", "already has this note"),
        ("replace", "new", "thing", "2 notes of core contain that"),
        ("remove", "", "", "no such note"),
    ],
)
def test_a_change_that_cannot_be_made_changes_nothing(
    tmp_path: Path, action: memory.Action, entry: str, old: str, says: str
) -> None:
    core(tmp_path).parent.mkdir(parents=True)
    core(tmp_path).write_text("- one thing\n- two things\n")
    with pytest.raises(MemoryFault, match=says):
        act(memory_of(tmp_path, {}), action, "core", entry, old)
    assert core(tmp_path).read_text() == "- one thing\n- two things\n"


def test_in_ci_it_is_read_and_not_written(tmp_path: Path) -> None:
    core(tmp_path).parent.mkdir(parents=True)
    core(tmp_path).write_text("- a\n")
    files = memory_of(tmp_path, {"CI": "true"})
    assert "- a" in act(files, "list", "core", "", "")
    for action in ("add", "replace", "remove"):
        with pytest.raises(MemoryFault, match="read-only in CI"):
            act(files, action, "core", "b", "a")
    assert core(tmp_path).read_text() == "- a\n"
    for value in ("", "0", "false", "No"):
        assert not memory_of(tmp_path, {"CI": value}).read_only


def test_a_full_file_refuses_and_a_full_log_drops_its_oldest(tmp_path: Path) -> None:
    text = ""
    for number in range(MOST["core"]):
        text = memory.added(text, "core", f"note {number}").text
    with pytest.raises(MemoryFault, match="core is full"):
        memory.added(text, "core", "one more")
    log = "# Log\nby hand\n" + "".join(f"- note {number}\n" for number in range(MOST["daily"]))
    done = memory.added(log, "daily", "newest")
    assert done.told == "added to daily; the oldest was dropped"
    assert notes(done.text)[0] == "note 1"
    assert notes(done.text)[-1] == "newest"
    assert done.text.startswith("# Log\nby hand\n")


def test_what_is_told_at_the_start_is_bounded_to_whole_notes(tmp_path: Path) -> None:
    core(tmp_path).parent.mkdir(parents=True)
    core(tmp_path).write_text("".join(f"- {number} {'x' * 200}\n" for number in range(20)))
    told = MemoryFiles(tmp_path).core_text()
    assert MAX_TOLD - 300 < len(told) <= MAX_TOLD
    assert all(len(line) > 200 for line in told.splitlines())


def test_a_link_is_not_written_through_and_a_broken_file_is_left(tmp_path: Path) -> None:
    core(tmp_path).parent.mkdir(parents=True)
    (tmp_path / "test_a.py").write_text("")
    core(tmp_path).symlink_to("../../test_a.py")
    with pytest.raises(MemoryFault, match="below one"):
        act(MemoryFiles(tmp_path), "add", "core", "import os", "")
    assert (tmp_path / "test_a.py").read_text() == ""
    core(tmp_path).unlink()
    core(tmp_path).write_bytes(b"- caf\xe9\n")
    with pytest.raises(MemoryFault, match="not UTF-8"):
        act(MemoryFiles(tmp_path), "add", "core", "x", "")
    assert core(tmp_path).read_bytes() == b"- caf\xe9\n"
    assert MemoryFiles(tmp_path).core_text() == ""


def test_only_a_project_with_a_sdd_of_its_own_has_a_memory(tmp_path: Path) -> None:
    assert not remembers(tmp_path)
    (tmp_path / ".sdd" / "runs").mkdir(parents=True)
    (tmp_path / ".sdd" / "issues.md").touch()
    assert not remembers(tmp_path), "what a run leaves is no wish to keep one"
    (tmp_path / ".sdd" / "project.md").touch()
    assert remembers(tmp_path)


def test_a_note_is_no_change_of_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """So it is neither put back as tampering, nor lost with a failed attempt, nor taken for progress."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "project"
    (root / ".sdd").mkdir(parents=True)
    (root / ".sdd" / "project.md").touch()
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    act(memory_of(root, {}), "add", "core", "a note", "")
    assert snapshots.take() == before
    (root / ".sdd" / "project.md").write_text("x")
    after = snapshots.take()
    assert after != before
    assert snapshots.restore(before, last=after).put_back == (".sdd/project.md",)
    assert core(root).exists()


@given(st.lists(NOTE, max_size=6, unique=True), NOTE)
def test_adding_and_removing_one_leaves_the_others(before: list[str], note: str) -> None:
    text = "".join(f"- {one}\n" for one in before)
    more = memory.added(text, "context", note).text
    assert notes(more) == (before if note in before else [*before, note])
    assert notes(memory.removed(more, "context", note).text) == [one for one in before if one != note]


@given(st.lists(OTHER, max_size=5), NOTE, NOTE, st.booleans())
def test_what_a_person_wrote_between_the_notes_stays(lines: list[str], note: str, new: str, ends: bool) -> None:
    text = "\n".join([*lines, f"- {note}"]) + "\n" * ends
    done = memory.replaced(text, "core", note, new).text
    assert done == "\n".join([*lines, f"- {new}"]) + "\n"
    removed = memory.removed(done, "core", new).text
    assert removed == ("\n".join(lines) + "\n" if lines else "")
