"""Installed environments are recognised by name or content, and every change in one is found."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.workspace.installed_environments import (
    EnvironmentChanges,
    InstalledEnvironments,
    altered_environments,
    environment_around,
    find_environments,
    remember_environments,
    written_environments,
)
from kotef.workspace.snapshots import Snapshots
from kotef.workspace.untracked_scan import change_time

FOUND = {
    "node_modules": "node_modules/x/index.js",
    "packages/a/node_modules": "packages/a/node_modules/x.js",
    ".venv": ".venv/bin/python",
    "odd name": "odd name/pyvenv.cfg",
    "conda": "conda/conda-meta/history",
    "vendor": "vendor/autoload.php",
    ".tox": ".tox/py311/pyvenv.cfg",
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "project"
    place.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=place, check=True)
    return place


def _write(root: Path, path: str, text: str = "x\n") -> None:
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)


@pytest.mark.parametrize(("place", "file"), FOUND.items())
def test_an_environment_is_found_by_its_name_or_its_content(place: str, file: str, root: Path) -> None:
    _write(root, file)
    _write(root, "src/vendor/own.go")

    assert list(find_environments(root, ())) == [place]
    assert find_environments(root, {file}) == {}, "if git tracks a file in it, it is source"
    assert environment_around(root, f"{place}/new/file", ()) == place
    assert environment_around(root, f"{place}/new/file", {file}) == ""
    assert environment_around(root, "src/vendor/own.go", ()) == ""


def test_a_link_to_an_environment_counts_as_one(root: Path, tmp_path: Path) -> None:
    _write(tmp_path, "elsewhere/pyvenv.cfg")
    (root / ".venv").symlink_to(tmp_path / "elsewhere")
    (root / "env").symlink_to(tmp_path / "elsewhere")

    assert {path: one[2] for path, one in find_environments(root, ()).items()} == {
        ".venv": str(tmp_path / "elsewhere"),
        "env": str(tmp_path / "elsewhere"),
    }


def _as_before(file: Path) -> None:
    facts = file.stat()
    file.write_text("y" * facts.st_size)
    os.utime(file, ns=(facts.st_atime_ns, facts.st_mtime_ns))


def _swap(one: Path, other: Path) -> None:
    between = one.with_name("between")
    one.rename(between)
    other.rename(one)
    between.rename(other)


def _link(path: Path) -> None:
    path.rename(path.parents[0] / f"{path.name}-moved") if path.exists() else None
    path.symlink_to("/etc/hostname")


def _exchange(place: Path) -> None:
    place.rename(place.with_name("away"))
    shutil.copytree(place.with_name("away"), place)


OPERATIONS: dict[str, Callable[[Path], None]] = {
    "write": lambda place: place.joinpath("a/one").write_text("other\n"),
    "write the same size and time": lambda place: _as_before(place / "a" / "one"),
    "new file": lambda place: place.joinpath("a/new").touch(),
    "new folder": lambda place: place.joinpath("new/deep").mkdir(parents=True),
    "remove": lambda place: place.joinpath("a/one").unlink(),
    "remove a folder": lambda place: shutil.rmtree(place / "b"),
    "swap two": lambda place: _swap(place / "a" / "one", place / "b" / "two"),
    "rename": lambda place: place.joinpath("a/one").rename(place / "a" / "three"),
    "an older folder moved in": lambda place: place.parent.joinpath("older").rename(place / "older") and None,
    "an older file moved over one": lambda place: place.parent.joinpath("old").rename(place / "a" / "one") and None,
    "a link in the place of a file": lambda place: _link(place / "a" / "one"),
    "a link in the place of a folder": lambda place: _link(place / "b"),
    "all of it exchanged": _exchange,
    "a link in its place": _link,
    "gone": shutil.rmtree,
    "another one": lambda place: shutil.copytree(place, place.parent / "sub" / place.name) and None,
}


def _remembered(root: Path, *, writable: bool = True) -> tuple[Snapshots, InstalledEnvironments, float]:
    snapshots = Snapshots.open(root)
    known = remember_environments(snapshots, (), opened=(), writable=writable)
    since = change_time(root)
    while change_time(root) == since:  # the clock of the file system ticks in steps
        pass
    return snapshots, known, change_time(root)


def _found(
    snapshots: Snapshots, known: InstalledEnvironments, since: float, *, writable: bool = True
) -> EnvironmentChanges:
    return altered_environments(snapshots, (), known, since=since, writable=writable)


@pytest.mark.parametrize("name", OPERATIONS)
@pytest.mark.parametrize("place", ["node_modules", ".venv"])
def test_every_change_in_an_environment_is_found(name: str, place: str, root: Path) -> None:
    for path in (f"{place}/a/one", f"{place}/b/two", "older/x", "old"):
        _write(root, path, "one\n" if path.endswith("one") else "two\n")
    snapshots, known, since = _remembered(root)
    assert _found(snapshots, known, since) == EnvironmentChanges()

    OPERATIONS[name](root / place)

    found = _found(snapshots, known, since)
    assert set(found.new).union(found.changed, found.gone), found


PATHS = st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map("/".join)


@example_count(40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=st.sets(PATHS), after=st.sets(PATHS), data=st.data())
def test_every_written_and_removed_file_is_found(
    before: set[str], after: set[str], data: st.DataObject, root: Path
) -> None:
    place = root / "node_modules"
    shutil.rmtree(place, ignore_errors=True)
    for path in before:
        _write(place, f"{path}.js", "old\n")
    place.mkdir(exist_ok=True)
    snapshots, known, since = _remembered(root)
    touched = data.draw(st.sets(st.sampled_from(sorted(before)))) if before else set()
    for path in before - after:
        (place / f"{path}.js").unlink()
    for path in after - before:
        _write(place, f"{path}.js", "new\n")
    for path in touched & after & before:
        _write(place, f"{path}.js", "old\n")  # as it was

    found = _found(snapshots, known, since)
    names = {f"node_modules/{path}.js" for path in before ^ after}
    seen = {*found.new, *found.changed, *found.gone}
    assert all(any(name == one or name.startswith(f"{one}/") for one in seen) for name in names)
    assert all(any(one == name or name.startswith(f"{one}/") for name in names) for one in seen), "and no others"


def test_caches_are_reported_as_caches_and_not_as_changes(root: Path) -> None:
    _write(root, "node_modules/x/index.js")
    _write(root, ".venv/lib/x.py")
    snapshots, known, since = _remembered(root)
    began = change_time(root)
    for path in ("node_modules/.vite/deps/x.js", "node_modules/.cache/y", ".venv/lib/__pycache__/x.pyc"):
        _write(root, path)

    found = _found(snapshots, known, since)

    assert (found.new, found.changed, found.gone) == ((), (), ())
    assert set(found.caches) == {"node_modules/.vite", "node_modules/.cache", ".venv/lib/__pycache__"}
    assert written_environments(root, (), began=began) == frozenset()


def test_read_only_environments_are_only_compared_as_a_whole(root: Path) -> None:
    _write(root, "a/node_modules/x.js")
    snapshots, known, since = _remembered(root, writable=False)
    (root / "a").rename(root / "b")

    assert _found(snapshots, known, since, writable=False) == EnvironmentChanges(), "only a parent folder was renamed"
    _write(root, ".venv/pyvenv.cfg")
    assert _found(snapshots, known, since, writable=False).new == (".venv",)
