import os
import stat
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.files import state_dir
from kotef.workspace import file_entry, snapshot_scope, tree_store
from kotef.workspace import snapshots as module
from kotef.workspace.remainder import keep_remainder
from kotef.workspace.snapshots import Restored, Snapshots

UserGit = Callable[..., str]


@pytest.fixture(params=["a few files", "many files"])
def size(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """A few changed files are read by kotef itself, many by git: what holds of one way holds of the other."""
    if request.param == "many files":
        monkeypatch.setattr(module, "_READ_HERE", -1)
    return request.param


def write(root: Path, files: Mapping[str, str] = MappingProxyType({}), **more: str) -> None:
    for name, content in {**files, **more}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)


def test_a_snapshot_holds_tracked_and_untracked_work_and_no_ignored_file(root: Path, user_git: UserGit) -> None:
    (root / ".gitignore").write_text("*.log\n")
    write(root, tracked="1", staged="1", changed="1", gone="1")
    (root / "tracked.log").write_text("tracked all the same")
    user_git("add", "-f", ".")
    user_git("commit", "-m", "first")
    write(root, {"sub/deep": "1"}, changed="2", untracked="1")
    (root / "ignored.log").write_text("x")
    (root / "gone").unlink()
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    held = {".gitignore", "tracked", "staged", "changed", "untracked", "sub/deep", "tracked.log"}
    assert snapshots.paths(tree) == held
    assert snapshots.read(tree, "changed") == b"2"
    assert snapshots.read(tree, "gone") is None
    assert snapshots.read(tree, "sub") is None
    assert snapshots.left_out == ()


def test_the_users_repository_is_only_read(root: Path, user_git: UserGit) -> None:
    write(root, a="1")
    user_git("add", ".")
    write(root, a="22", b="1")

    def everything() -> dict[Path, tuple[int, bytes]]:
        return {
            path: (path.stat().st_mtime_ns, path.read_bytes()) for path in (root / ".git").rglob("*") if path.is_file()
        }

    before = everything()
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    write(root, a="3")
    snapshots.restore(tree, last=snapshots.take())
    assert everything() == before


def test_the_tree_id_is_a_fingerprint_of_the_workspace(root: Path, size: str, user_git: UserGit) -> None:
    write(root, a="1", b="1")
    snapshots = Snapshots.open(root)
    first = snapshots.take()
    assert snapshots.take() == first
    assert Snapshots.open(root).take() == first
    (root / "a").chmod(0o755)
    assert snapshots.take() != first
    (root / "a").chmod(0o600)
    assert snapshots.take() == first
    (root / "a").rename(root / "c")
    assert snapshots.take() != first
    (root / "c").rename(root / "a")
    assert snapshots.take() == first


def test_a_change_that_keeps_size_and_time_is_seen(root: Path, size: str) -> None:
    write(root, a="1111")
    snapshots = Snapshots.open(root)
    seen = {snapshots.take()}
    time.sleep(1 - time.time() % 1)  # git compares times in seconds: the changes below are made within one
    for content in ("2222", "3333", "4444"):
        times = (root / "a").stat()
        with (root / "a").open("r+") as file:
            file.write(content)
        os.utime(root / "a", ns=(times.st_atime_ns, times.st_mtime_ns))
        seen.add(snapshots.take())
    assert len(seen) == 4


def test_without_git_ignored_files_and_caches_stay_out(root: Path) -> None:
    write(root, {"sub/b": "1", "node_modules/x": "1", "build/kept": "1"}, a="1")
    (root / ".venv").mkdir()
    (root / ".venv" / "x").touch()
    (root / "sub" / ".gitignore").write_text("*.tmp\n")
    (root / "sub" / "x.tmp").touch()
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    assert snapshots.paths(tree) == {"a", "sub/b", "sub/.gitignore", "build/kept"}
    assert not (root / ".git").exists()


