"""Whatever was done to what judges, it is as it was when it judges, and nothing of anybody's is lost."""

import os
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kotef.checks.failure_entries import failure_entries, product_among
from kotef.checks.types import Check
from kotef.checks.verification import Verification
from kotef.nodes.edit_guard import all_is_protected
from kotef.nodes.file_swap import end_standing_in, standing_in
from kotef.nodes.restore_protected_files import make_fresh, put_back
from kotef.nodes.untracked_files import LOST, UntrackedBefore, look_for_unheld, remember_unheld
from kotef.runs.store import runs_dir
from kotef.sdd.spec import Spec
from kotef.settings import Limits
from kotef.state import Edits, Task
from kotef.workspace import HIDDEN_FILES, SWAP_MARK, Snapshots, end_file_swap, unfinished_file_swaps

PYPROJECT = '[project]\nname = "n"\n\n[tool.pytest.ini_options]\naddopts = "-q"\n'


class Workspace:
    """A workspace with its baseline taken, and what put-back makes of an edit."""

    command = "pytest"

    def __init__(self, root: Path, run_dir: Path) -> None:
        for path, text in {
            "a.py": "x = 1\n",
            "tests/test_a.py": "def test_a(): pass\n",
            "pyproject.toml": PYPROJECT,
        }.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        self.root = root
        self.snapshots = Snapshots.open(root)
        self.deps: Any = SimpleNamespace(
            root=root, run_dir=run_dir, snapshots=self.snapshots, emit=lambda *_, **__: None
        )
        self.before = self.snapshots.take()
        self.baseline = Verification(visit=0, tree=self.before, passed=False, checks=())
        self.remember()

    def put_back(self, *, foreign: tuple[str, ...] = (), allow: tuple[str, ...] = ()) -> Any:
        task = self.task(allow)
        edits = Edits(visit=1, coder="model", stopped_by="finished", foreign=foreign)
        return put_back(task, edits, {0: self.before, 1: self.snapshots.take()}, self.deps)

    def task(self, allow: tuple[str, ...] = ()) -> Task:
        check = Check(name="pytest", command=self.command, role="test", origin="option")
        return Task(run_id="r", goal="g", spec=Spec(), checks=(check,), limits=Limits(), allow_edits=allow)

    def remember(self) -> None:
        """The end of the baseline."""
        self.before = self.snapshots.take()
        unheld = remember_unheld(self.task(), self.before, self.deps)
        self.baseline = self.baseline.model_copy(update={"unheld": unheld})
        time.sleep(0.02)

    def look(self, allow: tuple[str, ...] = ()) -> UntrackedBefore:
        """What no snapshot holds, looked at before the checks of an attempt."""
        trees = {0: self.before, 1: self.snapshots.take()}
        return look_for_unheld(self.task(allow), self.baseline, trees, 1, self.deps)

    def is_as_before(self) -> bool:
        return self.snapshots.take() == self.before


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "root").mkdir()
    (tmp_path / "run").mkdir()
    return Workspace(tmp_path / "root", tmp_path / "run")


def deleted(root: Path) -> None:
    (root / "tests/test_a.py").unlink()


def a_directory(root: Path) -> None:
    (root / "tests/test_a.py").unlink()
    (root / "tests/test_a.py/deep").mkdir(parents=True)
    (root / "tests/test_a.py/deep/x.py").write_text("x\n")


def a_link(root: Path) -> None:
    (root / "tests/test_a.py").rename(root / "tests/test_b.py")
    (root / "tests/test_a.py").symlink_to("test_b.py")


def linked_tests(root: Path) -> None:
    (root / "tests").rename(root / "easy")
    (root / "tests").symlink_to("easy")


def a_file_for_the_tests(root: Path) -> None:
    (root / "tests/test_a.py").unlink()
    (root / "tests").rmdir()
    (root / "tests").write_text("not a directory any more\n")


def locked_tests(root: Path) -> None:
    (root / "tests/test_a.py").write_text("easy\n")
    (root / "tests/test_a.py").chmod(0)
    (root / "tests").chmod(0)


