"""A protected folder is restored after each command, whatever the command did to it, and nothing else is touched."""

import os
import stat
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import WorkspaceError
from kotef.files import folder_copy
from kotef.files.folder_copy import FolderCopy, note_own_write


def contents(folder: Path) -> dict[str, tuple[int, bytes]]:
    """The folder and everything below it, except `runs`."""
    found = {}
    for path in sorted((folder, *folder.rglob("*"))):
        name = path.relative_to(folder.parent).as_posix()
        if name.startswith(f"{folder.name}/runs"):
            continue
        mode = path.lstat().st_mode
        held = b""
        if path.is_symlink():
            held = os.fsencode(path.readlink())
        elif path.is_file():
            held = path.read_bytes()
        found[name] = (mode, held)
    return found


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "work"
    sdd = root / ".sdd"
    for name in ("backlog/tickets/open", "memory", "runs/1", "empty"):
        (sdd / name).mkdir(parents=True)
    for name in ("issues.md", "kotef.toml", "backlog/tickets/open/01.md", "memory/core.md", "runs/1/result.json"):
        (sdd / name).write_text(f"{name} as it was\n")
    (sdd / "issues.md").chmod(0o640)
    (sdd / "link.md").symlink_to("issues.md")
    return root


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o750)
    (outside / "issues.md").write_text("mine")
    return outside


NAMES = st.sampled_from(
    [".", "issues.md", "backlog", "backlog/tickets/open/01.md", "memory/core.md", "link.md", "new/x"]
)
DEEDS = st.sampled_from(
    ["write", "append", "remove", "folder", "link", "link to a file", "pipe", "close", "rename", "grow"]
)


def do(deed: str, path: Path, outside: Path) -> None:
    """One thing that a command might do; impossible ones are skipped, and pipes are not waited for."""
    if deed in ("write", "append") and path.is_fifo():
        return
    try:
        match deed:
            case "write":
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("# Resolved\n")
            case "append":
                with path.open("a") as file:
                    file.write("## A forged heading\n")
            case "close":
                path.chmod(0)
            case "grow":
                for number in range(30):
                    (path / f"more/{number}").mkdir(parents=True)
                    (path / f"more/{number}/file").write_text("x")
            case "rename":
                path.rename(path.with_name("renamed"))
            case _:
                remove(path)
                if deed == "folder":
                    (path / "deep").mkdir(parents=True)
                if deed.startswith("link"):
                    path.symlink_to(outside / "issues.md" if deed.endswith("file") else outside)
                if deed == "pipe":
                    os.mkfifo(path)
    except OSError:
        pass


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        for below in path.iterdir():
            remove(below)
        path.rmdir()
    else:
        path.unlink(missing_ok=True)


@given(deeds=st.lists(st.tuples(DEEDS, NAMES), min_size=1, max_size=5))
@example_count(25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_every_change_of_a_command_is_put_back(tmp_path_factory: pytest.TempPathFactory, deeds) -> None:
    place = tmp_path_factory.mktemp("case")
    root_, outside_ = root.__wrapped__(place), outside.__wrapped__(place)  # type: ignore[attr-defined]
    copy = FolderCopy(root_, ".sdd", without=("runs",))
    before = contents(root_ / ".sdd")
    copy.look()
    for deed, name in deeds:
        do(deed, root_ / ".sdd" / name, outside_)
    mine = contents(outside_)
    copy.put_back(place / "aside")
    assert contents(root_ / ".sdd") == before
    assert contents(outside_) == mine
    assert copy.put_back(place / "aside") == ()


def test_replaced_files_are_kept_aside_and_named(root: Path, tmp_path: Path) -> None:
    copy = FolderCopy(root, ".sdd", without=("runs",))
    copy.look()
    (root / ".sdd" / "issues.md").write_text("a person's own words")
    (root / ".sdd" / "new.md").write_text("new")
    (root / ".sdd" / "kotef.toml").touch()
    (root / ".sdd" / "runs" / "1" / "result.json").write_text("kotef's")

    assert copy.put_back(tmp_path / "aside") == ("issues.md", "new.md")
    assert (tmp_path / "aside" / "issues.md").read_text() == "a person's own words"
    assert (tmp_path / "aside" / "new.md").read_text() == "new"
    assert (root / ".sdd" / "runs" / "1" / "result.json").read_text() == "kotef's"


@pytest.mark.parametrize("name", ["memory/core.md", "memory/daily.md", "made/for/it.md"])
@pytest.mark.parametrize("forged", [False, True])
def test_files_that_kotef_writes_meanwhile_stay(root: Path, tmp_path: Path, name: str, *, forged: bool) -> None:
    copy = FolderCopy(root, ".sdd", without=("runs",))
    copy.look()
    path = root / ".sdd" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    note_own_write(path, b"a note")
    path.write_text("a note")
    if forged:
        path.write_text("a note, and a forged one")

    put_back = copy.put_back(tmp_path / "aside")

    assert path.read_text() == "a note"
    assert put_back == ((name,) if forged else ())
    copy.look()
    path.write_text("a person's")
    copy.look()
    assert copy.put_back(tmp_path / "aside") == (), "a person's changes while no command runs stay"


def test_a_folder_that_is_too_large_is_named_and_not_protected(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(folder_copy, "MOST", 3)
    copy = FolderCopy(root, ".sdd")
    with pytest.raises(WorkspaceError, match="too large"):
        copy.look()
    assert copy.put_back(root / "aside") == ()
    assert stat.S_IMODE((root / ".sdd" / "issues.md").stat().st_mode) == 0o640


def test_a_file_too_large_to_copy_leaves_the_others_protected(root: Path, tmp_path: Path) -> None:
    with (root / ".sdd" / "huge").open("wb") as file:
        file.truncate(folder_copy.LARGEST + 1)
    copy = FolderCopy(root, ".sdd")
    copy.look()
    (root / ".sdd" / "issues.md").write_text("a command's")

    assert copy.put_back(tmp_path / "aside") == ("issues.md",)
    assert (root / ".sdd" / "huge").stat().st_size == folder_copy.LARGEST + 1
