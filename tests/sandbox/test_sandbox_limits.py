"""`--sandbox strict` is bwrap with limits; each that is reached ends in a result that says so."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support.confined import shell

from kotef.errors import SandboxError
from kotef.sandbox import levels
from kotef.sandbox.confinement import confine
from kotef.sandbox.environment import child_environment
from kotef.sandbox.levels import choose_level
from kotef.sandbox.limits import SandboxLimits, delegated
from kotef.sandbox.sandbox import Sandbox

Make = Callable[..., Sandbox]
MIB = 1024**2


def _strict(make: Make, **limits: int) -> Sandbox:
    sandbox = make("bwrap")
    return Sandbox("bwrap", sandbox.confinement, SandboxLimits(**limits))


def test_ordinary_commands_work_with_the_limits_of_strict(make: Make, project: Path) -> None:
    done = shell(f"{sys.executable} app.py && head -c 1000 /dev/zero > file", _strict(make), project)

    assert (done.exit_code, done.stdout) == (0, "app\n"), done.stderr


def test_a_file_that_grows_too_large_is_cut_off_and_named_as_that(make: Make, project: Path) -> None:
    done = shell("head -c 9999999 /dev/zero > big; echo $?", _strict(make, file_size=MIB), project)

    assert "File size limit exceeded" in done.stderr
    assert done.stdout == f"{128 + 25}\n"
    assert (project / "big").stat().st_size <= MIB


def test_a_process_that_takes_too_much_memory_is_refused_it(make: Make, project: Path) -> None:
    code = "bytearray(300 * 1024 * 1024)"
    done = shell(f"{sys.executable} -c '{code}'", _strict(make, memory=200 * MIB), project)

    assert done.exit_code
    assert "MemoryError" in done.stderr


def test_a_command_cannot_lift_its_limits(make: Make, project: Path) -> None:
    done = shell("ulimit -f unlimited; ulimit -d unlimited; ulimit -f", _strict(make, file_size=MIB), project)

    assert done.stdout.strip() in {"1024", "2048"}


def test_processes_are_limited_for_a_normal_user(make: Make, project: Path) -> None:
    if os.geteuid() == 0:
        assert "their number is not limited" in SandboxLimits().in_words(), "and the run says so"
        return
    done = shell("for i in $(seq 200); do sleep 5 & done; wait", _strict(make, processes=50), project)

    assert "Resource temporarily unavailable" in done.stderr


def test_strict_is_never_the_lesser_level(project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    env = child_environment(os.environ)
    confinement = confine(project, tmp_path / "state" / "kotef" / "abc" / "sandbox", env)
    monkeypatch.setattr(levels, "bubblewrap", lambda: None)

    with pytest.raises(SandboxError, match="--sandbox strict: bwrap is not installed"):
        choose_level("strict", confinement, env, ci=False)


def test_strict_says_what_it_limits(make: Make, project: Path, tmp_path: Path) -> None:
    make("bwrap")
    env = child_environment(os.environ)
    confinement = confine(project, tmp_path / "state" / "kotef" / "abc" / "sandbox", env)
    sandbox, said = choose_level("strict", confinement, env, ci=True)

    assert (sandbox.level, sandbox.limits) == ("bwrap", SandboxLimits())
    assert "4096 MiB for a file" in said


def test_a_control_group_is_used_where_it_passes_memory_and_processes_on(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("4:memory:/other\n0::/user/kotef\n")
    group = tmp_path / "groups" / "user" / "kotef"
    (group / "kotef-1").mkdir(parents=True)
    (group / "cgroup.subtree_control").write_text("cpu memory pids\n")

    assert delegated(tmp_path / "groups", own) == group
    assert not (group / "kotef-1").exists(), "what an earlier run left"


@pytest.mark.parametrize("passed_on", ["", "memory\n"])
def test_a_control_group_that_passes_less_on_is_not_used(tmp_path: Path, passed_on: str) -> None:
    own = tmp_path / "own"
    own.write_text("0::/\n")
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups" / "cgroup.subtree_control").write_text(passed_on)

    assert delegated(tmp_path / "groups", own) is None


def test_in_a_control_group_its_files_hold_the_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from kotef.sandbox import limits as limiting

    group = tmp_path / "group"
    group.mkdir()
    monkeypatch.setattr(limiting, "delegated", lambda *_: group)
    words = SandboxLimits(processes=7, memory=MIB).around(["bwrap", "--"], ["true"])
    own = group / f"kotef-{os.getpid()}"

    assert (own / "pids.max").read_text() == "7"
    assert (own / "memory.max").read_text() == str(MIB)
    assert f"echo $$ > '{own}/cgroup.procs'" in words[2]
    assert words[-3:] == ["bwrap", "--", "true"]
