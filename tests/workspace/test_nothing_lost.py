"""Everything that a command does to a workspace is undone, or the difference is named."""

import shutil
import stat
import subprocess
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from support.belongings import CLEAN, REPOSITORIES, belongings, furnish

from kotef.workspace.activity import ActivityLog, activity_of
from kotef.workspace.file_swap_journal import begin_file_swap, end_file_swap
from kotef.workspace.remainder import keep_remainder, note_written_by_checks
from kotef.workspace.restoration import RestoreReport, restore_remainder
from kotef.workspace.snapshots import Snapshots

TARGETS = (
    *(".env", "local.db", "build", "build/out.o", "notes.txt", "secret.key", "src", "src/run.sh", "ro", "ro/const.txt"),
    *("shared", "shared/s.txt", "empty", "empty/a", "link", "folder", "here", *REPOSITORIES, "inner/x.log"),
    *("sub/untracked.txt", "wt/a.txt", "inner/pkg", "vendor", "inner/deep/a.txt", "vendor/lib/work.txt"),
)
DEEDS = (
    *(
        "rm -rf {0}",
        "chmod 777 {0}",
        "chmod 000 {0}",
        "chmod -R a+rwx {0}",
        "mv {0} moved",
        "mv {0} {1}",
        "chmod g-s {0}",
    ),
    *("test -f {0} && truncate -s 0 {0}", "test -f {0} && echo x >> {0}", "rm -rf {0} && ln -s /tmp {0}"),
    *("rm -rf {0} && mkdir {0}", "rm -rf {0} && echo x > {0}", "cp -r {1} {0}", "rm -f {0} && ln -s {1} {0}"),
    *("rm -rf {0}/.git", "touch {0}/new", "mkdir -p {0}/new/folder", "setfattr -x user.note {0}"),
    *(
        "setfattr -n user.note -v other {0}",
        "git clean -qfdx",
        "git clean -qffdx",
        "git checkout -q -f",
    ),
    *("find . -mindepth 1 -maxdepth 1 ! -name .git -exec rm -rf {{}} +", "find . -name '*.txt' -delete"),
    "find . -path ./.git -prune -o -type d -exec chmod 755 {{}} +",
)
REWRITING = (
    "git stash -qu",
    "git submodule --quiet deinit -f {0}",
    "git -C {0} stash -qu",
    "git -C {0} checkout -q -f other",
    "git -C {0} add -A",
    "rm -rf {0}/.git; git init -q {0}",
)
"""Change refs and index of a repository inside. Other code restores these after a command; here they are only named."""


class Deed(NamedTuple):
    """One command."""

    words: str
    first: str
    second: str

    @property
    def command(self) -> str:
        return self.words.format(self.first, self.second)


DEED = st.one_of(
    st.builds(Deed, st.sampled_from(DEEDS), st.sampled_from(TARGETS), st.sampled_from(TARGETS)),
    st.builds(Deed, st.sampled_from(REWRITING), st.sampled_from(REPOSITORIES), st.just("")),
)


class World:
    """The workspace, its template, and the run that works in it."""

    def __init__(self, place: Path) -> None:
        self.root, self._template, self.run = place / "project", place / "template", place / "run"
        self.root.mkdir()
        self.has_attributes = furnish(self.root)
        subprocess.run(["cp", "-a", self.root, self._template], check=True)
        snapshots = Snapshots.open(self.root)
        self._store = snapshots.store
        self.tree = snapshots.take()
        assert keep_remainder(snapshots, self.tree).unkept == ()
        self.before = self.facts()
        self.left = frozenset[str]()
        """Paths that the last restore of the tree left and named: a folder with files stands there."""

    def fresh(self, *, by_a_command: bool = False) -> None:
        """Restore the template at the same path, because a linked worktree is known by its path.

        All change times are then the current time; `by_a_command` records a command as their author.
        """
        subprocess.run(["chmod", "-R", "u+rwx", self.root], check=False, capture_output=True)
        shutil.rmtree(self.root)
        shutil.rmtree(self.run, ignore_errors=True)
        self.run.mkdir()
        with ActivityLog(self.run).noted("command") if by_a_command else nullcontext():
            subprocess.run(["cp", "-a", self._template, self.root], check=True)

    def play(self, deeds: list[Deed]) -> RestoreReport:
        """Do the deeds and then the restore of an undone run; copies are kept once, since the path is the same."""
        snapshots = self.snapshots()
        with ActivityLog(self.run).noted("command"):
            for deed in deeds:
                subprocess.run(["sh", "-c", deed.command], cwd=self.root, check=False, capture_output=True)
        restored = snapshots.restore(self.tree, last=snapshots.take())
        self.left = frozenset(restored.left)
        in_the_way = {path for path in self.left if (self.root / path).is_dir() and any((self.root / path).rglob("*"))}
        assert self.left == in_the_way, deeds
        return self.restore(snapshots, restored.put_back)

    def snapshots(self) -> Snapshots:
        """Snapshots as a new process opens them."""
        return Snapshots(self.root, self._store)

    def restore(self, snapshots: Snapshots, touched: Sequence[str] = ()) -> RestoreReport:
        """Restore what no tree shows."""
        activity = activity_of(self.run)
        return restore_remainder(snapshots, self.tree, activity, self.run / "aside", whole=True, touched=touched)

    def facts(self) -> dict[str, object]:
        """Everything that a person would miss."""
        return belongings(self.root)


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        return World(tmp_path_factory.mktemp("lost"))