@pytest.mark.parametrize("edit", [deleted, a_directory, a_link, linked_tests, a_file_for_the_tests, locked_tests])
def test_a_protected_file_is_back_whatever_stands_in_its_place(workspace: Workspace, edit: Any) -> None:
    edit(workspace.root)
    done = workspace.put_back()

    assert (workspace.root / "tests/test_a.py").read_text() == "def test_a(): pass\n"
    assert not (workspace.root / "tests").is_symlink()
    assert not (workspace.root / "tests/test_a.py").is_symlink()
    assert os.access(workspace.root / "tests/test_a.py", os.R_OK)
    assert "tests/test_a.py" in done.put_back
    assert done.left == ()
    assert (workspace.deps.run_dir / "visit-1.put-back.patch").exists(), "what was there can be got back"


def test_of_a_shared_file_only_the_judging_table_goes_back(workspace: Workspace) -> None:
    (workspace.root / "pyproject.toml").write_text(PYPROJECT.replace('"n"', '"m"').replace("-q", "-k none"))

    assert workspace.put_back().put_back == ("pyproject.toml [tool.pytest.ini_options]",)
    assert (workspace.root / "pyproject.toml").read_text() == PYPROJECT.replace('"n"', '"m"')


@pytest.mark.parametrize("now", [None, "[broken"])
def test_a_shared_file_that_is_gone_or_broken_goes_back_whole(workspace: Workspace, now: str | None) -> None:
    (workspace.root / "pyproject.toml").unlink()
    if now is not None:
        (workspace.root / "pyproject.toml").write_text(now)

    assert workspace.put_back().put_back == ("pyproject.toml",)
    assert workspace.is_as_before()


def test_what_a_person_opened_or_changed_meanwhile_is_left(workspace: Workspace) -> None:
    edited = PYPROJECT.replace("-q", "-v")
    (workspace.root / "pyproject.toml").write_text(edited)

    assert workspace.put_back(allow=("pyproject.toml",)).put_back == ()
    assert workspace.put_back(foreign=("pyproject.toml",)).left == ("pyproject.toml",)
    assert (workspace.root / "pyproject.toml").read_text() == edited


def test_a_hidden_configuration_is_moved_out_and_kept(workspace: Workspace) -> None:
    (workspace.root / ".gitignore").write_text("conftest.py\n*.egg-info\n")
    (workspace.root / "conftest.py").write_text("x = 1\n")
    (workspace.root / "n.egg-info").mkdir()
    (workspace.root / "n.egg-info/entry_points.txt").write_text("[console_scripts]\nn = n:main\n")

    assert [line.partition(" ")[0] for line in workspace.look().restored.put_back] == ["conftest.py"]
    assert not (workspace.root / "conftest.py").exists()
    assert (workspace.deps.run_dir / HIDDEN_FILES / "conftest.py").read_text() == "x = 1\n"
    assert (workspace.root / "n.egg-info/entry_points.txt").exists()


def test_only_bytecode_of_the_run_is_forgotten(tmp_path: Path) -> None:
    root, run_dir = tmp_path / "root", tmp_path / "run"
    (root / "__pycache__").mkdir(parents=True)
    (root / "__pycache__/old.cpython-311.pyc").write_bytes(b"old")
    run_dir.mkdir()
    time.sleep(0.02)
    workspace = Workspace(root, run_dir)
    forged = root / "__pycache__/new.cpython-311.pyc"
    forged.write_bytes(b"new")
    os.utime(forged, (1, 1))
    workspace.look()

    assert [path.name for path in (root / "__pycache__").iterdir()] == ["old.cpython-311.pyc"]


def test_what_stands_in_is_gone_after_the_block_and_nothing_is_lost(workspace: Workspace) -> None:
    (workspace.root / "conftest.py").write_text("mine\n")
    (workspace.root / "a.py").write_text("x = 2\n")
    tree = workspace.snapshots.take()
    with standing_in(
        workspace.deps, tree=tree, other=workspace.before, paths=["conftest.py"], texts={"pyproject.toml": b"y = 1\n"}
    ):
        assert not (workspace.root / "conftest.py").exists()
        assert (workspace.root / "pyproject.toml").read_text() == "y = 1\n"
        assert (workspace.root / "a.py").read_text() == "x = 2\n"

    assert workspace.snapshots.take() == tree
    assert not (workspace.deps.run_dir / SWAP_MARK).exists()


