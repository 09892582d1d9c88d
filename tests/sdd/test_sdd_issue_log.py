"""The issue log has exactly one entry of a run, and every byte a person wrote, whoever writes at the same time."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest
from filelock import FileLock
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.sdd import issue_log
from kotef.sdd.issue_log import IssueEntry, has_entry, parse_issues, record, render


def entry(run_id: str = "r1", **facts) -> IssueEntry:
    known = {
        "run_id": run_id, "date": "2026-01-02T03:04:05Z", "outcome": "stuck", "reason": "stuck", "goal": f"goal of {run_id}", "attempts": 4,
        "max_attempts": 5, "run_dir": ".sdd/runs/r1", "follow_up": "look",
    }  # fmt: skip
    return IssueEntry(**(known | facts))


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / ".sdd" / "issues.md"


def test_a_new_log_says_what_it_is_and_has_the_entry(log: Path) -> None:
    assert record(log, entry()) == "added"

    text = log.read_text()
    assert text.startswith("# Issues\n\nRuns of kotef that did not succeed")
    assert parse_issues(text).entries == (entry(),)
    assert sorted(path.name for path in log.parent.iterdir()) == ["issues.md", "runs"]


def test_recording_twice_changes_nothing(log: Path) -> None:
    record(log, entry())
    before = (log.read_bytes(), log.stat().st_ino)

    assert record(log, entry()) == "unchanged"
    assert (log.read_bytes(), log.stat().st_ino) == before


def test_an_entry_is_rewritten_in_place_and_hand_edits_around_it_survive(log: Path) -> None:
    for run in ("r1", "r2", "r3"):
        record(log, entry(run))
    log.write_bytes(
        b"mine\r\n"
        + log.read_bytes().replace(
            render(entry("r3")).encode(), b"caf\xe9 \x00\n<<<<<<< HEAD\n" + render(entry("r3")).encode()
        )
        + b"no newline"
    )
    before = log.read_bytes()

    assert record(log, entry("r2", state="resolved")) == "updated"

    new, old = (render(entry("r2", **facts)).encode() for facts in ({"state": "resolved"}, {}))
    assert log.read_bytes() == before.replace(old, new), "an entry keeps its own line endings"
    assert [found.state for found in parse_issues(log.read_text(errors="replace")).entries] == [
        "open",
        "resolved",
        "open",
    ]


def test_a_hand_edit_inside_an_entry_survives_when_its_values_are_the_same(log: Path) -> None:
    record(log, entry())
    log.write_text(log.read_text().replace("- **Goal**: goal of r1", "- **Goal**: goal of r1 (I am on it)"))

    assert record(log, entry()) == "unchanged"
    assert "I am on it" in log.read_text()


@pytest.mark.parametrize(
    ("before", "between"),
    [
        (b"mine", b"\n\n"),
        (b"mine\n", b"\n"),
        (b"mine\r\n", b"\r\n"),
        (b"a\r\nmine", b"\r\n\r\n"),
        (b"", b""),
        (b"\xff\xfe", b"\n\n"),
    ],
)
def test_appending_keeps_the_file_and_its_line_endings(log: Path, before: bytes, between: bytes) -> None:
    log.parent.mkdir()
    log.write_bytes(before)

    record(log, entry())

    new = render(entry()).encode()
    assert log.read_bytes() == before + between + (new.replace(b"\n", b"\r\n") if b"\r\n" in between else new)


def test_a_torn_entry_is_left_and_the_run_gets_a_whole_one(log: Path) -> None:
    log.parent.mkdir()
    torn = render(entry())[:60]
    log.write_text(torn)

    assert record(log, entry()) == "added"
    assert record(log, entry()) == "unchanged"

    found = parse_issues(log.read_text())
    assert log.read_text().startswith(torn)
    assert found.entries == (entry(),)
    assert [problem.line for problem in found.problems] == [1]


def test_an_entry_with_damaged_values_is_written_anew(log: Path) -> None:
    record(log, entry())
    log.write_text(log.read_text().replace("- **Attempts**: 4 of 5", "- **Attempts**: none"))

    assert record(log, entry()) == "updated"
    assert parse_issues(log.read_text()).entries == (entry(),)


@example_count(60)
@given(
    st.lists(
        st.binary(max_size=20) | st.sampled_from([b"\n", b"\r\n", b"<!-- kotef:issue r1 -->\n", b"\n## x\n", b"```"]),
        max_size=6,
    ).map(b"".join),
    st.binary(max_size=20),
    st.text(max_size=20),
)
def test_not_a_byte_outside_the_entry_changes(
    tmp_path_factory: pytest.TempPathFactory, before: bytes, after: bytes, goal: str
) -> None:
    log = tmp_path_factory.mktemp("w") / "issues.md"
    log.write_bytes(before)

    assert record(log, entry(goal="first")) == "added"
    added = log.read_bytes()
    assert added.startswith(before)
    log.write_bytes(added + after)
    assert record(log, entry(goal=f"second {goal}")) == "updated"

    now = log.read_bytes()
    assert now.startswith(before)
    assert now.endswith(after)
    assert [found.goal for found in parse_issues(now.decode("utf-8", "replace")).entries] == [f"second {goal}"]
    old, new = (render(entry(goal=text)).encode() for text in ("first", f"second {goal}"))
    assert now.replace(b"\r\n", b"\n") == (added + after).replace(b"\r\n", b"\n").replace(old[:-1], new[:-1])


def test_the_mode_of_the_log_is_kept(log: Path) -> None:
    record(log, entry())
    log.chmod(0o600)
    record(log, entry("r2"))
    assert log.stat().st_mode & 0o777 == 0o600


def test_has_entry_tells_whether_a_run_is_in_the_log(log: Path) -> None:
    assert not has_entry(log, "r1")
    record(log, entry())
    assert has_entry(log, "r1")
    assert not has_entry(log, "r")


WRITER = """
import sys
from pathlib import Path
from threading import Thread
from kotef.sdd.issue_log import IssueEntry, record, settle
log, name = Path(sys.argv[1]), sys.argv[2]
def entry(run, goal=None, **facts):
    return IssueEntry(run_id=run, date="d", outcome="stuck", reason="r", goal=goal or run + "g" * 3000, attempts=1,
                      max_attempts=3, run_dir="x", follow_up="f", **facts)
