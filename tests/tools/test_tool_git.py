"""git_status and git_diff tell what has changed since the run began, with git and without, and run nothing."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.tools.errors import ToolFault
from kotef.tools.git import MAX_DIFF, RunStart, git_diff, git_status
from kotef.workspace import Snapshots


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("HOME", str(tmp_path))
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    (root / "src" / "a.py").write_text("a = 1\n")
    (root / "gone.py").write_text("x\n")
    return root


@pytest.fixture
def user_git(place: Path) -> Callable[..., str]:
    def run(*args: str) -> str:
        identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
        return subprocess.run(["git", *identity, *args], cwd=place, check=True, capture_output=True, text=True).stdout

    run("init", "-q", "-b", "main")
    run("add", "-A")
    run("commit", "-q", "-m", "first")
    return run


def begin(root: Path) -> RunStart:
    snapshots = Snapshots.open(root)
    return RunStart(snapshots, snapshots.take())


def change(root: Path) -> None:
    (root / "src" / "a.py").write_text("a = 2\n")
    (root / "new.py").write_text("n\n")
    (root / "gone.py").unlink()


def test_without_git_the_run_is_its_own_history(place: Path) -> None:
    start = begin(place)
    assert git_status(place, start).splitlines() == [
        "not a git repository; kotef's own snapshots show what has changed",
        "since the start of the run:",
        "nothing has changed",
    ]
    assert git_diff(place, start) == "nothing has changed since the start of the run (kotef's own snapshot)"
    change(place)
    assert git_status(place, start).splitlines()[2:] == ["D  gone.py", "A  new.py", "M  src/a.py"]
    told = git_diff(place, start)
    assert told.startswith("changes since the start of the run (kotef's own snapshot):\ndiff --git a/gone.py b/gone.py")
    assert all(line in told.splitlines() for line in ("-a = 1", "+a = 2", "+n", "-x"))
    assert git_diff(place, start, "src").count("diff --git") == 1
    assert "nothing has changed in src/b since" in git_diff(place, start, "src/b")
    with pytest.raises(ToolFault, match="no git repository here; leave base out"):
        git_diff(place, start, base="HEAD")


def test_with_git_uncommitted_work_of_before_is_told_apart(place: Path, user_git: Callable[..., str]) -> None:
    (place / "src" / "a.py").write_text("a = 'mine'\n")
    start = begin(place)
    change(place)
    head = user_git("rev-parse", "HEAD").strip()
    told = git_status(place, start).splitlines()
    assert told[0] == f"branch main, commit {head[:10]}"
    assert told[1:5] == ["uncommitted:", " D gone.py", " M src/a.py", "?? new.py"]
    assert told[5:] == ["since the start of the run:", "D  gone.py", "A  new.py", "M  src/a.py"]
    assert "-a = 'mine'" in git_diff(place, start, "src")
    since = git_diff(place, start, "src", base="HEAD")
    assert since.startswith(f"changes in src since commit {head[:10]} (files that git does not track are not in it):")
    assert "-a = 1" in since


def test_a_subdirectory_as_workspace_tells_its_own_names_only(place: Path, user_git: Callable[..., str]) -> None:
    start = begin(place / "src")
    change(place)
    told = git_status(place / "src", start)
    assert " M a.py" in told
    assert "gone.py" not in told
    assert "a/a.py" in git_diff(place / "src", start, base="HEAD")


@pytest.mark.parametrize("base", ["nowhere", "--output=stolen", "-O/etc/passwd", "HEAD:src/a.py", "HEAD --stat"])
def test_a_base_is_a_commit_and_never_an_option(place: Path, user_git: Callable[..., str], base: str) -> None:
    start = begin(place)
    with pytest.raises(ToolFault, match="no such commit"):
        git_diff(place, start, base=base)
    assert not (place / "stolen").exists()


def test_nothing_the_repository_configures_is_run_and_nothing_is_written(
    place: Path, user_git: Callable[..., str], tmp_path: Path
) -> None:
    ran = tmp_path / "ran"
    script = tmp_path / "script"
    script.write_text(f"#!/bin/sh\necho ran >> {ran}\ncat\n")
    script.chmod(0o755)
    for name in ("diff.external", "core.fsmonitor", "filter.x.clean", "diff.x.textconv", "core.pager"):
        user_git("config", name, str(script))
    (place / ".gitattributes").write_text("*.py filter=x diff=x\n")
    user_git("add", "-A")
    start = begin(place)
    ran.unlink(missing_ok=True)
    change(place)
    index = (place / ".git" / "index").read_bytes()
    git_status(place, start)
    git_diff(place, start)
    git_diff(place, start, base="HEAD")
    assert not ran.exists()
    assert (place / ".git" / "index").read_bytes() == index


def test_files_that_may_hold_secrets_and_what_kotef_keeps_are_not_shown(
    place: Path, user_git: Callable[..., str]
) -> None:
    (place / ".env").write_text("KEY=old\n")
    (place / ".sdd" / "runs").mkdir(parents=True)
    (place / ".sdd" / "runs" / "x").write_text("old\n")
    user_git("add", "-A", "-f")
    user_git("commit", "-q", "-m", "careless")
    start = begin(place)
    (place / ".env").write_text("KEY=topsecret\n")
    (place / ".sdd" / "runs" / "x").write_text("new\n")
    for base in ("", "HEAD"):
        told = git_diff(place, start, base=base)
        assert "topsecret" not in told
        assert "[1 that may hold secrets are not shown]" in told
        assert ".sdd" not in told
    assert ".sdd" not in git_status(place, start)


def test_odd_names_and_long_diffs_are_bounded_and_printable(place: Path) -> None:
    start = begin(place)
    (place / "a b\n\t*.txt").write_text("x\n")
    (place / "long.txt").write_text("".join(f"line {number}\n" for number in range(5000)))
    (place / "wide.txt").write_text("w" * 90_000)
    with open(bytes(place) + b"/bad\xff", "wb") as file:  # noqa: PTH123
        file.write(b"x")
    told = git_diff(place, start)
    assert len(told) < MAX_DIFF + 500
    assert "characters left out" in told
    (told + git_status(place, start)).encode()
    assert "+x" in git_diff(place, start, "a b\n\t*.txt")