@pytest.mark.parametrize(
    "where", ["a repository without a commit", "a detached HEAD", "a subdirectory", "a broken repository"]
)
def test_it_works_in_any_repository(root: Path, user_git: UserGit, where: str) -> None:
    write(root, {"sub/b": "1"}, a="1")
    inside = root
    if where == "a detached HEAD":
        user_git("add", ".")
        user_git("commit", "-m", "first")
        user_git("checkout", "--quiet", "--detach")
    elif where == "a subdirectory":
        inside = root / "sub"
    elif where == "a broken repository":
        (root / ".git" / "HEAD").write_text("nonsense")
    snapshots = Snapshots.open(inside)
    before = snapshots.take()
    assert snapshots.paths(before) == ({"b"} if where == "a subdirectory" else {"a", "sub/b"})
    (root / "sub" / "b").write_text("2")
    assert snapshots.restore(before, last=snapshots.take()).left == ()
    assert (root / "sub" / "b").read_text() == "1"


def test_a_workspace_that_an_outer_repository_ignores_is_kept_all_the_same(root: Path, user_git: UserGit) -> None:
    (root / ".gitignore").write_text("inner/\n")
    write(root, {"inner/a": "1"})
    snapshots = Snapshots.open(root / "inner")
    assert snapshots.paths(snapshots.take()) == {"a"}


def test_line_endings_and_bytes_survive_any_attribute(root: Path, size: str, user_git: UserGit) -> None:
    (root / ".gitattributes").write_text("* text=auto eol=lf ident\n*.txt text eol=crlf working-tree-encoding=UTF-16\n")
    user_git("config", "core.autocrlf", "true")
    contents = {
        "a.txt": b"one\r\ntwo\n$Id$\r\n",
        "b.txt": b"\xff\xfea\x00\n\x00",
        "c.py": b"x\r\n",
        "d.bin": bytes(range(256)),
    }
    for name, content in contents.items():
        (root / name).write_bytes(content)
    user_git("config", "core.safecrlf", "false")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    for name in contents:
        (root / name).write_bytes(b"changed")
    assert set(snapshots.restore(tree, last=snapshots.take()).put_back) == set(contents)
    assert {name: (root / name).read_bytes() for name in contents} == contents
    assert all(snapshots.read(tree, name) == content for name, content in contents.items())


def test_odd_names_links_and_execute_bits_come_back(root: Path, size: str, user_git: UserGit) -> None:
    names = [
        "ü – ß",
        "new\nline",
        'tab\t"quoted"',
        "-rf",
        ":(top)x",
        "back\\slash",
        "a*?[b]",
        os.fsdecode(b"latin-\xe4"),
        " ",
    ]
    for name in names:
        (root / name).write_text(name.encode("utf-8", "surrogateescape").hex())
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "run.sh").chmod(0o755)
    (root / "link").symlink_to("nowhere/at all")
    (root / "out").symlink_to("/etc")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    assert snapshots.paths(tree) == {*names, "run.sh", "link", "out"}
    for path in root.iterdir():
        if path.name != ".git":
            path.unlink()
    restored = snapshots.restore(tree, last=snapshots.take())
    assert set(restored.put_back) == {*names, "run.sh", "link", "out"}
    assert list(restored.put_back) == sorted(restored.put_back)
    assert snapshots.take() == tree
    assert (root / "out").readlink() == Path("/etc")
    assert os.access(root / "run.sh", os.X_OK)


def test_what_cannot_be_held_is_named(root: Path, user_git: UserGit, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, a="1", secret="1")
    (root / "large").write_bytes(bytes(snapshot_scope.LARGEST_FILE + 1))
    (root / "nearly").write_bytes(bytes(snapshot_scope.LARGEST_FILE))
    for name in ("nested", "module"):
        subprocess.run(["git", "init", "--quiet", root / name], check=True)
        identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(
            ["git", *identity, "-C", root / name, "commit", "--quiet", "--allow-empty", "-m", "x"], check=True
        )
    user_git("-c", "advice.addEmbeddedRepo=false", "add", "module")
    access = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != root.resolve() / "secret" and access(path, mode))
    snapshots = Snapshots.open(root)
    assert snapshots.paths(snapshots.take()) == {"a", "nearly"}
    assert snapshots.left_out == ("large", "module", "nested/", "secret")


def test_what_kotef_writes_is_not_part_of_it(root: Path, user_git: UserGit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(root / "state"))
    write(root, {".sdd/runs/x/log": "1", ".sdd/goal": "1"})
    (root / ".sdd" / "issues.md").write_text("x")
    (root / ".kotef-0123456789abcdef.tmp").touch()
    snapshots = Snapshots.open(root)
    assert snapshots.paths(snapshots.take()) == {".sdd/goal"}
    assert snapshots.paths(snapshots.take()) == {".sdd/goal"}


