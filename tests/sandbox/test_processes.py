"""Whatever a command starts is bounded, has a clear result, and is gone with the command or with kotef, at each level."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from support.confined import shell

from kotef.sandbox.sandbox import Level, Sandbox
from kotef.workspace import ProcessTree, adopt_orphans

Make = Callable[..., Sandbox]
LEVELS: tuple[Level, ...] = ("off", "bwrap", "landlock")
each_level = pytest.mark.parametrize("level", LEVELS)

DAEMON = """\
import os, signal, sys, time

if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
time.sleep(float(sys.argv[1]))
"""

KILLED = """\
import asyncio, os, sys
from pathlib import Path
from kotef.sandbox.environment import child_environment
from kotef.sandbox.process import run_process
from kotef.sandbox.confinement import confine
from kotef.sandbox.sandbox import OFF, Sandbox

level, root, scratch, command = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
env = child_environment(os.environ)
sandbox = OFF if level == "off" else Sandbox(level, confine(root, scratch, env))
asyncio.run(run_process(command, cwd=root, env=env, timeout=60, idle_timeout=None, sandbox=sandbox))
"""


def running(mark: str) -> list[bytes]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            lines.append(path.read_bytes())
    return [line for line in lines if mark.encode() in line and b"kotef" not in line]


@pytest.mark.examples(6)
@each_level
@pytest.mark.parametrize(
    "start",
    ["setsid -f sleep {}", "python daemon.py {}", "(trap '' TERM; sleep {}; :) &", "nohup sleep {} >/dev/null 2>&1 &"],
    ids=["a session of its own", "a double fork that ignores SIGTERM", "a shell that ignores SIGTERM", "a job"],
)
def test_nothing_outlives_a_kotef_that_was_killed(
    level: Level, make: Make, project: Path, tmp_path: Path, start: str
) -> None:
    make(level)  # skips where the machine lacks the level
    adopt_orphans()
    (project / "daemon.py").write_text(DAEMON)
    mark = f"43{os.getpid()}.{LEVELS.index(level)}"
    command = f"{start.format(mark)}\ntouch started; sleep 60"
    arguments = [level, str(project), str(tmp_path / "state" / "kotef" / "abc" / "sandbox"), command]
    env = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen([sys.executable, "-c", KILLED, *arguments], env=env) as kotef:
        try:
            until(lambda: (project / "started").exists() and bool(running(mark)), "it begins")
        finally:
            kotef.send_signal(signal.SIGKILL)
    until(lambda: not running(mark), "nothing is left")


def until(happens: Callable[[], bool], what: str) -> None:
    end = time.monotonic() + 30
    while not happens():
        assert time.monotonic() < end, what
        time.sleep(0.02)
        with suppress(ChildProcessError):  # the supervisor is ours, once kotef is gone
            os.waitpid(-1, os.WNOHANG)


@each_level
def test_two_hundred_children_are_ended_with_their_command(level: Level, make: Make, project: Path) -> None:
    mark = f"44{os.getpid()}.{LEVELS.index(level)}"
    done = shell(f"for n in $(seq 200); do sleep {mark} & done; echo all", make(level), project)
    assert (done.exit_code, done.stdout) == (0, "all\n")
    assert running(mark) == []


@each_level
def test_no_process_is_looked_for_after_a_command_that_leaves_none(
    level: Level, make: Make, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[ProcessTree] = []
    alive = ProcessTree.alive
    sandbox = make(level)
    monkeypatch.setattr(ProcessTree, "alive", lambda tree: looks.append(tree) or alive(tree))
    for _ in range(5):
        assert shell("echo done | cat", sandbox, project).stdout == "done\n"
    assert len(looks) < 5, "the processes of bwrap itself end a moment after the command"


@each_level
def test_a_reader_of_stdin_finds_its_end(level: Level, make: Make, project: Path) -> None:
    done = shell("cat; echo read", make(level), project)
    assert (done.exit_code, done.stdout) == (0, "read\n")


@each_level
def test_a_sleeper_is_ended_at_its_limit(level: Level, make: Make, project: Path) -> None:
    done = shell("echo here; exec sleep 60", make(level), project, timeout=1.5)
    assert (done.exit_code, done.timed_out, done.stdout) == (None, "wall", "here\n")
    assert done.seconds < 20


@each_level
@pytest.mark.parametrize("size", [50_000_000, pytest.param(2_000_000_000, marks=pytest.mark.hostile)])
def test_a_flood_of_output_is_counted_and_cut(level: Level, make: Make, project: Path, size: int) -> None:
    done = shell(f"yes | head -c {size}", make(level), project, timeout=300)
    assert (done.exit_code, done.timed_out, done.output_bytes) == (0, None, size)
    assert len(done.stdout) < 300_000
    assert "bytes left out" in done.stdout


@pytest.mark.hostile
@each_level
def test_a_hundred_thousand_files_are_a_result_like_any_other(level: Level, make: Make, project: Path) -> None:
    many = "import os\nos.mkdir('many')\nfor n in range(100_000): open(f'many/{n}', 'w').close()\nprint('made')\n"
    (project / "many.py").write_text(many)
    done = shell("python many.py", make(level), project, timeout=300)
    assert (done.exit_code, done.stdout) == (0, "made\n")
