"""Swapping a path for a link, a pipe or a directory between check and use never reaches a file outside."""

import errno
import os
import shutil
import stat
import subprocess
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import WorkspaceError
from kotef.files.paths import granted, remove_file, resolve_inside, write_atomic
from kotef.files.safe_open import (
    append_within,
    chmod_within,
    is_below,
    list_within,
    move_within,
    parent_within,
    read_inside,
    read_regular,
    read_within,
    remove_within,
    touch_within,
    walk_within,
    write_within,
)
from kotef.middleware.effect_log import LARGEST, digest


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def outside(root: Path) -> Path:
    """A folder beside the workspace with a file that must not be touched."""
    place = root.parent / "outside"
    place.mkdir()
    (place / "calc.py").write_text("theirs")
    return place


def swapped(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None]) -> None:
    """Run `act` between the check of a path and its use."""
    from kotef.files import paths

    check = paths.resolve_inside

    def then_swap(*arguments: object, **options: object) -> Path:
        found = check(*arguments, **options)
        act()
        return found

    monkeypatch.setattr(paths, "resolve_inside", then_swap)


@pytest.fixture
def swapped_folder(root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pkg`, which becomes a link to the folder outside once it was looked at."""
    (root / "pkg").mkdir()
    (root / "pkg" / "calc.py").write_text("ours")

    def swap() -> None:
        (root / "pkg").rename(root / "old")
        (root / "pkg").symlink_to(outside)

    swapped(monkeypatch, swap)


@pytest.mark.usefixtures("swapped_folder")
def test_a_folder_swapped_for_a_link_is_not_written_through(root: Path, outside: Path) -> None:
    with pytest.raises(WorkspaceError):
        write_atomic(root / "pkg" / "calc.py", b"new", root=root)
    assert (outside / "calc.py").read_text() == "theirs"
    assert names(outside) == ["calc.py"]
    assert (root / "old" / "calc.py").read_text() == "ours"


@pytest.mark.usefixtures("swapped_folder")
def test_a_folder_swapped_for_a_link_is_not_deleted_through(root: Path, outside: Path) -> None:
    with pytest.raises(WorkspaceError):
        remove_file(root / "pkg" / "calc.py", root=root)
    assert (outside / "calc.py").exists()


def test_a_file_swapped_for_a_link_is_replaced_and_the_target_stays(
    root: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "calc.py").write_text("ours")

    def swap() -> None:
        (root / "calc.py").unlink()
        (root / "calc.py").symlink_to(outside / "calc.py")

    swapped(monkeypatch, swap)
    write_atomic(root / "calc.py", b"new", root=root)
    assert (outside / "calc.py").read_text() == "theirs"
    assert (root / "calc.py").read_text() == "new"
    assert not (root / "calc.py").is_symlink()


def test_nothing_is_read_through_a_link(root: Path, outside: Path) -> None:
    (root / "pkg").symlink_to(outside)
    (root / "calc.py").symlink_to(outside / "calc.py")
    for path in ("pkg/calc.py", "calc.py"):
        with pytest.raises(OSError, match="symbolic link") as error:
            read_within(root, path, largest=100)
        assert error.value.errno in (errno.ELOOP, errno.ENOTDIR)


@pytest.mark.parametrize("read", [read_within, lambda root, path, largest: read_regular(root / path, largest=largest)])
def test_a_pipe_is_neither_read_nor_waited_for_and_a_large_file_is_not_read_whole(
    root: Path, read: Callable[..., bytes]
) -> None:
    os.mkfifo(root / "pipe")
    with pytest.raises(OSError, match="not a regular file"):
        read(root, "pipe", largest=10)
    (root / "large").write_bytes(b"x" * 11)
    with pytest.raises(OSError, match=r"[Ll]arge"):
        read(root, "large", largest=10)
    with pytest.raises(IsADirectoryError):
        read(root, ".git" if (root / ".git").exists() else _folder(root), largest=10)


def _folder(root: Path) -> str:
    (root / "folder").mkdir()
    return "folder"


def test_pipes_and_huge_files_have_a_digest_too(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "sparse").touch()
    os.truncate(root / "sparse", LARGEST * 1000)
    (root / "plain").write_text("x")
    found = [digest(root / name) for name in ("pipe", "sparse", "plain", "none")]
    assert len(set(found)) == 4
    assert found[3] == "missing"


@pytest.mark.parametrize("path", ["../x", "a/../../x", "/etc/passwd", "a//b", "", "./a", "a/."])
def test_an_ambiguous_name_is_refused(root: Path, path: str) -> None:
    assert not is_below(path)
    with pytest.raises(OSError), parent_within(root, path, create=True):  # noqa: PT011 - any error of the system
        pytest.fail("it was opened")
    assert list(root.iterdir()) == []


PART = st.sampled_from(["..", ".", "a", "b", "in", "out", "up", "", "out.txt", "etc", "a.txt", "new"])


@pytest.fixture(scope="module")
def maze(tmp_path_factory: pytest.TempPathFactory) -> Path:
    top = tmp_path_factory.mktemp("maze")
    root = top / "root"
    (root / "a" / "b").mkdir(parents=True)
    (top / "root-beside").mkdir()
    (top / "root-beside" / "a.txt").write_text("theirs")
    (top / "a.txt").write_text("theirs")
    (root / "in").symlink_to("a/b")
    (root / "out").symlink_to(top / "root-beside")
    (root / "a" / "up").symlink_to("../..")
    (root / "a" / "b" / "out").symlink_to("../../../root-beside")
    (root / "a.txt").write_text("ours")
    (root / "out.txt").symlink_to(top / "a.txt")
    return root


@example_count(200)
@given(parts=st.lists(PART, min_size=1, max_size=6), absolute=st.booleans())
def test_no_path_reads_or_writes_outside(maze: Path, parts: list[str], absolute: bool) -> None:
    """Through `resolve_inside`, and past it directly to the functions that open."""
    top = maze.parent
    path = "/".join(parts)
    given_path = f"{maze}/{path}" if absolute else path
    for act in (
        lambda: write_atomic(maze / path, b"ours", root=maze),
        lambda: write_atomic(Path(given_path), b"ours", root=maze),
        lambda: read_within(maze, path, largest=100),
        lambda: resolve_inside(maze, given_path, write=False).read_bytes(),
    ):
        try:
            got = act()
        except (WorkspaceError, OSError):
            continue
        assert got in (None, b"ours")
    assert (top / "a.txt").read_text() == "theirs"
    assert (top / "root-beside" / "a.txt").read_text() == "theirs"
    assert names(top) == ["a.txt", "root", "root-beside"]
    assert names(top / "root-beside") == ["a.txt"]


def test_concurrent_swaps_never_lead_a_reader_outside(root: Path, outside: Path) -> None:
    """A process that swaps a folder and a link all the time wins no race."""
    (root / "pkg").mkdir()
    (root / "pkg" / "calc.py").write_text("ours")
    (root / "link").symlink_to(outside)
    over = threading.Event()

    def move(name: str, to: str) -> None:
        while True:
            with suppress(OSError):
                (root / name).rename(root / to)
                return
            shutil.rmtree(root / to, ignore_errors=True)  # the writer has just made the folder that was missing

    def swap() -> None:
        while not over.is_set():
            move("pkg", "aside")
            move("link", "pkg")
            move("pkg", "link")
            move("aside", "pkg")

    thread = threading.Thread(target=swap)
    thread.start()
    seen = set[str]()
    try:
        for number in range(400):
            try:
                seen.add(read_within(root, "pkg/calc.py", largest=100).decode())
                write_atomic(root / "pkg" / "calc.py", b"ours%d" % number, root=root)
            except (OSError, WorkspaceError):
                continue
    finally:
        over.set()
        thread.join()
    assert "theirs" not in seen
    assert (outside / "calc.py").read_text() == "theirs"
    assert names(outside) == ["calc.py"]


def test_gits_own_files_are_not_written_whatever_they_are_called(root: Path) -> None:
    """`.git` may be a file that names them: a bare repository beside the worktrees is a common layout."""
    for name in ("objects", "refs"):
        (root / ".bare" / name).mkdir(parents=True)
    (root / ".bare" / "HEAD").write_text("ref: refs/heads/main\n")
    (root / ".git").write_text("gitdir: ./.bare\n")
    for path in (".bare/hooks/pre-commit", ".bare/config", ".bare/refs/heads/main"):
        with pytest.raises(WorkspaceError, match="git's own"):
            resolve_inside(root, path, write=True)
    assert resolve_inside(root, "refs/HEAD", write=True)


def test_granted_folders_are_read_and_never_written(root: Path, outside: Path) -> None:
    reads = granted([str(outside)])
    (root / "link").symlink_to(outside)
    for path in (str(outside / "calc.py"), "../outside/calc.py", "link/calc.py"):
        assert resolve_inside(root, path, write=False, reads=reads) == outside.resolve() / "calc.py"
        with pytest.raises(WorkspaceError, match="leads out"):
            resolve_inside(root, path, write=True, reads=reads)
        with pytest.raises(WorkspaceError, match="leads out"):
            resolve_inside(root, path, write=False)
    (outside / ".env").write_text("KEY=1")
    (outside / "up").symlink_to(root.parent)
    (outside.parent / "outside-2").mkdir()
    for path, why in (
        ("../outside/.env", "secrets"),
        ("../outside/up/x", "leads out"),
        ("../outside-2/x", "leads out"),
        ("../outside/../x", "leads out"),
        ("/proc/self/environ", "leads out"),
    ):
        with pytest.raises(WorkspaceError, match=why):
            resolve_inside(root, path, write=False, reads=reads)


def test_the_home_of_nobody_is_a_folder_that_is_not_there(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(root)
    assert granted(["~nosuch-user/x"]) == (root.resolve() / "~nosuch-user" / "x",)


def test_one_granted_file_opens_nothing_beside_it(root: Path, outside: Path) -> None:
    reads = granted([str(outside / "calc.py"), "/proc"])
    (outside / "other.py").write_text("")
    assert resolve_inside(root, str(outside / "calc.py"), write=False, reads=reads)
    with pytest.raises(WorkspaceError, match="leads out"):
        resolve_inside(root, str(outside / "other.py"), write=False, reads=reads)
    with pytest.raises(WorkspaceError, match="kernel"):
        resolve_inside(root, "/proc/self/environ", write=False, reads=reads)


def test_an_explicit_mode_is_set(root: Path) -> None:
    write_atomic(root / "run.sh", b"x", root=root, mode=0o751)
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o751


@pytest.mark.parametrize("do", ["write", "append", "remove", "list"])
def test_no_component_of_a_path_may_be_a_link(tmp_path: Path, do: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").write_bytes(b"theirs")
    (tmp_path / "root" / "a").mkdir(parents=True)
    (tmp_path / "root" / "a" / "link").symlink_to(tmp_path / "out")

    with pytest.raises(OSError, match="link"):
        {
            "write": lambda: write_within(tmp_path / "root", "a/link/file", b"ours"),
            "append": lambda: append_within(tmp_path / "root", "a/link/file", b"ours"),
            "remove": lambda: remove_within(tmp_path / "root", "a/link/file"),
            "list": lambda: list_within(tmp_path / "root", "a/link", most=10),
        }[do]()

    assert (tmp_path / "out" / "file").read_bytes() == b"theirs"


def test_a_link_is_replaced_by_a_write_and_refused_by_an_append(tmp_path: Path) -> None:
    (tmp_path / "out").write_bytes(b"theirs")
    (tmp_path / "one").symlink_to(tmp_path / "out")
    (tmp_path / "two").symlink_to(tmp_path / "nothing")

    write_within(tmp_path, "one", b"ours")
    with pytest.raises(OSError, match="link"):
        append_within(tmp_path, "two", b"ours")

    assert (tmp_path / "one").read_bytes() == b"ours"
    assert not (tmp_path / "one").is_symlink()
    assert (tmp_path / "out").read_bytes() == b"theirs"
    assert not (tmp_path / "nothing").exists()


def test_a_pipe_is_neither_appended_to_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(OSError, match=r"pipe|No such device"):
        append_within(tmp_path, "pipe", b"x")


def test_a_hard_linked_file_is_not_appended_to(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(b"theirs")
    (tmp_path / "two").hardlink_to(tmp_path / "one")

    with pytest.raises(OSError, match="one name"):
        append_within(tmp_path, "two", b"ours")

    assert (tmp_path / "one").read_bytes() == b"theirs"


def test_removing_a_folder_removes_its_links_but_not_their_targets(tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "file").touch()
    (tmp_path / "gone" / "deep").mkdir(parents=True)
    (tmp_path / "gone" / "deep" / "link").symlink_to(tmp_path / "out")

    remove_within(tmp_path, "gone")
    remove_within(tmp_path, "gone")

    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    assert (tmp_path / "out" / "file").exists()


def test_a_listing_distinguishes_folders_and_files_from_links(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "link").symlink_to(tmp_path / "folder")

    assert list_within(tmp_path, most=10) == [
        ("file", False, True, False),
        ("folder", True, False, False),
        ("link", False, False, True),
    ]
    assert len(list_within(tmp_path, most=2)) == 2


def test_a_link_is_followed_only_if_it_leads_inside(root: Path, outside: Path) -> None:
    (root / "CLAUDE.md").write_text("be brief")
    (root / "AGENTS.md").symlink_to("CLAUDE.md")
    (root / "out").symlink_to(outside / "calc.py")
    (root / "circle").symlink_to("circle")

    assert read_inside(root, "AGENTS.md", largest=100) == b"be brief"
    for name, fault in (("out", errno.EXDEV), ("circle", errno.ELOOP), ("nothing", errno.ENOENT)):
        with pytest.raises(OSError, match=r"\[Errno") as error:
            read_inside(root, name, largest=100)
        assert error.value.errno == fault


def test_with_cut_only_the_head_of_a_huge_file_is_read(root: Path) -> None:
    with (root / "huge").open("wb") as file:
        file.truncate(10 << 30)

    assert read_within(root, "huge", largest=10, cut=True) == bytes(10)
    with pytest.raises(OSError, match="large"):
        read_within(root, "huge", largest=10)


def test_a_walk_enters_no_link_and_reaches_any_depth(root: Path, outside: Path) -> None:
    (root / "way").symlink_to(outside)
    deep = "/".join("d" * 1_100)  # Python's own `mkdir` and `walk` stop at about a thousand
    subprocess.run(["mkdir", "-p", root / deep], check=True)
    (root / deep / "end").touch()

    walked = list(walk_within(root, most=100))

    assert (walked[0].folders, "way" in walked[0].others) == (["d"], True)
    assert walked[-1] == (deep, [], ["end"])
    subprocess.run(["rm", "-rf", root / "d"], check=True)  # Python's own rmtree is recursive


@pytest.mark.parametrize(
    "change", [lambda root: chmod_within(root, "x", 0o777), lambda root: touch_within(root, "x", 5)]
)
def test_mode_and_times_of_a_links_target_never_change(
    root: Path, outside: Path, change: Callable[[Path], None]
) -> None:
    (root / "x").symlink_to(outside / "calc.py")
    before = (outside / "calc.py").stat()

    with suppress(OSError):
        change(root)

    after = (outside / "calc.py").stat()
    assert (after.st_mode, after.st_mtime) == (before.st_mode, before.st_mtime)


def test_the_mode_of_an_unreadable_file_can_be_changed(root: Path) -> None:
    (root / "x").touch(mode=0)
    chmod_within(root, "x", 0o640)
    assert stat.S_IMODE((root / "x").stat().st_mode) == 0o640


def test_a_move_follows_no_link(root: Path, outside: Path) -> None:
    (root / "a").write_text("a")
    move_within(root, "a", "new/a")
    assert (root / "new" / "a").read_text() == "a"
    (root / "way").symlink_to(outside)
    with pytest.raises(OSError, match="symbolic link"):
        move_within(root, "new/a", "way/a")
    assert names(outside) == ["calc.py"]
