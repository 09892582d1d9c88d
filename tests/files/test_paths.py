import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.files.paths import resolve_inside, state_dir, write_atomic
from kotef.files.safe_open import TEMPORARY


def refused(root: Path, path: str, *, write: bool, because: str) -> None:
    with pytest.raises(WorkspaceError, match=because) as error:
        resolve_inside(root, path, write=write)
    assert "\n" not in str(error.value)
    assert str(error.value).endswith(")"), "a way out is named"


def names(directory: Path) -> list[str]:
    return [path.name for path in directory.iterdir()]


def test_plain_paths_are_resolved(root: Path) -> None:
    (root / "src").mkdir()
    (root / "src" / "a.py").write_text("")
    real = root.resolve()
    for write in (False, True):
        assert resolve_inside(root, "src/a.py", write=write) == real / "src" / "a.py"
        assert resolve_inside(root, str(root / "src" / "a.py"), write=write) == real / "src" / "a.py"
        assert resolve_inside(root, "src/../src/./a.py", write=write) == real / "src" / "a.py"
        assert resolve_inside(root, "new/deep/file", write=write) == real / "new" / "deep" / "file"
    assert resolve_inside(root, ".", write=False) == real
    assert resolve_inside(root, "src", write=False) == real / "src"
    refused(root, "src", write=True, because="is a directory")


@pytest.mark.parametrize(
    "path", ["..", "../project2/x", "a/../../x", "/etc/passwd", "/", "../project-2", "src/../../../x"]
)
def test_no_path_leaves_the_workspace(root: Path, path: str) -> None:
    (root.parent / "project-2").mkdir()
    refused(root, path, write=False, because="leads out of the workspace")