def came_back(world: World, deeds: list[Deed]) -> None:
    world.fresh(by_a_command=True)
    report = world.play(deeds)
    before, after = world.before, world.facts()
    differ = {path for path in before.keys() | after.keys() if before.get(path) != after.get(path)}
    named = {path.split(": ")[0].rstrip("/") for path in (*report.gone, *(each.path for each in report.differences))}
    named |= {f"{path}/.git" for path in named} | world.left
    around = {str(above) for path in named for above in Path(path).parents} - before.keys()
    unnamed = {
        path for path in differ - around if not any(path == name or path.startswith(f"{name}/") for name in named)
    }
    assert not unnamed, {path: (before.get(path), after.get(path)) for path in unnamed}
    if not any(deed.words in REWRITING for deed in deeds):
        assert differ & before.keys() <= {CLEAN, f"{CLEAN}/.git"} | world.left, (sorted(differ), report)


SLOW = [HealthCheck.function_scoped_fixture, HealthCheck.too_slow]


@settings(max_examples=8, deadline=None, suppress_health_check=SLOW)
@given(deeds=st.lists(DEED, min_size=1, max_size=4))
def test_whatever_a_command_does_comes_back_or_is_named(world: World, deeds: list[Deed]) -> None:
    came_back(world, deeds)


@pytest.mark.parametrize(
    "deeds",
    [
        [Deed("rm -rf {0}", ".env", ""), Deed("mv {0} {1}", "build", ".env")],
        [Deed("mv {0} moved", "vendor", "")],
        [Deed("rm -rf {0} && ln -s /tmp {0}", "vendor/lib", "")],
        [Deed("rm -rf {0} && echo x > {0}", "vendor/lib", "")],
        [Deed("cp -r {1} {0}", "build", "vendor")],
    ],
)
def test_what_a_command_put_in_the_place_of_something_ignored_gives_way(world: World, deeds: list[Deed]) -> None:
    came_back(world, deeds)


@pytest.mark.hostile
@settings(max_examples=2000, deadline=None, suppress_health_check=SLOW)
@given(deeds=st.lists(DEED, min_size=1, max_size=6))
def test_whatever_many_commands_do_comes_back_or_is_named(world: World, deeds: list[Deed]) -> None:
    came_back(world, deeds)


def test_changes_of_extended_attributes_are_undone(world: World) -> None:
    if not world.has_attributes:
        pytest.skip("this file system has no extended user attributes")
    came_back(world, [Deed("setfattr -x user.note {0}; setfattr -n user.more -v x src", "notes.txt", "")])


def test_a_second_restore_finds_no_further_differences(world: World) -> None:
    world.fresh()
    first = world.play(
        [Deed("git -C {0} stash -qu; rm -rf sub build .env; echo x > {1}; touch new.db", "inner", "local.db")]
    )
    again = world.restore(world.snapshots())
    assert again == RestoreReport(gone=first.gone, differences=first.differences)


def test_changes_of_a_person_while_no_command_runs_stay_and_are_named(world: World) -> None:
    """An edit of `.env` or in a repository inside stays, and so does a mode that the person set."""
    world.fresh()
    time.sleep(0.1)
    with ActivityLog(world.run).noted("command"):
        (world.root / "local.db").write_text("the run's")
    time.sleep(0.1)
    (world.root / ".env").write_text("SECRET=2")
    (world.root / "sub" / "a.txt").write_text("mine")
    (world.root / "src" / "run.sh").chmod(0o700)
    time.sleep(0.1)
    report = world.play([])
    assert (world.root / "local.db").read_text() == "rows\n"
    assert (world.root / ".env").read_text() == "SECRET=2"
    assert (world.root / "sub" / "a.txt").read_text() == "mine"
    assert stat.S_IMODE((world.root / "src" / "run.sh").stat().st_mode) == 0o700
    assert {(each.path, each.reason) for each in report.differences} == {
        (".env", "theirs"),
        ("sub/a.txt", "theirs"),
        ("src/run.sh", "mode"),
    }
    assert report.put_back == ("local.db",)
    assert (world.run / "aside" / "local.db").read_text() == "the run's", "the replaced content is kept"