def test_two_trees_are_compared(root: Path) -> None:
    write(root, a="1\n2\n", b="1\n", c="same")
    (root / "bin").write_bytes(b"\0\1")
    snapshots = Snapshots.open(root)
    old = snapshots.take()
    write(root, a="1\n3\n4\n", d="1\n")
    (root / "b").unlink()
    (root / "bin").write_bytes(b"\0\2")
    new = snapshots.take()
    assert snapshots.changed(old, new) == ("a", "b", "bin", "d")
    assert snapshots.changed(new, new) == ()
    assert snapshots.stat(old, new) == (3, 2)
    patch = snapshots.patch(old, new)
    assert "--- a/a\n+++ b/a\n" in patch
    assert "GIT binary patch" in patch


def test_a_patch_applies_byte_for_byte(root: Path, tmp_path: Path) -> None:
    (root / "latin").write_bytes(b"caf\xe9\r\n")
    (root / "bin").write_bytes(bytes(range(256)))
    snapshots = Snapshots.open(root)
    old = snapshots.take()
    (root / "latin").write_bytes(b"th\xe9\r\n")
    (root / "bin").write_bytes(bytes(range(255, -1, -1)))
    (root / "new").symlink_to("latin")
    patch = snapshots.patch(old, snapshots.take())
    fresh = tmp_path / "fresh"
    fresh.mkdir()
    (fresh / "latin").write_bytes(b"caf\xe9\r\n")
    (fresh / "bin").write_bytes(bytes(range(256)))
    subprocess.run(["git", "apply", "-"], cwd=fresh, input=patch.encode("utf-8", "surrogateescape"), check=True)
    assert all((fresh / name).read_bytes() == (root / name).read_bytes() for name in ("latin", "bin", "new"))


def test_a_persons_edit_between_take_and_restore_is_left_and_named(root: Path) -> None:
    write(root, mine="1", theirs="1", gone="1", alike="1")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, mine="2", theirs="2", gone="2", alike="2", added="2", added_too="2")
    last = snapshots.take()
    write(root, theirs="person", alike="1", added_too="person")
    (root / "gone").unlink()
    restored = snapshots.restore(before, last=last)
    assert restored == Restored(put_back=("added", "mine"), left=("added_too", "gone", "theirs"))
    assert (root / "theirs").read_text() == "person"
    assert (root / "added_too").read_text() == "person"
    assert not (root / "gone").exists()
    assert not (root / "added").exists()
    assert (root / "mine").read_text() == "1"


def test_a_kept_path_is_left_even_when_the_last_snapshot_has_it(root: Path) -> None:
    write(root, a="1", b="1")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, a="2", b="2")
    assert snapshots.restore(before, last=snapshots.take(), keep=["b"]) == Restored(("a",), ("b",))
    assert (root / "b").read_text() == "2"


def test_only_the_paths_asked_for_are_put_back(root: Path, tmp_path: Path) -> None:
    write(root, a="1", b="1")
    (root / ".gitignore").write_text("ignored\n")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, a="2", b="2", ignored="2")
    (tmp_path / "beside").write_text("2")
    asked = ["a", "ignored", "../beside", str(tmp_path / "beside"), "nowhere"]
    restored = snapshots.restore(before, last=snapshots.take(), paths=asked)
    assert restored.put_back == ("a",)
    assert "ignored" in restored.left
    assert [(root / name).read_text() for name in ("b", "ignored", "../beside")] == ["2", "2", "2"]


def test_a_file_and_a_directory_change_places(root: Path, size: str) -> None:
    write(root, {"b/c": "below", "b/d/e": "below"}, a="file")
    snapshots = Snapshots.open(root)
    first = snapshots.take()
    (root / "a").unlink()
    subprocess.run(["rm", "-r", root / "b"], check=True)
    write(root, {"a/x/y": "below"}, b="file")
    second = snapshots.take()
    assert snapshots.restore(first, last=second) == Restored(("a", "a/x/y", "b", "b/c", "b/d/e"), ())
    assert snapshots.take() == first
    snapshots.restore(second, last=first)
    assert snapshots.take() == second
    (root / "a" / "x" / "person").touch()
    restored = snapshots.restore(first, last=second)
    assert restored.left == ("a",)
    assert (root / "a" / "x" / "person").exists()