def test_a_kill_in_the_block_is_put_right_later(workspace: Workspace) -> None:
    (workspace.root / "conftest.py").write_text("mine\n")
    tree = workspace.snapshots.take()
    block = standing_in(workspace.deps, tree=tree, other=workspace.before, paths=["conftest.py"])
    block.__enter__()  # and the process is killed here: nothing below runs
    workspace.deps.snapshots = Snapshots.open(workspace.root)
    end_standing_in(workspace.deps)
    end_standing_in(workspace.deps)

    assert (workspace.root / "conftest.py").read_text() == "mine\n"
    assert workspace.snapshots.take() == tree


def test_what_a_person_writes_after_a_kill_in_the_block_is_theirs(workspace: Workspace) -> None:
    """Each file that is not as it stood in is left and named; the others are put right."""
    (workspace.root / "conftest.py").write_text("the coder's\n")
    (workspace.root / "other.py").write_text("the coder's\n")
    (workspace.root / "a.py").write_text("x = 2\n")
    tree = workspace.snapshots.take()
    block = standing_in(
        workspace.deps,
        tree=tree,
        other=workspace.before,
        paths=["conftest.py", "other.py", "a.py"],
        texts={"pyproject.toml": b"y = 1\n", "tests/test_a.py": b"pass\n"},
    )
    block.__enter__()
    assert unfinished_file_swaps(runs_dir(workspace.root)) == []
    (workspace.root / "conftest.py").write_text("a person's\n")
    (workspace.root / "a.py").write_text("x = 3\n")
    (workspace.root / "pyproject.toml").write_text("z = 1\n")
    ended = end_file_swap(workspace.deps.run_dir, Snapshots.open(workspace.root), killed=True)

    assert ended is not None
    assert ended.left == ("a.py", "conftest.py", "pyproject.toml")
    assert ended.put_back == ("other.py", "tests/test_a.py")
    assert (workspace.root / "conftest.py").read_text() == "a person's\n"
    assert (workspace.root / "a.py").read_text() == "x = 3\n"
    assert (workspace.root / "tests/test_a.py").read_text() == "def test_a(): pass\n"


def test_what_the_checks_make_of_what_stands_in_gives_way_and_is_kept(workspace: Workspace) -> None:
    (workspace.root / "a.py").write_text("x = 2\n")
    tree = workspace.snapshots.take()
    with standing_in(workspace.deps, tree=tree, other=workspace.before, paths=["a.py"]):
        (workspace.root / "a.py").write_text("x = 3\n")

    assert (workspace.root / "a.py").read_text() == "x = 2\n"
    assert "+x = 3" in (workspace.deps.run_dir / "stood-in.patch").read_text()


def test_a_killed_second_look_is_found_from_the_workspace(workspace: Workspace) -> None:
    run = runs_dir(workspace.root) / "20260101-000000-ab"
    run.mkdir(parents=True)
    workspace.deps.run_dir = run
    (workspace.root / "conftest.py").write_text("mine\n")
    tree = workspace.snapshots.take()
    block = standing_in(workspace.deps, tree=tree, other=workspace.before, paths=["conftest.py"])
    block.__enter__()

    assert list(unfinished_file_swaps(runs_dir(workspace.root))) == [run]
    end_file_swap(run, Snapshots.open(workspace.root), killed=True)
    assert list(unfinished_file_swaps(runs_dir(workspace.root))) == []
    assert (workspace.root / "conftest.py").read_text() == "mine\n"


def test_compiled_modules_are_forgotten_though_a_directory_has_such_a_name(workspace: Workspace) -> None:
    cache = workspace.root / "__pycache__"
    (cache / "a.pyc" / "deep.pyc").mkdir(parents=True)
    (cache / "z.pyc").write_bytes(b"x")
    workspace.look()
    assert not (cache / "z.pyc").exists()
    assert (cache / "a.pyc").is_dir(), "Python does not believe it"


def test_what_judges_and_no_snapshot_holds_is_put_back(workspace: Workspace) -> None:
    (workspace.root / ".gitignore").write_text("tests/hidden/\ncheck.sh\n")
    (workspace.root / "tests/hidden").mkdir()
    test, script = workspace.root / "tests/hidden/test_b.py", workspace.root / "check.sh"
    test.write_text("old\n")
    script.write_text("old\n")
    (workspace.root / "tests/hidden/seen.txt").write_text("old\n")
    workspace.command = "sh check.sh"
    workspace.remember()
    test.unlink()
    script.write_text("new\n")
    (workspace.root / "tests/hidden/seen.txt").write_text("what a test wrote\n")
    seen = workspace.look()

    assert seen.restored.put_back == ("check.sh (in no snapshot)", "tests/hidden/test_b.py (in no snapshot)")
    assert (test.read_text(), script.read_text()) == ("old\n", "old\n")
    assert (workspace.deps.run_dir / HIDDEN_FILES / "check.sh").read_text() == "new\n"
    assert workspace.look(allow=("check.sh",)).restored.put_back == ()
    assert (workspace.root / "tests/hidden/seen.txt").read_text() == "what a test wrote\n"


