"""With `--read` the looking tools see a folder beside the workspace; without it, and beyond it, nothing outside."""

import os
from pathlib import Path

import pytest

from kotef.files import granted
from kotef.tools import files, overview, search
from kotef.tools.errors import ToolFault


@pytest.fixture
def library(root: Path) -> Path:
    """Sources of a library beside the project, with a file of secrets and a link out."""
    place = root.parent / "library"
    (place / "lib").mkdir(parents=True)
    (place / "lib" / "core.py").write_text("def total(): ...\n")
    (place / ".env").write_text("TOTAL_KEY=total\n")
    (root.parent / "private").mkdir()
    (root.parent / "private" / "diary.py").write_text("total = 'mine'\n")
    (place / "out").symlink_to(root.parent / "private")
    return place


def test_a_granted_folder_is_listed_searched_and_viewed(root: Path, library: Path) -> None:
    reads = granted([str(library)])
    file = f"{library}/lib/core.py"
    assert "1\tdef total(): ..." in files.view_file(root, file, reads=reads)
    assert "1\tdef total(): ..." in files.view_file(root, "../library/lib/core.py", reads=reads)
    assert files.list_dir(root, str(library), reads=reads).splitlines()[1:] == [".env", "lib/", "out@"]
    assert search.find_files(root, "*.py", str(library), reads=reads) == file
    assert search.grep(root, "total", str(library), reads=reads) == f"{file}:1: def total(): ..."
    assert search.grep(root, "total", file, reads=reads) == f"{file}:1: def total(): ..."


@pytest.mark.parametrize("path", ["{library}/.env", "{library}/out/diary.py", "{library}/../private/diary.py"])
def test_secrets_and_ways_out_of_a_granted_folder_are_refused(root: Path, library: Path, path: str) -> None:
    with pytest.raises(ToolFault) as fault:
        files.view_file(root, path.format(library=library), reads=granted([str(library)]))
    assert fault.value.kind == "permission_denied"


def test_without_a_grant_nothing_outside_is_seen(root: Path, library: Path) -> None:
    for look in (
        lambda path: files.view_file(root, f"{path}/lib/core.py"),
        lambda path: files.list_dir(root, path),
        lambda path: search.find_files(root, "*.py", path),
        lambda path: search.grep(root, "total", path),
    ):
        with pytest.raises(ToolFault, match="leads out"):
            look(str(library))


def test_the_map_reads_nothing_through_a_folder_that_became_a_link(root: Path, library: Path) -> None:
    """Git's index may name files below a folder that is a link by now; they are somebody else's."""
    from support.loop import git

    (root / ".git" / "config").unlink()
    (root / "pkg").mkdir()
    (root / "pkg" / "diary.py").write_text("def ours(): ...\n")
    git(root, "init", "-q")
    git(root, "add", "pkg")
    (root / "pkg" / "diary.py").unlink()
    (root / "pkg").rmdir()
    (root.parent / "private" / "diary.py").write_text("def private_thing(): ...\n")
    (root / "pkg").symlink_to(root.parent / "private")
    assert "private_thing" not in overview.overview(root, ".")
    assert "def private_thing" not in overview.search_symbols(root, "private_thing")


def test_a_pipe_holds_no_search_up(root: Path) -> None:
    os.mkfifo(root / "src" / "pipe.py")
    assert "cart.py:5" in search.grep(root, "result = 0", "src")
