import asyncio
import errno
import os
import resource
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.errors import CheckError, WorkspaceError
from kotef.sandbox import process
from kotef.sandbox.output import HeadTail
from kotef.sandbox.process import Completed, run_process
from kotef.workspace import process_tree

ENV = {"PATH": os.environ["PATH"]}
linux = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")


def run(command: str, cwd: Path, timeout: float = 20, idle_timeout: float | None = None, **more: object) -> Completed:
    return asyncio.run(run_process(command, cwd=cwd, env=ENV, timeout=timeout, idle_timeout=idle_timeout, **more))


def alive(pid_file: Path) -> bool:
    """Whether the process whose number is in the file runs, or is a zombie."""
    try:
        os.kill(int(pid_file.read_text()), 0)
    except ProcessLookupError:
        return False
    return True


def wait_for(path: Path) -> None:
    deadline = time.monotonic() + 60
    while not (path.exists() and path.read_text().strip()):
        assert time.monotonic() < deadline, f"{path} was never written"
        time.sleep(0.01)


def test_streams_exit_status_and_directory_are_reported_as_they_are(tmp_path: Path) -> None:
    done = run("pwd; echo problem >&2; exit 7", tmp_path)
    assert (done.exit_code, done.stdout, done.stderr) == (7, f"{tmp_path}\n", "problem\n")
    assert done.timed_out is None
    assert done.output_bytes == len(f"{tmp_path}\nproblem\n")
    assert 0 < done.seconds < 20


def test_the_command_line_runs_exactly_as_written(tmp_path: Path) -> None:
    assert run("false | true", tmp_path).exit_code == 0, "no pipefail is slipped in"
    assert run("echo 'a  b' \"$((1 + 1))\"\necho $0", tmp_path).stdout.startswith("a  b 2\n")


def test_a_signal_is_a_negative_exit_code(tmp_path: Path) -> None:
    assert run("kill -SEGV $$", tmp_path).exit_code == -signal.SIGSEGV


def test_stdin_is_empty_and_the_environment_is_the_one_given(tmp_path: Path) -> None:
    assert run("cat; read line || echo nothing", tmp_path).stdout == "nothing\n"
    names = {line.partition("=")[0] for line in run("env", tmp_path).stdout.splitlines()}
    assert names - {"PWD", "SHLVL", "_"} == {"PATH", "KOTEF_COMMAND"}


def test_a_broken_pipe_ends_a_writer_as_in_any_shell(tmp_path: Path) -> None:
    assert run("bash -c 'yes; echo $? >&2' | head -1; true", tmp_path, timeout=5).stderr.strip() == "141"


def test_the_wall_timeout_ends_a_command(tmp_path: Path) -> None:
    done = run("echo started; sleep 60", tmp_path, timeout=1.5)
    assert (done.timed_out, done.exit_code, done.stdout) == ("wall", None, "started\n")
    assert done.seconds < 30


def test_silence_ends_a_command_but_output_keeps_it_going(tmp_path: Path) -> None:
    assert run("echo a; sleep 60", tmp_path, idle_timeout=0.4).timed_out == "idle"
    talking = run("for i in 1 2 3 4 5 6 7 8; do echo $i >&2; sleep 0.2; done", tmp_path, idle_timeout=1.4)
    assert talking.timed_out is None
    assert talking.stderr.split() == list("12345678")


def test_a_background_child_that_holds_the_pipes_does_not_hang_us(tmp_path: Path) -> None:
    started = time.monotonic()
    done = run("sleep 60 & echo $! > pid; echo done", tmp_path)
    assert done.stdout == "done\n"
    assert time.monotonic() - started < 30
    assert not alive(tmp_path / "pid")


def test_what_a_background_writer_says_at_the_end_is_not_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "LINGER", 20)  # it is over when the writer is; a busy machine may be late
    assert run("echo all of it > >(sleep 0.02; cat)", tmp_path).stdout == "all of it\n"


DAEMON = (
    "import os, signal, time\n"
    "if os.fork(): os._exit(0)\n"
    "os.setsid()\n"
    "if os.fork(): os._exit(0)\n"
    "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
    "os.close(1); os.close(2)\n"
    "open('pid', 'w').write(str(os.getpid()))\n"
    "time.sleep(60)\n"
)