def test_ignored_code_is_suspect_where_it_came_or_changed_with_the_run(workspace: Workspace) -> None:
    (workspace.root / ".gitignore").write_text("*_made.py\nnode_modules/\nbuild/\n")
    for path in ("a_made.py", "b_made.py", "node_modules/x/c.py"):
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_text("old\n")
    workspace.remember()
    for path in ("a_made.py", "c_made.py", "node_modules/x/d.py", "node_modules/e.py", "build/f.bin", "build/f.so"):
        (workspace.root / path).parent.mkdir(parents=True, exist_ok=True)
        (workspace.root / path).write_text("new\n")
    (workspace.root / "b_made.py").write_text("old\n")

    assert workspace.look().suspects == {
        "a_made.py": b"old\n",
        "build/f.so": None,
        "c_made.py": None,
    }, "installed environments are put back separately, see test_installed_in_runs"


def test_a_lost_note_of_what_no_snapshot_holds_is_said(workspace: Workspace) -> None:
    workspace.baseline = workspace.baseline.model_copy(update={"unheld": "0" * 40})

    assert workspace.look().restored.left == (LOST,)


def test_it_is_said_when_the_checks_run_all_the_code_there_is(tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "run").mkdir()
    workspace = Workspace(tmp_path / "root", tmp_path / "run")
    (workspace.root / "a.py").unlink()
    (workspace.root / "lib.sh").write_text("add() { echo 1; }\n")
    (workspace.root / "check.sh").write_text(". ./lib.sh\n")
    workspace.command = "sh check.sh"
    workspace.remember()
    task = workspace.task()

    assert "--allow-edits lib.sh" in all_is_protected(task, workspace.before, workspace.snapshots, ())
    (workspace.root / "a.py").write_text("x = 1\n")
    assert all_is_protected(task, workspace.snapshots.take(), workspace.snapshots, ()) == ""


def test_a_changed_file_whose_time_was_set_is_touched(tmp_path: Path) -> None:
    """Or make would believe what was built from it before."""
    (tmp_path / "set.c").write_text("int x;")
    os.utime(tmp_path / "set.c", (1, 1))
    (tmp_path / "written.c").write_text("int x;")
    written = (tmp_path / "written.c").stat().st_mtime_ns

    make_fresh(tmp_path, ["set.c", "written.c", "gone.c"])

    assert (tmp_path / "set.c").stat().st_mtime_ns >= written - 50_000_000
    assert (tmp_path / "written.c").stat().st_mtime_ns == written


def test_a_built_file_that_is_put_back_is_as_old_as_the_baseline(workspace: Workspace) -> None:
    workspace.command = "sh built/check.sh"
    (workspace.root / ".gitignore").write_text("built/\n")
    (workspace.root / "built").mkdir()
    script = workspace.root / "built/check.sh"
    script.write_text("true\n")
    workspace.remember()
    since = time.time()
    script.write_text("exit 0\n")

    assert workspace.look().restored.put_back == ("built/check.sh (in no snapshot)",)
    assert script.read_text() == "true\n"
    assert script.stat().st_mtime < since


def test_what_was_put_back_is_told_with_its_reason() -> None:
    names = (
        "tests/test_a.py",
        "pyproject.toml [tool.ruff]",
        "lib.sh",
        "built/t (in no snapshot)",
        "conftest.py (set aside while the older tests were judged)",
    )
    judged = Verification(visit=1, tree="t", passed=False, detail="red", checks=(), put_back=names)

    said = failure_entries(judged)[-1].summary

    assert said == (
        "put back to the state before the run, because it judges the work: tests/test_a.py, pyproject.toml [tool.ruff],"
        " lib.sh; put back to the state before the run, because git ignores it, so no patch would contain it: built/t (in"
        " no snapshot); could change the result of older tests: conftest.py (set aside while the older tests were judged)"
    )
    assert product_among(names) == ("lib.sh", "built/t")