def test_no_link_is_followed_out_of_the_workspace(root: Path, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "f").write_text("1")
    write(root, {"d/f": "1", "d/g": "1"})
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    subprocess.run(["rm", "-r", root / "d"], check=True)
    (root / "d").symlink_to(tmp_path / "outside")
    last = snapshots.take()
    assert snapshots.paths(last) == {"d"}
    assert snapshots.restore(before, last=last, paths=["d/f", "d/g"]).left == ("d/f", "d/g")
    assert [path.name for path in (tmp_path / "outside").iterdir()] == ["f"]
    assert snapshots.restore(before, last=last) == Restored(("d", "d/f", "d/g"), ())
    assert snapshots.restore(last, last=before).left == ()
    assert (tmp_path / "outside" / "f").read_text() == "1"
    os.link(tmp_path / "outside" / "f", root / "hard")
    with_link = snapshots.take()
    (root / "hard").unlink()
    (root / "hard").write_text("2")
    assert snapshots.restore(with_link, last=snapshots.take()).put_back == ("hard",)


def test_permissions_of_the_owner_stay_and_only_the_execute_bit_follows(root: Path) -> None:
    write(root, a="1")
    (root / "a").chmod(0o640)
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    (root / "a").chmod(0o750)
    last = snapshots.take()
    snapshots.restore(before, last=last)
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o640
    snapshots.restore(last, last=before)
    assert stat.S_IMODE((root / "a").stat().st_mode) == 0o750


def test_a_full_disk_stops_a_restore_and_keeps_the_file(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(root, a="1")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, a="2")
    last = snapshots.take()

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(file_entry, "write_new", full)
    with pytest.raises(NoSpaceError):
        snapshots.restore(before, last=last)
    assert (root / "a").read_text() == "2"
    assert [path.name for path in root.iterdir()] == ["a"]


def test_snapshots_outlive_the_users_garbage_collection_and_its_repository(root: Path, user_git: UserGit) -> None:
    write(root, a="1")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, a="2")
    last = snapshots.take()
    user_git("gc", "--prune=now", "--quiet")
    subprocess.run(["rm", "-rf", root / ".git"], check=True)
    again = Snapshots.open(root)
    assert again.take() == last
    again.restore(before, last=last)
    assert (root / "a").read_text() == "1"
    store = state_dir(root) / "store.git"
    assert subprocess.run(["git", "config", "gc.auto"], cwd=store, capture_output=True, check=True).stdout == b"0\n"


@pytest.mark.parametrize("damage", ["nonsense", "lock", "missing"])
def test_a_killed_runs_leavings_do_not_matter(root: Path, size: str, damage: str) -> None:
    write(root, a="1")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    for opened_before in (False, True):
        write(root, a="2")
        other = snapshots.take()
        write(root, a="1")
        if damage == "nonsense":
            (snapshots.store / "index").write_bytes(b"DIRC nonsense")
        elif damage == "lock":
            (snapshots.store / "index.lock").touch()
        else:
            (snapshots.store / "index").unlink(missing_ok=True)
        assert (snapshots if opened_before else Snapshots.open(root)).take() == tree != other


def test_a_damaged_store_is_said(root: Path) -> None:
    write(root, a="1")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    write(root, a="2")
    last = snapshots.take()
    subprocess.run(["rm", "-rf", snapshots.store / "objects" / "56"], check=True)  # the blob "1"
    with pytest.raises(WorkspaceError, match="missing"):
        snapshots.restore(before, last=last)
    with pytest.raises(WorkspaceError, match="failed"):
        snapshots.changed("0" * 40, last)