@linux
@pytest.mark.parametrize("clean", ["", "env -i "], ids=["with our marker", "with a clean environment"])
def test_a_daemon_that_left_the_session_and_ignores_sigterm_is_ended(tmp_path: Path, clean: str) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    run(f"{clean}{sys.executable} daemon.py; while ! test -s pid; do sleep 0.01; done", tmp_path)
    assert not alive(tmp_path / "pid")


@linux
def test_a_daemon_is_ended_after_a_timeout_too(tmp_path: Path) -> None:
    (tmp_path / "daemon.py").write_text(DAEMON)
    until = "while ! test -s pid; do echo .; sleep 0.01; done"
    assert run(f"{sys.executable} daemon.py & {until}; sleep 60", tmp_path, idle_timeout=0.5).timed_out == "idle"
    assert not alive(tmp_path / "pid")


@linux
def test_a_command_that_kills_its_parent_kills_only_itself(tmp_path: Path) -> None:
    done = run("(echo $BASHPID > pid; sleep 60) & kill -TERM $PPID; echo first; kill -9 $PPID; sleep 60", tmp_path)
    assert (done.exit_code, done.stdout, done.timed_out) == (-signal.SIGKILL, "first\n", None)
    assert not alive(tmp_path / "pid")


@linux
def test_nothing_outlives_a_kotef_that_was_killed(tmp_path: Path) -> None:
    """A command that outlived a killed run would change files under the resumed one."""
    script = (
        "import asyncio, os, pathlib\n"
        "from kotef.sandbox.process import run_process\n"
        "asyncio.run(run_process('setsid sleep 61 & echo $! > pid; sleep 60', cwd=pathlib.Path(os.environ['CWD']),"
        " env={'PATH': os.environ['PATH']}, timeout=60, idle_timeout=None))\n"
    )
    env = {**ENV, "CWD": str(tmp_path), "PYTHONPATH": str(Path(__file__).parents[2])}
    kotef = subprocess.Popen([sys.executable, "-c", script], env=env)
    wait_for(tmp_path / "pid")
    kotef.kill()
    kotef.wait()  # its supervisor is ours from here on, as we adopt orphans too
    deadline = time.monotonic() + 30
    while alive(tmp_path / "pid"):
        assert time.monotonic() < deadline, "it is still running"
        time.sleep(0.02)
        with suppress(ChildProcessError):
            os.waitpid(-1, os.WNOHANG)


@linux
def test_cancellation_ends_the_tree_and_is_raised_again(tmp_path: Path) -> None:
    async def cancelled() -> None:
        work = run_process("sleep 60 & echo $! > pid; sleep 60", cwd=tmp_path, env=ENV, timeout=60, idle_timeout=None)
        task = asyncio.create_task(work)
        await asyncio.to_thread(wait_for, tmp_path / "pid")
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert not alive(tmp_path / "pid")

    asyncio.run(cancelled())


@linux
@pytest.mark.parametrize("milliseconds", range(0, 60, 6))
def test_a_cancellation_while_the_command_is_being_started_leaves_nothing(tmp_path: Path, milliseconds: int) -> None:
    """The supervisor may fork after the last look at its tree, and be killed before it can tell."""
    name = f"left_behind_{os.getpid()}_{milliseconds}"

    async def cancelled() -> None:
        work = run_process(f"exec -a {name} sleep 60", cwd=tmp_path, env=ENV, timeout=90, idle_timeout=None)
        task = asyncio.create_task(work)
        await asyncio.sleep(milliseconds / 1000)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(cancelled())
    assert name not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


@linux
def test_no_zombie_and_no_descriptor_is_left(tmp_path: Path) -> None:
    run("true", tmp_path)
    before, others = len(list(Path("/proc/self/fd").iterdir())), children()
    for command in ("true", "sleep 60 & exit 3", "setsid sleep 60 & true", "sleep 60 & kill -9 $PPID"):
        run(command, tmp_path)
    assert len(list(Path("/proc/self/fd").iterdir())) == before
    assert children() == others


def children() -> set[int]:
    """Our own children, ended or not."""
    return {pid for pid, process in process_tree._table().items() if process.parent == os.getpid()}


def test_commands_run_side_by_side_and_leave_each_other_alone(tmp_path: Path) -> None:
    async def both() -> tuple[Completed, ...]:
        commands = ("sleep 0.6; echo slow", "sleep 60 & echo quick")
        return tuple(
            await asyncio.gather(
                *(run_process(each, cwd=tmp_path, env=ENV, timeout=20, idle_timeout=None) for each in commands)
            )
        )

    assert [done.stdout for done in asyncio.run(both())] == ["slow\n", "quick\n"]


