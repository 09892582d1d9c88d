"""What is read and written of git's objects without git is what git itself would read and write."""

import os
import subprocess
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.workspace.file_entry import FileEntry
from kotef.workspace.loose_objects import LooseObjects, UnreadableObjectError

NAME = st.one_of(st.sampled_from(["a", "a.b", "a-b", "ab", "b", "ü"]), st.just(os.fsdecode(b"\xe4")))
MODE = st.sampled_from(["100644", "100755", "120000"])
FILES = st.dictionaries(st.lists(NAME, min_size=1, max_size=3).map("/".join), st.tuples(MODE, st.binary(max_size=4)))
ONCE = example_count(25, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("store") / "store.git"
    subprocess.run(["git", "init", "-q", "--bare", "--object-format=sha1", str(place)], check=True)
    return place


def git(store: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    return subprocess.run(["git", *arguments], cwd=store, input=stdin, check=True, capture_output=True).stdout


def without_clashes(files: dict) -> dict:
    """Where a file and a folder would share a name, the folder goes."""
    return {
        path: what
        for path, what in files.items()
        if not any("/".join(path.split("/")[:depth]) in files for depth in range(1, path.count("/") + 1))
    }


def kept(loose: LooseObjects, files: dict) -> dict[str, FileEntry]:
    return {path: FileEntry(mode, loose.write("blob", content)) for path, (mode, content) in files.items()}


def tree_of(store: Path, entries: dict[str, FileEntry]) -> str:
    """The id that git gives the tree of these files."""
    (store / "index").unlink(missing_ok=True)
    lines = [f"{entry.mode} {entry.oid} 0\t".encode() + os.fsencode(path) for path, entry in entries.items()]
    git(store, "update-index", "-z", "--add", "--index-info", stdin=b"".join(line + b"\0" for line in lines))
    return git(store, "write-tree").decode().strip()


@ONCE
@given(old=FILES.map(without_clashes), new=FILES.map(without_clashes))
def test_a_tree_made_of_changes_is_the_one_that_git_writes(store: Path, old: dict, new: dict) -> None:
    loose = LooseObjects(store / "objects")
    before, after = kept(loose, old), kept(loose, new)
    first = loose.updated("", before)
    second = loose.updated(first, {**dict.fromkeys(before.keys() - after.keys()), **after})

    assert [first, second] == [tree_of(store, before), tree_of(store, after)]
    assert loose.files(second) == after
    names = git(store, "diff-tree", "-r", "-z", "--name-only", "--no-renames", first, second).split(b"\0")
    assert loose.changed(first, second) == tuple(sorted(os.fsdecode(name) for name in names if name))


@ONCE
@given(content=st.binary(max_size=2000))
def test_git_reads_what_was_written(store: Path, content: bytes) -> None:
    loose = LooseObjects(store / "objects")
    oid = loose.write("blob", content)
    assert oid == git(store, "hash-object", "--stdin", stdin=content).decode().strip()
    assert git(store, "cat-file", "blob", oid) == content == loose.read(oid, "blob")


def test_what_git_wrote_is_read_here(store: Path) -> None:
    oid = git(store, "hash-object", "-w", "--stdin", stdin=b"by git\n").decode().strip()
    assert LooseObjects(store / "objects").read(oid, "blob") == b"by git\n"


@pytest.mark.parametrize("damage", ["missing", "empty", "other content", "not compressed", "another kind"])
def test_a_damaged_object_is_never_read(store: Path, damage: str) -> None:
    loose = LooseObjects(store / "objects")
    oid, other = loose.write("blob", b"content\n"), loose.write("blob", b"other\n")
    path = store / "objects" / oid[:2] / oid[2:]
    content = {
        "empty": b"",
        "other content": (store / "objects" / other[:2] / other[2:]).read_bytes(),
        "not compressed": b"blob 8\0content\n",
    }.get(damage)
    path.chmod(0o644)
    if content is not None:
        path.write_bytes(content)
    elif damage == "missing":
        path.unlink()
    with pytest.raises(UnreadableObjectError):
        loose.read(oid, "tree" if damage == "another kind" else "blob")
    path.unlink(missing_ok=True)


@pytest.mark.parametrize("name", ["", "HEAD", "../../config", "--help", "0" * 39])
def test_what_is_no_id_names_no_file(store: Path, name: str) -> None:
    with pytest.raises(UnreadableObjectError):
        LooseObjects(store / "objects").read(name, "blob")


def test_a_file_and_a_folder_of_one_name_make_no_tree(store: Path) -> None:
    loose = LooseObjects(store / "objects")
    entry = FileEntry("100644", loose.write("blob", b""))
    with pytest.raises(UnreadableObjectError):
        loose.updated("", {"a": entry, "a/b": entry})
    below = loose.updated("", {"a/b": entry})
    with pytest.raises(UnreadableObjectError):
        loose.updated(below, {"a": entry})
    assert loose.files(loose.updated(below, {"a": entry, "a/b": None})) == {"a": entry}