def test_ignored_files_are_copied_once_and_caches_never(root: Path, user_git: UserGit) -> None:
    (root / ".gitignore").write_text("*.db\n.env\nnode_modules/\nlocal/\nenv/\ncache/\nbig\n")
    write(root, {".env": "A=1", "local/a": "1", "local/sub/b": "1", "env/x": "1", "cache/x": "1"})
    write(root, {"node_modules/x": "1", "sub/data": "1"})
    (root / "sub" / "x.db").write_text("1")
    (root / "local" / "__pycache__").mkdir()
    (root / "local" / "__pycache__" / "x.pyc").touch()
    (root / "env" / "pyvenv.cfg").touch()
    (root / "cache" / "CACHEDIR.TAG").touch()
    (root / "big").write_bytes(bytes(snapshot_scope.LARGEST_FILE + 1))
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    kept = keep_remainder(snapshots, tree)
    copied = kept.copied
    assert kept.left_out == ()
    assert {".env", "local/a", "local/sub/b", "sub/x.db"} <= set(copied)
    assert not [path for path in copied if path.startswith(("node_modules", "env/", "cache/")) or path.endswith(".pyc")]
    copies = state_dir(root) / "kept" / tree
    assert (copies / ".env").read_text() == "A=1"
    folders = [path for path in (copies, copies.parent, copies.parents[1], *copies.rglob("*")) if path.is_dir()]
    assert {path.stat().st_mode & 0o777 for path in folders} == {0o700}, "other users cannot read a copy"
    (root / ".env").write_text("A=2")
    assert keep_remainder(snapshots, tree).copied == copied
    assert (copies / ".env").read_text() == "A=2", "a later run on the same tree replaces the copies"


def test_the_cap_lets_the_small_ones_in_first(root: Path) -> None:
    (root / ".gitignore").write_text("*.x\n")
    for name, size in {"a.x": 60, "b.x": 10, "c.x": 50, "d.x": 30}.items():
        (root / name).write_bytes(bytes(size))
    snapshots = Snapshots.open(root)
    kept = keep_remainder(snapshots, snapshots.take(), cap=100)
    assert (kept.copied, kept.left_out) == (("b.x", "c.x", "d.x"), ("a.x",))


NAME = st.sampled_from(["a", "b", "c", "d"])
CONTENT = st.one_of(st.none(), st.tuples(st.sampled_from(["file", "run", "link"]), st.binary(max_size=6)))
TREE = st.dictionaries(st.lists(NAME, min_size=1, max_size=3).map("/".join), CONTENT, max_size=6)


def build(root: Path, tree: dict[str, tuple[str, bytes] | None]) -> None:
    subprocess.run(["find", str(root), "-mindepth", "1", "-delete"], check=True)
    for name, what in tree.items():
        path = root / name
        if (
            what is None
            or path.exists()
            or any(parent.is_symlink() or parent.is_file() for parent in (path, *path.parents))
        ):
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        kind, content = what
        if kind == "link":
            path.symlink_to(content.hex() or "x")
        else:
            path.write_bytes(content)
            path.chmod(0o755 if kind == "run" else 0o644)


@example_count(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=TREE, new=TREE)
def test_any_tree_comes_back_from_any_other(root: Path, size: str, old: dict, new: dict) -> None:
    snapshots = Snapshots.open(root)
    build(root, old)
    before = snapshots.take()
    build(root, new)
    last = snapshots.take()
    restored = snapshots.restore(before, last=last)
    assert restored == Restored(snapshots.changed(last, before), ())
    assert snapshots.take() == before
    assert snapshots.restore(before, last=last) == Restored((), ())