def test_a_flood_costs_little_memory_and_its_log_is_capped(tmp_path: Path) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = run(
        "echo first; head -c 100000000 /dev/zero | tr '\\0' x; echo; echo last",
        tmp_path,
        log=tmp_path / "logs" / "flood.log",
        log_cap=1_000_000,
        keep=10_000,
    )
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 50_000, "kilobytes"
    assert done.exit_code == 0
    assert done.output_bytes == 100_000_012
    assert done.stdout.startswith("first\nxxx")
    assert done.stdout.endswith("xxx\nlast\n")
    assert "\n[… 99990012 bytes left out …]\n" in done.stdout
    log = (tmp_path / "logs" / "flood.log").read_text()
    assert done.log_truncated
    assert 1_000_000 < len(log) < 1_000_100
    assert log.endswith("x\n[log cut after 1000000 bytes; the command continued]\n")


def test_the_log_holds_both_streams_in_full(tmp_path: Path) -> None:
    log = tmp_path / "command.log"
    done = run("echo out; sleep 0.05; printf 'err\\377' >&2", tmp_path, log=log)
    assert log.read_bytes() == b"out\nerr\xff"
    assert (done.stderr, done.log, done.log_truncated, done.log_error) == ("err\ufffd", log, False, "")


def test_a_full_disk_drops_the_log_and_keeps_the_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write = os.write

    def full(file: int, content: bytes) -> int:
        if os.path.realpath(f"/proc/self/fd/{file}").endswith("command.log"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(file, content)

    monkeypatch.setattr(os, "write", full)
    done = run("echo out; echo more", tmp_path, log=tmp_path / "command.log")
    assert (done.exit_code, done.stdout, done.log) == (0, "out\nmore\n", None)
    assert done.log_error == "log dropped: No space left on device"
    assert not (tmp_path / "command.log").exists()


def test_a_log_that_cannot_be_made_is_said_and_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("kept")
    (tmp_path / "linked.log").symlink_to("secret")
    done = run("echo out", tmp_path, log=tmp_path / "linked.log")
    assert done.stdout == "out\n"
    assert done.log_error.startswith("log dropped: ")
    assert (tmp_path / "secret").read_text() == "kept"
    (tmp_path / "file").touch()
    assert run("true", tmp_path, log=tmp_path / "file" / "x.log").log_error


@pytest.mark.parametrize("command", ["echo \0", "x" * 3_000_000], ids=["a NUL byte", "too long"])
def test_a_command_line_no_shell_takes_is_a_check_error(tmp_path: Path, command: str) -> None:
    with pytest.raises(CheckError, match="cannot be started"):
        run(command, tmp_path)


def test_a_missing_directory_is_a_workspace_error(tmp_path: Path) -> None:
    with pytest.raises(WorkspaceError, match="is not a directory"):
        run("true", tmp_path / "nowhere")


def test_a_command_not_found_is_an_exit_status_like_any_other(tmp_path: Path) -> None:
    assert run("no-such-command-here", tmp_path).exit_code == 127


def test_a_character_cut_in_two_is_left_out_whole() -> None:
    kept = HeadTail(8)
    for byte in "aaaä------äbbb".encode():
        kept.add(bytes([byte]))
    assert kept.text() == "aaa\n[… 9 bytes left out …]\nbbb"


@given(st.lists(st.binary(max_size=12), max_size=12), st.integers(2, 20))
def test_head_and_tail_are_the_ends_of_what_came_in(chunks: list[bytes], keep: int) -> None:
    kept = HeadTail(keep)
    for chunk in chunks:
        kept.add(chunk.translate(ASCII))
    whole = b"".join(chunks).translate(ASCII).decode()
    half = keep // 2
    if len(whole) <= 2 * half:
        assert kept.text() == whole
    else:
        between = f"\n[… {len(whole) - 2 * half} bytes left out …]\n"
        assert kept.text() == f"{whole[:half]}{between}{whole[-half:]}"
    assert kept.total == len(whole)


ASCII = bytes(number % 128 for number in range(256))


@linux
def test_no_process_is_looked_for_after_a_command_that_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[int] = []
    table = process_tree._table
    others = children()
    monkeypatch.setattr(process_tree, "_table", lambda: looks.append(1) or table())
    run("echo done | cat", tmp_path)
    assert not looks
    run("sleep 60 >/dev/null 2>&1 & exit 3", tmp_path)
    assert looks
    assert children() == others, "what it left was ended"