def test_links_are_followed_before_judging(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (root / "out").symlink_to(tmp_path / "outside")
    (root / "dangling").symlink_to("../nowhere")
    (root / "proc").symlink_to("/proc/self/environ")
    (root / "chain").symlink_to("out")
    for path in ("out", "out/x", "dangling", "proc", "chain/x", "out/../x"):
        refused(root, path, write=False, because="leads out of the workspace")
    (root / "here").mkdir()
    (root / "in").symlink_to("here")
    assert resolve_inside(root, "in/x", write=True) == root.resolve() / "here" / "x"
    (root / "round").symlink_to("round")
    refused(root, "round", write=True, because="is not a regular file|too many levels")


def test_a_link_does_not_hide_what_a_name_refuses(root: Path) -> None:
    (root / ".git").mkdir()
    (root / ".env").write_text("")
    (root / "git").symlink_to(".git")
    (root / "settings").symlink_to(".env")
    (root / "plain").write_text("")
    (root / "server.key").symlink_to("plain")
    refused(root, "git/hooks/pre-commit", write=True, because="git's own")
    refused(root, "settings", write=False, because="secrets")
    refused(root, "server.key", write=False, because="keys")


@pytest.mark.parametrize(
    "path", [".git/hooks/pre-commit", ".GIT/x", "vendor/lib/.git/config", ".git", ".sdd/issues.md", ".SDD/x", ".sdd"]
)
def test_git_and_sdd_are_never_written(root: Path, path: str) -> None:
    refused(root, path, write=True, because="must not be written|login")


def test_git_and_sdd_may_be_read_but_not_gits_configuration(root: Path) -> None:
    for path in (".git/HEAD", ".sdd/goal.md", "examples/x/.sdd/goal.md"):
        assert resolve_inside(root, path, write=False) == root.resolve() / path
    inner = "examples/x/.sdd/goal.md"
    assert resolve_inside(root, inner, write=True) == root.resolve() / inner
    refused(root, ".git/config", write=False, because="login")


@pytest.mark.parametrize(
    "path", [".env", ".env.local", "app/.envrc", ".ENV", "id_rsa", "a/id_ed25519", "tls/server.pem", "x.key", ".netrc"]
)
def test_secrets_are_neither_read_nor_written(root: Path, path: str) -> None:
    for write in (False, True):
        refused(root, path, write=write, because="secrets|keys")


@pytest.mark.parametrize(
    "path",
    [".env.example", ".env.test.sample", ".env.template", ".env.defaults", "env.py", "keys.py", "id_rsa.pub", "monkey"],
)
def test_samples_and_names_alike_are_free(root: Path, path: str) -> None:
    for write in (False, True):
        assert resolve_inside(root, path, write=write) == root.resolve() / path


def test_only_plain_files_with_one_name_are_written(root: Path, tmp_path: Path) -> None:
    os.mkfifo(root / "pipe")
    refused(root, "pipe", write=False, because="is not a regular file")
    (tmp_path / "outside").write_text("x")
    os.link(tmp_path / "outside", root / "hard")
    refused(root, "hard", write=True, because="hard link")
    assert resolve_inside(root, "hard", write=False) == root.resolve() / "hard"
    (root / "file").write_text("")
    refused(root, "file/below", write=True, because="not a directory")
    refused(root, "x" * 300, write=False, because="too long")
    refused(root, "a\0b", write=False, because="NUL")


def test_the_kernels_files_are_refused_even_in_the_root_directory() -> None:
    refused(Path("/"), "proc/self/environ", write=False, because="kernel")
    refused(Path("/"), "dev/null", write=False, because="kernel")


def test_a_missing_workspace_is_said(tmp_path: Path) -> None:
    refused(tmp_path / "nowhere", "x", write=False, because="no such file")


PART = st.sampled_from(["..", ".", "a", "b", "in", "out", "up", "", "out.txt", "/", "/etc", "a.txt"])


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("maze")
    root = top / "root"
    (root / "a" / "b").mkdir(parents=True)
    (top / "root-beside").mkdir()
    (root / "in").symlink_to("a/b")
    (root / "out").symlink_to(top / "root-beside")
    (root / "a" / "up").symlink_to("../..")
    (root / "a" / "b" / "out").symlink_to("../../../root-beside")
    (root / "a.txt").write_text("")
    (root / "out.txt").symlink_to(top / "x.txt")
    return root


@example_count(300)
@given(parts=st.lists(PART, max_size=7), write=st.booleans())
def test_whatever_the_path_the_result_is_inside_and_only_what_is_not_is_refused(
    maze: Path, parts: list[str], write: bool
) -> None:
    path = "/".join(parts)
    real = Path(os.path.realpath(maze / path))
    inside = real.is_relative_to(maze.resolve())
    try:
        found = resolve_inside(maze, path, write=write)
    except WorkspaceError:
        assert not inside or (write and real.is_dir()) or any(parent.is_file() for parent in real.parents)
    else:
        assert inside
        assert found == real, "no link is left in it"


def test_the_state_directory_is_ours_alone_and_one_per_workspace(root: Path, tmp_path: Path) -> None:
    found = state_dir(root)
    assert found.parent == Path(os.environ["XDG_STATE_HOME"]) / "kotef"
    assert stat.S_IMODE(found.stat().st_mode) == 0o700
    assert stat.S_IMODE(found.parent.stat().st_mode) == 0o700
    (tmp_path / "link").symlink_to(root)
    assert state_dir(tmp_path / "link") == found
    assert state_dir(tmp_path) != found


def test_without_an_absolute_xdg_state_home_it_is_under_home(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", "relative")
    assert state_dir(root).is_relative_to(Path.home() / ".local" / "state" / "kotef")


def test_a_state_directory_that_cannot_be_made_names_the_way_out(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file" / "state"))
    with pytest.raises(WorkspaceError, match="set XDG_STATE_HOME"):
        state_dir(root)


def test_a_write_keeps_the_mode_and_leaves_nothing_beside_it(root: Path) -> None:
    file = root / "run.sh"
    file.write_bytes(b"old")
    file.chmod(0o750)
    write_atomic(file, b"new\r\n\xff")
    assert file.read_bytes() == b"new\r\n\xff"
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    assert names(root) == ["run.sh"]


def test_a_new_file_gets_its_directories_and_the_mode_the_umask_leaves(root: Path) -> None:
    before = os.umask(0o027)
    try:
        write_atomic(root / "a" / "b" / "new", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((root / "a" / "b" / "new").stat().st_mode) == 0o640


def test_a_reader_sees_the_old_content_until_the_new_is_whole(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "file").write_bytes(b"old")
    seen: list[bytes] = []
    fsync = os.fsync
    monkeypatch.setattr(os, "fsync", lambda file: (seen.append((root / "file").read_bytes()), fsync(file)))
    write_atomic(root / "file", b"new")
    assert seen == [b"old"], "synced once, before it took the place"


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_said_and_the_old_content_stays(
    root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (root / "file").write_bytes(b"old")

    def full(_file: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(NoSpaceError, match="no space left"):
        write_atomic(root / "file", b"new")
    assert (root / "file").read_bytes() == b"old"
    assert names(root) == ["file"]


def test_any_other_failure_is_a_workspace_error(root: Path) -> None:
    (root / "directory").mkdir()
    with pytest.raises(WorkspaceError, match="directory"):
        write_atomic(root / "directory", b"x")
    assert not [name for name in names(root) if TEMPORARY.fullmatch(name)]


def test_a_write_with_a_root_is_checked_again(root: Path, tmp_path: Path) -> None:
    (root / "link").symlink_to(tmp_path / "outside")
    with pytest.raises(WorkspaceError, match="leads out"):
        write_atomic(root / "link", b"x", root=root)
    assert not (tmp_path / "outside").exists()
    write_atomic(root / "file", b"x", root=root)
    assert (root / "file").read_bytes() == b"x"