def test_files_without_a_copy_are_named_if_they_were_overwritten(root: Path, tmp_path: Path) -> None:
    (root / ".gitignore").write_text("*.db\n")
    for name in ("small.db", "large.db", "same.db"):
        (root / name).write_bytes(bytes(2000 if name != "small.db" else 10))
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    time.sleep(0.1)
    assert keep_remainder(snapshots, tree, cap=100).left_out == ("large.db", "same.db")
    with ActivityLog(tmp_path).noted("command"):
        (root / "large.db").write_bytes(b"run")
    activity = activity_of(tmp_path)
    report = restore_remainder(snapshots, tree, activity, tmp_path / "aside", whole=True)
    assert [(each.path, each.reason) for each in report.differences] == [("large.db", "blocked")]
    elsewhere = restore_remainder(snapshots, "0" * 40, activity, tmp_path / "aside", whole=True)
    assert elsewhere.unknown == (".",), "what was not compared is reported as unknown"


@pytest.mark.parametrize("deed", ["echo x > cache", "ln -s /tmp cache", "ln -s ../beside cache"])
def test_what_stands_in_the_place_of_an_ignored_folder_is_named_and_the_rest_comes_back(
    root: Path, tmp_path: Path, deed: str
) -> None:
    (root / ".gitignore").write_text("cache\n.env\n")
    (root / "cache").mkdir()
    for name in ("cache/rows", ".env", "../beside/rows"):
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text("before")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    keep_remainder(snapshots, tree)
    with ActivityLog(tmp_path).noted("command"):
        subprocess.run(["sh", "-c", f"rm -r cache .env; {deed}"], cwd=root, check=True)

    report = restore_remainder(snapshots, tree, activity_of(tmp_path), tmp_path / "aside", whole=True)

    assert (root / ".env").read_text() == "before"
    assert ("cache/rows", "blocked") in [(each.path, each.reason) for each in report.differences]


@pytest.mark.parametrize("killed", [False, True])
def test_a_second_look_restores_modes(root: Path, tmp_path: Path, killed: bool) -> None:
    """Files of the run that were set aside, in a snapshot or not, get all bits of their modes back."""
    (root / ".gitignore").write_text("*.local\n")
    snapshots = Snapshots.open(root)
    before = snapshots.take()
    for name, mode in (("new.key", 0o600), ("run.sh", 0o750), ("a.local", 0o640)):
        (root / name).write_text(name)
        (root / name).chmod(mode)
    now = snapshots.take()
    changed = snapshots.changed(before, now)
    begin_file_swap(tmp_path, snapshots, tree=now, other=before, paths=changed, texts={}, unheld={"a.local": None})
    assert not (root / "new.key").exists()
    end_file_swap(tmp_path, snapshots, killed=killed)
    modes = {name: stat.S_IMODE((root / name).stat().st_mode) for name in ("new.key", "run.sh", "a.local")}
    assert modes == {"new.key": 0o600, "run.sh": 0o750, "a.local": 0o640}


def test_files_that_checks_wrote_before_the_run_are_left(root: Path, tmp_path: Path) -> None:
    (root / ".gitignore").write_text("*.log\n*.db\n")
    for name in ("check.log", "command.log", "rows.db"):
        (root / name).write_text("before")
    snapshots = Snapshots.open(root)
    tree = snapshots.take()
    keep_remainder(snapshots, tree)
    time.sleep(0.1)
    for name in ("check.log", "command.log"):
        (root / name).write_text("baseline")
    note_written_by_checks(snapshots, tree)
    for worker, name in (("command", "command.log"), ("check", "check.log"), ("check", "rows.db")):
        time.sleep(0.1)
        with ActivityLog(tmp_path).noted("command" if worker == "command" else "check"):
            (root / name).write_text("run")
    report = restore_remainder(snapshots, tree, activity_of(tmp_path), tmp_path / "aside", whole=True)
    assert (root / "rows.db").read_text() == "before", "no check had written it"
    assert [(each.path, each.reason) for each in report.differences] == [("command.log", "checks")]
