"""Copies and moves between the workspace and kotef's own folders follow no link in the workspace."""

import os
from pathlib import Path

import pytest

from kotef.files.transfer import copy_in, copy_out, move_out


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "out" / "deep").mkdir(parents=True)
    (tmp_path / "out" / "deep" / "file").write_text("theirs")
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "out")
    return root


@pytest.mark.parametrize("path", ["link/deep/file", "link/deep", "link/new"])
def test_nothing_is_copied_through_a_link(root: Path, tmp_path: Path, path: str) -> None:
    mine = tmp_path / "mine"
    (tmp_path / "ours").write_text("ours")

    for do in (
        lambda: copy_out(root, path, mine / "x"),
        lambda: copy_out(root, path, mine / "x", link=True),
        lambda: move_out(root, path, mine / "x"),
        lambda: copy_in(tmp_path / "ours", root, path),
        lambda: copy_in(tmp_path / "ours", root, path, link=True),
    ):
        with pytest.raises(OSError):  # noqa: PT011 - any error of the system
            do()

    assert not mine.exists() or not list(mine.iterdir())
    assert names(tmp_path / "out") == ["deep"]
    assert (tmp_path / "out" / "deep" / "file").read_text() == "theirs"


@pytest.mark.parametrize("move", [False, True])
def test_a_folder_is_copied_whole_with_links_as_links_and_without_pipes(root: Path, tmp_path: Path, move: bool) -> None:
    (root / "a" / "b").mkdir(parents=True)
    (root / "a" / "b" / "secret").write_text("1")
    (root / "a" / "b" / "secret").chmod(0o600)
    (root / "a" / "escape").symlink_to(tmp_path / "out")
    if not move:
        os.mkfifo(root / "a" / "pipe")
    target = tmp_path / "mine" / "a"

    (move_out if move else copy_out)(root, "a", target)

    assert (target / "b" / "secret").read_text() == "1"
    assert (target / "b" / "secret").stat().st_mode & 0o777 == 0o600
    assert (target / "escape").readlink() == tmp_path / "out"
    assert names(target) == ["b", "escape"]
    assert (root / "a").exists() != move


def test_a_copy_put_back_keeps_mode_and_time_and_replaces_nothing(root: Path, tmp_path: Path) -> None:
    ours = tmp_path / "ours"
    ours.write_text("1")
    ours.chmod(0o640)
    os.utime(ours, (1_000_000_000, 1_000_000_000))

    copy_in(ours, root, "new/deep/file")

    back = root / "new" / "deep" / "file"
    assert (back.read_text(), back.stat().st_mode & 0o777, back.stat().st_mtime) == ("1", 0o640, 1_000_000_000)
    back.write_text("2")
    with pytest.raises(FileExistsError):
        copy_in(ours, root, "new/deep/file")
    assert back.read_text() == "2"
