import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kotef.errors import BusyError, WorkspaceError
from kotef.files import state_dir
from kotef.workspace.lock import workspace_lock

HOLDER = """
import pathlib, subprocess, sys
from kotef.workspace.lock import workspace_lock
with workspace_lock(pathlib.Path(sys.argv[1]), "run-1"):
    child = subprocess.Popen(["sleep", "30"], close_fds=False)
    print(child.pid, flush=True)
    sys.stdin.read()
"""


def hold(root: Path) -> subprocess.Popen[str]:
    project = str(Path(__file__).parents[2])
    command = [sys.executable, "-c", f"import sys; sys.path.insert(0, {project!r})\n{HOLDER}", str(root)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def test_a_second_writer_is_told_who_holds_the_workspace(root: Path) -> None:
    with hold(root) as holder:
        assert holder.stdout is not None
        child = int(holder.stdout.readline())
        with pytest.raises(BusyError, match="run-1") as busy, workspace_lock(root, "run-2"):
            pytest.fail("two writers")
        assert (busy.value.pid, busy.value.run) == (holder.pid, "run-1")
        holder.kill()
        holder.wait()
        with workspace_lock(root, "run-3"):  # while a child of the killed holder still runs
            assert b"run-3" in (state_dir(root) / "lock").read_bytes()
        subprocess.run(["kill", str(child)], check=True)


def test_it_can_be_taken_again_and_through_another_name_of_the_directory(root: Path, tmp_path: Path) -> None:
    with workspace_lock(root, "a"):
        pass
    (tmp_path / "link").symlink_to(root)
    with workspace_lock(root, "b"), pytest.raises(BusyError), workspace_lock(tmp_path / "link", "c"):
        pytest.fail("two writers")


def test_it_is_free_after_an_error_inside_and_other_workspaces_are_not_held(root: Path, tmp_path: Path) -> None:
    with pytest.raises(BlockingIOError, match="mine"), workspace_lock(root, "a"):
        raise BlockingIOError("mine")
    with workspace_lock(root, "b"), workspace_lock(tmp_path, "c"):
        pass


def test_threads_exclude_each_other(root: Path) -> None:
    refused: list[BusyError] = []

    def second() -> None:
        try:
            with workspace_lock(root, "b"):
                pass
        except BusyError as error:
            refused.append(error)

    with workspace_lock(root, "a"):
        thread = threading.Thread(target=second)
        thread.start()
        thread.join()
    assert len(refused) == 1


def test_a_holder_that_has_not_written_yet_is_unknown(root: Path) -> None:
    with workspace_lock(root, "a"):
        (state_dir(root) / "lock").write_text("")
        with pytest.raises(BusyError, match="unknown"), workspace_lock(root, "b"):
            pytest.fail("two writers")


def test_a_lock_that_cannot_be_made_is_a_workspace_error(root: Path) -> None:
    (state_dir(root) / "lock").mkdir()
    with pytest.raises(WorkspaceError, match="lock"), workspace_lock(root, "a"):
        pytest.fail("no lock")
