import os
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.git.commands import git, inspect
from kotef.workspace import Snapshots

UserGit = Callable[..., str]


def test_a_directory_without_git_is_no_repository(root: Path) -> None:
    facts = inspect(root)
    assert (facts.is_repo, facts.toplevel, facts.head, facts.has_commits) == (False, None, None, False)


def test_a_repository_without_a_commit_has_a_branch_and_no_head(root: Path, user_git: UserGit) -> None:
    facts = inspect(root)
    assert (facts.is_repo, facts.head, facts.branch, facts.dirty, facts.has_commits) == (
        True,
        None,
        "main",
        False,
        False,
    )
    (root / "new").touch()
    assert inspect(root).dirty


def test_head_branch_and_dirt_are_told(root: Path, user_git: UserGit) -> None:
    (root / "sub").mkdir()
    (root / "sub" / "a").write_text("1")
    user_git("add", ".")
    user_git("commit", "-m", "first")
    head = user_git("rev-parse", "HEAD").strip()
    facts = inspect(root / "sub")
    assert (facts.toplevel, facts.head, facts.branch, facts.dirty) == (root.resolve(), head, "main", False)
    user_git("checkout", "--quiet", "--detach")
    (root / "sub" / "a").write_text("22")
    facts = inspect(root)
    assert (facts.head, facts.branch, facts.dirty, facts.has_commits) == (head, None, True, True)


def test_a_bare_repository_is_no_working_tree(tmp_path: Path) -> None:
    git(["init", "--bare", str(tmp_path / "bare.git")], cwd=tmp_path)
    assert not inspect(tmp_path / "bare.git").is_repo


def test_the_parents_git_variables_and_the_users_configuration_are_not_seen(
    root: Path, user_git: UserGit, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (Path.home() / ".gitconfig").write_text("[user]\n\tname = somebody\n")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    assert git(["config", "user.name"], cwd=root, check=False) == b""
    assert git(["config", "user.name"], cwd=root, user_config=True) == b"somebody\n"
    assert inspect(root).is_repo


def hostile(root: Path, user_git: UserGit) -> Path:
    """Make the repository run a program at every occasion git knows; returns where that program leaves its traces."""
    (root / "a.txt").write_text("one\n")
    (root / "b.txt").write_text("one\n")
    user_git("add", ".")
    user_git("commit", "-m", "first")
    trace, program = root.parent / "ran", root.parent / "program"
    program.write_text(f'#!/bin/sh\necho "$0 $*" >> {trace}\ncat\n')
    program.chmod(0o755)
    for name in ("core.fsmonitor", "diff.external", "diff.odd.textconv", "diff.odd.command", "core.pager", "core.sshCommand",
                 "filter.odd.clean", "filter.odd.smudge", "filter.o=d d.process", "gpg.program", "core.editor", "core.askPass"):  # fmt: skip
        user_git("config", name, str(program))
    user_git("config", "filter.odd.required", "true")
    user_git("config", "log.showSignature", "true")
    for hook in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (root / ".git" / "hooks" / hook).write_text(program.read_text())
        (root / ".git" / "hooks" / hook).chmod(0o755)
    (root / ".gitattributes").write_text("a.txt filter=odd diff=odd\nb.txt filter=o=d\n")
    (root / ".git" / "info" / "attributes").write_text("*.txt filter=odd diff=odd\n")
    (root / "a.txt").write_text("two\n")
    os.utime(root / "b.txt", (1, 1))
    return trace


def test_nothing_a_hostile_repository_configures_is_run(root: Path, user_git: UserGit) -> None:
    trace = hostile(root, user_git)
    assert inspect(root).dirty
    assert b"+two" in git(["diff"], cwd=root)
    assert b"+one" in git(["log", "-p"], cwd=root)
    assert b"+one" in git(["show"], cwd=root, user_config=True)
    git(["status"], cwd=root)
    assert b"two" in git(["blame", "a.txt"], cwd=root)
    git(["grep", "two"], cwd=root)
    git(["ls-files", "-z", "-c", "-o", "--exclude-standard"], cwd=root)
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    (root / "a.txt").write_text("three\n")
    after = snapshots.take()
    assert snapshots.restore(before, last=after).put_back == ("a.txt",)
    assert (root / "a.txt").read_text() == "two\n"
    assert not trace.exists(), trace.read_text()
    user_git("diff")
    assert trace.exists(), "the trap works: plain git steps into it"


def test_a_partial_clone_does_not_fetch_through_a_program_of_the_repository(root: Path, user_git: UserGit) -> None:
    trace = hostile(root, user_git)
    user_git("config", "--unset", "core.fsmonitor")
    (root.parent / "program").write_text(f'#!/bin/sh\necho "$*" >> {trace}\n')
    user_git("config", "core.repositoryFormatVersion", "1")
    user_git("config", "extensions.partialClone", "origin")
    user_git("config", "remote.origin.promisor", "true")
    user_git("config", "remote.origin.url", "ssh://example.org/x")
    for found in (root / ".git" / "objects").glob("??/*"):
        found.chmod(stat.S_IWUSR)
        found.unlink()
    with pytest.raises(WorkspaceError, match="git status failed"):
        inspect(root)
    assert not trace.exists()
    subprocess.run(["git", "rev-list", "HEAD"], cwd=root, check=False, capture_output=True, timeout=20)
    assert "example.org" in trace.read_text(), "the trap works: plain git steps into it"


def test_a_missing_git_names_the_way_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    with pytest.raises(WorkspaceError, match="install git"):
        inspect(root)


def test_a_missing_directory_is_said(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is not a directory"):
        inspect(tmp_path / "nowhere")


def test_a_broken_repository_is_said_in_one_line(root: Path, user_git: UserGit) -> None:
    (root / ".git" / "config").write_text("[core\n")
    with pytest.raises(WorkspaceError, match="bad config line 1") as error:
        inspect(root)
    assert "\n" not in str(error.value)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs root to give a directory away")
def test_a_repository_of_somebody_else_names_the_way_out(root: Path, user_git: UserGit) -> None:
    os.chown(root, 12345, 12345)
    os.chown(root / ".git", 12345, 12345)
    with pytest.raises(WorkspaceError, match="git config --global --add safe"):
        inspect(root)


def test_a_full_disk_is_told_apart(root: Path, user_git: UserGit, monkeypatch: pytest.MonkeyPatch) -> None:
    (root.parent / "git").write_text("#!/bin/sh\necho 'fatal: write error: No space left on device' >&2; exit 128\n")
    (root.parent / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{root.parent}:{os.environ['PATH']}")
    with pytest.raises(NoSpaceError):
        git(["status"], cwd=root)