failed = []
def write(thread):
    try:
        own = f"{name}-{thread}"
        assert record(log, entry(own)) == "added"
        record(log, entry("shared"))
        same = f"the same {thread % 2}"
        assert record(log, entry(f"again-{own}", goal=same)) in ("added", "seen_again")
        assert record(log, entry(f"again-{own}", goal=same)) == "unchanged"
        assert settle(log, entry(own)) == (own,)
    except BaseException as error:
        failed.append(error)
        raise
threads = [Thread(target=write, args=(number,)) for number in range(8)]
print("ready", flush=True)
sys.stdin.readline()
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
sys.exit(bool(failed))
"""


def test_32_writers_at_once_lose_nothing_and_tear_nothing(log: Path) -> None:
    """Four processes of eight threads each: new entries, one entry of all, repeats of one another, resolutions."""
    names = [f"w{number}" for number in range(4)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(log), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        for name in names
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        writer.communicate(timeout=60)

    assert [writer.returncode for writer in writers] == [0] * len(names)
    found = parse_issues(log.read_text())
    assert found.problems == ()
    every = {f"{name}-{number}" for name in names for number in range(8)}
    repeats = [one for one in found.entries if one.goal.startswith("the same")]
    assert len(every) == 32
    assert len(repeats) == 2
    assert {one.run_id for one in found.entries if one not in repeats} == {"shared", *every}
    assert {one.run_id for one in found.entries if one.state == "resolved"} == every
    assert sorted(run for one in repeats for run in one.runs) == sorted(f"again-{run}" for run in every)
    assert log.read_text().count("# Issues") == 1


def test_a_lock_that_is_never_released_is_an_error_not_a_hang(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issue_log, "LOCK_SECONDS", 0.1)
    (log.parent / "runs").mkdir(parents=True)
    with FileLock(log.parent / "runs" / "issues.lock"), pytest.raises(WorkspaceError, match="another process holds it"):
        record(log, entry())
    assert not log.exists()


@pytest.mark.parametrize(
    ("code", "error"), [(errno.ENOSPC, NoSpaceError), (errno.EDQUOT, NoSpaceError), (errno.EROFS, WorkspaceError)]
)
def test_a_write_that_fails_leaves_the_log_as_it_was(
    log: Path, monkeypatch: pytest.MonkeyPatch, code: int, error: type[Exception]
) -> None:
    record(log, entry())
    before = log.read_bytes()

    def fails(_fd: int) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "fsync", fails)
    with pytest.raises(error, match=r"issues\.md"):
        record(log, entry("r2"))

    assert log.read_bytes() == before
    assert sorted(path.name for path in log.parent.iterdir()) == ["issues.md", "runs"]


def test_a_directory_a_link_and_a_missing_parent_are_workspace_errors(tmp_path: Path) -> None:
    (tmp_path / "issues.md").mkdir()
    with pytest.raises(WorkspaceError, match="is a directory"):
        record(tmp_path / "issues.md", entry())

    target = tmp_path / "bashrc"
    target.write_text("mine")
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "issues.md").symlink_to(target)
    with pytest.raises(WorkspaceError, match="symbolic link"):
        record(tmp_path / "a" / "issues.md", entry())
    assert target.read_text() == "mine"

    (tmp_path / "file").write_text("")
    with pytest.raises(WorkspaceError, match="not a directory"):
        record(tmp_path / "file" / "issues.md", entry())
