"""Commands can change mode, owner, times and attributes of files below their writable folders, and of no others."""

import errno
import json
import os
import resource
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support import metadata_calls
from support.confined import shell

from kotef.sandbox import metadata
from kotef.sandbox.environment import child_environment
from kotef.sandbox.levels import choose_level, probe_level
from kotef.sandbox.sandbox import OFF, Level, Sandbox

Make = Callable[..., Sandbox]

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)


def facts(folder: Path) -> dict[str, object]:
    """Everything that one of the calls could change."""
    told: dict[str, object] = {}
    for path in (folder, folder / "file", folder / "link"):
        found = path.lstat()
        told[path.name] = (stat.filemode(found.st_mode), found.st_uid, found.st_gid, found.st_mtime_ns)
        if not path.is_symlink():
            with suppress(OSError):
                told[f"attributes of {path.name}"] = {
                    name: os.getxattr(path, name) for name in os.listxattr(path) if name.startswith("user.")
                }
    return told


def target(folder: Path) -> Path:
    folder.mkdir()
    (folder / "file").write_text("content")
    (folder / "file").chmod(0o600)
    (folder / "link").symlink_to("file")
    for path in (folder / "file", folder / "link", folder):
        os.utime(path, (10, 10), follow_symlinks=False)
    return folder


def tried(folder: Path, sandbox: Sandbox, project: Path) -> dict[str, dict[str, int]]:
    shutil.copy(metadata_calls.__file__, project / "calls.py")
    done = shell(f"{sys.executable} calls.py {folder}", sandbox, project)
    assert done.exit_code == 0, done.stderr
    told: dict[str, dict[str, int]] = json.loads(done.stdout)
    return told


@each_level
def test_no_call_changes_a_file_outside(level: Level, make: Make, project: Path) -> None:
    outside = target(Path("/var/tmp", f"kotef-{os.getpid()}-{level}") if level == "bwrap" else project.parent / "out")
    sandbox = make(level, reads=[outside])
    before = facts(outside)
    try:
        told = tried(outside, sandbox, project)
        assert facts(outside) == before
    finally:
        shutil.rmtree(outside)
    assert len(told["known"]) > 400
    assert all(told["newer"].values())


def test_inside_each_call_has_the_effect_and_result_of_the_kernels(make: Make, project: Path) -> None:
    sandbox = make("landlock")
    first, second = target(project / "first"), target(project / "second")
    plain = tried(first, OFF, project)["known"]
    brokered = tried(second, sandbox, project)["known"]

    assert [name.replace("second", "first") for name in brokered] == list(plain)
    differ = {name: number for name, number in brokered.items() if number != plain[name.replace("second", "first")]}
    own = {name for name in differ if name.endswith(("of self", "of the thread", "held link", "device", "number"))}
    assert {differ[name] for name in own} <= {errno.EPERM}, "a link in /proc itself is outside"
    assert [name for name in differ if name not in own and "x84" not in name] == []
    changed = [list(facts(folder).values()) for folder in (first, second)]
    assert _without_times(changed[0]) == _without_times(changed[1])


def _without_times(told: list[object]) -> list[object]:
    """Without times that were set to the current time, which differ between runs."""
    return [each[:3] if isinstance(each, tuple) else each for each in told]


RACE = """
import os, sys, threading
inside, outside = sys.argv[1:]
os.makedirs(f"{inside}/a")
open(f"{inside}/a/file", "w").close()
over = threading.Event()
def swap():
    while not over.is_set():
        for one in ("a", "b"):
            try:
                os.rename(f"{inside}/a", f"{inside}/real")
                os.symlink(outside, f"{inside}/a")
                os.unlink(f"{inside}/a")
                os.rename(f"{inside}/real", f"{inside}/a")
            except OSError:
                pass
threading.Thread(target=swap).start()
done = 0
for turn in range(2000):
    for change in (lambda: os.chmod(f"{inside}/a/file", 0o777), lambda: os.utime(f"{inside}/a/file", (5, 5))):
        try:
            change()
            done += 1
        except OSError:
            pass
over.set()
print(done)
"""


def test_a_path_that_alternates_between_inside_and_outside_changes_nothing_outside(make: Make, project: Path) -> None:
    sandbox = make("landlock")
    outside = target(project.parent / "out")
    before = facts(outside)
    (project / "race.py").write_text(RACE)

    done = shell(f"{sys.executable} race.py {project}/swapped {outside}", sandbox, project)

    assert facts(outside) == before
    assert int(done.stdout) > 0, "some of the calls met the file inside"


def test_the_broker_serves_background_processes_and_ends_with_the_last_one(make: Make, project: Path) -> None:
    """Grandchildren, orphans, and many calls at the same time."""
    sandbox = make("landlock")
    (project / "many.sh").write_text(
        "for i in $(seq 20); do (for j in 1 2 3; do touch -d @$j f$i; chmod 64$j f$i; done) & done; wait\n"
    )
    done = shell("(setsid sh many.sh; echo over > over) & sh many.sh; wait", sandbox, project)

    assert (done.exit_code, done.stderr) == (0, "")
    assert {stat.S_IMODE(path.stat().st_mode) for path in project.glob("f*")} == {0o643}


def test_limits_of_a_process_outside_cannot_be_set(make: Make, project: Path) -> None:
    """A limit could end the process, like a signal."""
    before = resource.getrlimit(resource.RLIMIT_CPU)
    done = shell(
        f"{sys.executable} -c 'import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)); "
        f"resource.prlimit({os.getpid()}, resource.RLIMIT_CPU, (10000, 10000))'",
        make("landlock"),
        project,
    )
    assert "PermissionError" in done.stderr
    assert resource.getrlimit(resource.RLIMIT_CPU) == before


def test_without_a_listener_the_level_holds_and_says_what_it_lacks(
    make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container that has a listener of its own, or if no process may read another's memory."""
    confinement = make("landlock").confinement
    assert confinement
    monkeypatch.setattr(metadata, "readable", lambda: False)
    env = child_environment(os.environ)

    probed = probe_level("landlock", confinement, env)

    assert (probed.holds, probed.deeds["change"]) == (True, "")
    assert "can change the mode" in choose_level("landlock", confinement, env, ci=True)[1]


DETACHED = """
import ctypes, os, sys
libc = ctypes.CDLL(None, use_errno=True)
outside, inside = sys.argv[1:]
print(libc.unshare(0x10000000 | 0x00020000))
tree = libc.syscall(428, -100, outside.encode(), 1 | 0x8000)  # open_tree, a copy that is mounted nowhere
print(tree, ctypes.get_errno())
found = os.open(inside.lstrip("/"), os.O_PATH, dir_fd=tree) if tree >= 0 else -1
print(os.readlink(f"/proc/self/fd/{found}") if found >= 0 else "")
for path in (f"/proc/self/fd/{found}", inside.lstrip("/")):
    try:
        os.chmod(path, 0o777, dir_fd=tree) if found >= 0 else None
        print("changed")
    except OSError as error:
        print(error)
"""


def test_a_private_mount_whose_paths_look_writable_changes_nothing_outside(make: Make, project: Path) -> None:
    sandbox = make("landlock")
    inside = project / "file"
    inside.write_text("theirs")
    copy = project.parent / "backup" / str(inside).lstrip("/")
    copy.parent.mkdir(parents=True)
    copy.write_text("mine")
    copy.chmod(0o600)
    (project / "detached.py").write_text(DETACHED)

    done = shell(f"{sys.executable} detached.py {project.parent}/backup {inside}", sandbox, project)

    assert done.exit_code == 0, done.stderr
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600, done.stdout
