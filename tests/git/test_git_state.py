"""What decides which programs the user's git runs comes back byte for byte."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import WorkspaceError
from kotef.git.state import MAX_BYTES, git_state

UserGit = Callable[..., str]


def facts(place: Path) -> dict[str, tuple[int, bytes | str]]:
    found: dict[str, tuple[int, bytes | str]] = {}
    for path in [place / "config", place / "hooks", *(place / "hooks").rglob("*")]:
        if path.is_symlink():
            found[str(path.relative_to(place))] = (0, str(path.readlink()))
        elif path.exists():
            content = path.read_bytes() if path.is_file() else b""
            found[str(path.relative_to(place))] = (path.stat().st_mode, content)
    return found


def put_back(root: Path, act: Callable[[Path], object], tmp_path: Path) -> tuple[str, ...]:
    """Remember, act on the git directory, put back; hold that all is as before."""
    place = root / ".git"
    before, state = facts(place), git_state(root)
    assert state is not None
    act(place)
    names = state.put_back(tmp_path / "aside")
    assert facts(place) == before
    assert state.put_back(tmp_path / "aside") == (), "once is enough"
    return names


def test_where_there_is_no_git_there_is_nothing_to_remember(root: Path) -> None:
    assert git_state(root) is None
    (root / ".git").write_text("no pointer\n")
    assert git_state(root) is None


def test_what_nobody_touched_is_left_alone(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    times = {path: path.stat().st_ctime_ns for path in (root / ".git").rglob("*")}
    assert put_back(root, lambda _: None, tmp_path) == ()
    assert {path: path.stat().st_ctime_ns for path in (root / ".git").rglob("*")} == times
    assert not (tmp_path / "aside").exists()


def test_a_planted_hook_goes_and_a_copy_stays(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    def plant(place: Path) -> None:
        (place / "hooks" / "pre-commit").write_text("#!/bin/sh\nexit 1\n")
        (place / "hooks" / "pre-commit").chmod(0o755)

    assert put_back(root, plant, tmp_path) == ("pre-commit",)
    copy = tmp_path / "aside" / "pre-commit"
    assert (copy.read_text(), copy.stat().st_mode & 0o111) == ("#!/bin/sh\nexit 1\n", 0)


def test_a_changed_a_deleted_and_a_disabled_hook_come_back(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (root / ".git" / "hooks" / name).write_text(name)
        (root / ".git" / "hooks" / name).chmod(0o755)

    def act(place: Path) -> None:
        (place / "hooks" / "a").write_text("other")
        (place / "hooks" / "b").unlink()
        (place / "hooks" / "c").chmod(0o644)

    assert put_back(root, act, tmp_path) == ("a", "b", "c")


def test_the_configuration_comes_back(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    assert put_back(root, lambda _: user_git("config", "core.hooksPath", "evil"), tmp_path) == ("config",)


@pytest.mark.parametrize("how", ["linked", "file", "gone", "closed"])
def test_the_directory_of_hooks_comes_back_whatever_became_of_it(
    root: Path, user_git: UserGit, tmp_path: Path, how: str
) -> None:
    (root / ".git" / "hooks" / "post-merge").write_text("mine")
    evil = root / "evil"
    evil.mkdir()
    (evil / "pre-commit").write_text("evil")

    def act(place: Path) -> None:
        hooks = place / "hooks"
        if how == "closed":
            hooks.chmod(0)
            return
        hooks.rename(root / "away")
        if how == "linked":
            hooks.symlink_to(evil)
        elif how == "file":
            hooks.write_text("x")

    assert "hooks" in put_back(root, act, tmp_path)
    assert [path.name for path in evil.iterdir()] == ["pre-commit"], "nothing is written through a link"


def test_a_hook_that_became_a_directory_a_link_or_a_pipe_comes_back(
    root: Path, user_git: UserGit, tmp_path: Path
) -> None:
    for name in ("a", "b", "c"):
        (root / ".git" / "hooks" / name).write_text(name)
    (root / "target").write_text("theirs")

    def act(place: Path) -> None:
        for name in ("a", "b", "c"):
            (place / "hooks" / name).unlink()
        (place / "hooks" / "a").mkdir()
        (place / "hooks" / "b").symlink_to(root / "target")
        os.mkfifo(place / "hooks" / "c")

    assert put_back(root, act, tmp_path) == ("a", "b", "c")
    assert (root / "target").read_text() == "theirs"


def test_a_linked_directory_of_hooks_is_the_projects_own(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    hooks, own = root / ".git" / "hooks", root / "githooks"
    hooks.rename(own)
    hooks.symlink_to(own)
    state = git_state(root)
    assert state is not None
    (own / "pre-commit").write_text("an edit of a file of the project")
    assert state.put_back(tmp_path / "aside") == ()
    assert (own / "pre-commit").exists()


def test_a_repository_without_hooks_has_none_afterwards(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    for path in (root / ".git" / "hooks").iterdir():
        path.unlink()
    (root / ".git" / "hooks").rmdir()

    def act(place: Path) -> None:
        (place / "hooks").mkdir()
        (place / "hooks" / "pre-push").write_text("x")

    assert put_back(root, act, tmp_path) == ("hooks", "pre-push")


def test_what_is_too_large_is_not_kept_and_goes_where_it_is_new(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    large = b"x" * (MAX_BYTES + 1)
    (root / ".git" / "hooks" / "theirs").write_bytes(large)
    assert put_back(root, lambda place: (place / "hooks" / "new").write_bytes(large), tmp_path) == ("new",)
    state = git_state(root)
    assert state is not None
    (root / ".git" / "hooks" / "theirs").write_bytes(large + b"x")
    assert state.put_back(tmp_path / "aside") == ()


def test_a_directory_below_the_top_of_the_working_tree_has_its_git(
    root: Path, user_git: UserGit, tmp_path: Path
) -> None:
    (root / "sub").mkdir()
    state = git_state(root / "sub")
    assert state is not None
    (root / ".git" / "hooks" / "pre-commit").touch()
    assert state.put_back(tmp_path / "aside") == ("pre-commit",)


def test_a_worktree_shares_the_hooks_of_its_repository(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    user_git("commit", "--quiet", "--allow-empty", "-m", "start")
    tree = tmp_path / "tree"
    user_git("worktree", "add", "--quiet", str(tree))
    state = git_state(tree)
    assert state is not None
    (root / ".git" / "hooks" / "pre-commit").touch()
    subprocess.run(["git", "config", "extensions.worktreeConfig", "true"], cwd=tree, check=True)
    subprocess.run(["git", "config", "--worktree", "core.hooksPath", "evil"], cwd=tree, check=True)
    assert state.put_back(tmp_path / "aside") == ("config", "config.worktree", "pre-commit")
    done = subprocess.run(["git", "config", "core.hooksPath"], cwd=tree, check=False, capture_output=True)
    assert (done.returncode, done.stdout) == (1, b"")


def test_a_repository_that_is_gone_is_not_half_made_again(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    state = git_state(root)
    assert state is not None
    (root / ".git").rename(tmp_path / "away")
    assert state.put_back(tmp_path / "aside") == ()
    assert not (root / ".git").exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_what_cannot_be_put_back_is_said(root: Path, user_git: UserGit, tmp_path: Path) -> None:
    state = git_state(root)
    assert state is not None
    (root / ".git" / "config").write_text("")
    (root / ".git").chmod(0o555)
    try:
        with pytest.raises(WorkspaceError):
            state.put_back(tmp_path / "aside")
    finally:
        (root / ".git").chmod(0o755)


_NAMES = st.sampled_from(["pre-commit", "post-merge", "x"])
_HOOKS = st.dictionaries(_NAMES, st.tuples(st.binary(max_size=9), st.sampled_from([0o644, 0o755])))


@example_count(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=_HOOKS, after=_HOOKS)
def test_any_set_of_hooks_comes_back_and_only_what_differed_is_named(
    root: Path,
    user_git: UserGit,
    tmp_path: Path,
    before: dict[str, tuple[bytes, int]],
    after: dict[str, tuple[bytes, int]],
) -> None:
    hooks = root / ".git" / "hooks"

    def lay(wanted: dict[str, tuple[bytes, int]]) -> None:
        for path in hooks.iterdir():
            path.unlink()
        for name, (content, mode) in wanted.items():
            (hooks / name).write_bytes(content)
            (hooks / name).chmod(mode)

    lay(before)
    names = put_back(root, lambda _: lay(after), tmp_path)
    assert set(names) == {name for name in before | after if before.get(name) != after.get(name)}
