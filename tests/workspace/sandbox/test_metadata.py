"""Mode, owner, times and attributes: a command changes those of files below its writable folders, and no others."""

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support import metadata_calls
from support.confined import shell

from kotef.workspace.sandbox.sandbox import OFF, Level, Sandbox

Make = Callable[..., Sandbox]

LEVELS: list[Level] = ["bwrap", "landlock"]
each_level = pytest.mark.parametrize("level", LEVELS)


def facts(folder: Path) -> dict[str, object]:
    """All that one of the calls could change."""
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


def test_inside_each_call_does_and_answers_as_the_kernel_would(make: Make, project: Path) -> None:
    sandbox = make("landlock")
    first, second = target(project / "first"), target(project / "second")
    plain = tried(first, OFF, project)["known"]
    brokered = tried(second, sandbox, project)["known"]

    assert [name.replace("second", "first") for name in brokered] == list(plain)
    differ = {name: number for name, number in brokered.items() if number != plain[name.replace("second", "first")]}
    own = {name for name in differ if name.endswith(("of self", "of the thread", "held link", "device", "number"))}
    assert {differ[name] for name in own} <= {errno.EPERM}, "a link of /proc itself lies outside"
    assert [name for name in differ if name not in own and "x84" not in name] == []
    changed = [list(facts(folder).values()) for folder in (first, second)]
    assert _without_times(changed[0]) == _without_times(changed[1])


def _without_times(told: list[object]) -> list[object]:
    """Times that were set to now differ."""
    return [each[:3] if isinstance(each, tuple) else each for each in told]