@example_count(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(old=TREE, new=TREE, person=TREE)
def test_a_restore_never_touches_what_kotef_did_not_see(root: Path, old: dict, new: dict, person: dict) -> None:
    snapshots = Snapshots.open(root)
    build(root, old)
    before = snapshots.take()
    build(root, new)
    last = snapshots.take()
    build(root, person)
    now = snapshots.take()
    theirs = set(snapshots.changed(last, now))
    restored = snapshots.restore(before, last=last)
    touched = set(snapshots.changed(now, snapshots.take()))
    assert not touched & theirs
    assert touched == set(restored.put_back)


def test_folders_without_a_file_give_way_to_the_link_that_stood_there(root: Path) -> None:
    write(root, a="1")
    (root / "link").symlink_to("a")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    (root / "link").unlink()
    (root / "link" / "new" / "folder").mkdir(parents=True)
    (root / "link" / "other").mkdir()
    after = snapshots.take()

    assert snapshots.restore(before, last=after) == Restored(put_back=("link",), left=())
    assert (root / "link").readlink() == Path("a")


def test_where_little_changed_git_is_asked_for_the_names_alone(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "a.py").write_text("a = 1\n")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    asked: list[str] = []
    run = tree_store.run_git
    monkeypatch.setattr(tree_store, "run_git", lambda args, **options: asked.append(args[0]) or run(args, **options))

    assert snapshots.take() == tree
    assert snapshots.take() == tree
    (root / "a.py").write_text("a = 2\n")
    assert snapshots.changed(tree, snapshots.take()) == ("a.py",)
    assert asked == []


def test_a_tree_that_was_lost_meanwhile_is_written_again(root: Path) -> None:
    (root / "a.py").write_text("a = 1\n")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    (snapshots.store / "objects" / tree[:2] / tree[2:]).unlink()

    assert snapshots.take() == tree
    assert snapshots.ids(tree)


@example_count(20, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.sampled_from(["same size", "mode", "link", "gone", "moved over", "nothing"]), max_size=5))
def test_no_change_between_two_looks_is_missed(root: Path, size: str, changes: list[str]) -> None:
    """Whatever happens to a file, the tree is the one that a store without memory would take."""
    one, other = root / "one.py", root / "other.py"
    for path in (one, other):
        path.unlink(missing_ok=True)
        path.write_text("a = 1\n")
    snapshots = Snapshots.open(root)
    snapshots.take()
    for number, change in enumerate(changes):
        times = (0, 0)
        if change == "same size" and one.is_file():
            one.write_text(f"a = {number}\n")
            os.utime(one, ns=times)
        elif change == "mode" and one.is_file():
            one.chmod(0o755 if number % 2 else 0o644)
        elif change == "link":
            one.unlink(missing_ok=True)
            one.symlink_to("other.py")
        elif change == "gone":
            one.unlink(missing_ok=True)
        elif change == "moved over":
            (root / "new").write_text(f"b = {number}\n")
            (root / "new").replace(one)
        assert snapshots.take() == Snapshots.open(root).take()


def test_many_new_files_are_one_pack_that_is_read_like_single_objects(root: Path) -> None:
    files = {f"folder{number % 7}/file{number}": f"content {number}\n" * 20 for number in range(300)}
    write(root, files, empty="")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    objects = [path for path in (snapshots.store / "objects").rglob("*") if path.is_file()]
    assert len(objects) < 20, "a pack with its index, the trees, and the empty file"
    write(root, {"folder1/file1": "changed"}, new="1")
    (root / "folder2" / "file2").unlink()
    later = snapshots.take()
    assert snapshots.changed(tree, later) == ("folder1/file1", "folder2/file2", "new")
    assert snapshots.restore(tree, last=later).left == ()
    assert (root / "folder1" / "file1").read_text() == files["folder1/file1"]
    assert (root / "folder2" / "file2").read_text() == files["folder2/file2"]
    assert Snapshots.open(root).take() == tree


def test_many_changed_files_are_one_pack(root: Path) -> None:
    write(root, {f"file{number}": f"content {number}\n" for number in range(300)})
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    write(root, {f"file{number}": f"changed {number}\n" for number in range(300)})
    later = snapshots.take()
    assert len(list((snapshots.store / "objects").glob("??/*"))) < 10, "the trees"
    assert snapshots.restore(tree, last=later).left == ()
    assert (root / "file250").read_text() == "content 250\n"


def test_what_no_tree_needs_leaves_a_pack_too(root: Path) -> None:
    write(root, {f"file{number}": f"content {number}\n" * 20 for number in range(300)})
    snapshots = Snapshots.open(root)
    first = snapshots.take()
    for number in range(250):
        (root / f"file{number}").unlink()
    needed = snapshots.take()
    (snapshots.store / "index").unlink()
    freed = snapshots.prune({needed}, dry_run=True)
    assert freed > 250 * 20, "each takes a few dozen bytes"
    assert snapshots.prune({needed}, dry_run=False) == freed
    again = Snapshots.open(root)
    assert again.read(needed, "file299") == b"content 299\n" * 20
    assert again.blob(again.keep(b"")) == b""
    with pytest.raises(WorkspaceError):
        again.paths(first)
    assert again.prune({needed}, dry_run=True) <= 100
    assert again.take() == needed
