"""One shell command, bounded in time and memory, that leaves nothing running."""

import asyncio
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final, Literal

from kotef.errors import CheckError, WorkspaceError
from kotef.redaction import StreamRedactor, redactor
from kotef.sandbox.output import HeadTail, Log
from kotef.sandbox.sandbox import OFF, Sandbox
from kotef.workspace import MARKER, ProcessTree, adopt_orphans

LOG_CAP: Final = 50 * 1024 * 1024
"""Bytes of one log."""
OUTPUT_KEPT: Final = 256 * 1024
"""Bytes of one stream kept in memory: half from its head, half from its tail."""
LINGER: Final = 0.1
"""Seconds that what a command left in the background may take to end by itself (`> >(tee log)` flushes)."""
GRACE: Final = 1.0
"""Seconds between SIGTERM and SIGKILL."""

_SUPERVISOR: Final = Path(__file__).with_name("supervisor.py")
_CHUNK: Final = 64 * 1024
_DRAIN: Final = 64
"""Chunks read after the end; more than any pipe holds, fewer than a survivor could feed us for ever."""


@dataclass(frozen=True, slots=True)
class Completed:
    """The result of one command; everything it started has ended."""

    command: str
    exit_code: int | None
    """Exit status; None when our timeout ended it; negative N means killed by signal N, as in `subprocess`."""
    stdout: str
    """UTF-8 with what is not replaced; head and tail, with a line `[… N bytes left out …]` between if it was long."""
    stderr: str
    seconds: float
    """Wall-clock seconds until the main process ended, or until the timeout."""
    timed_out: Literal["wall", "idle"] | None
    output_bytes: int
    """Bytes printed on both streams."""
    log: Path | None
    """Both streams as they came, up to the cap; None when none was asked for or it was dropped."""
    log_truncated: bool
    log_error: str
    """Why the log was dropped (full disk, read-only); empty otherwise. The rest of the result stands all the same."""


async def run_process(
    command: str,
    *,
    cwd: Path,
    env: Mapping[str, str],
    timeout: float,
    idle_timeout: float | None,
    log: Path | None = None,
    log_cap: int = LOG_CAP,
    keep: int = OUTPUT_KEPT,
    sandbox: Sandbox = OFF,
) -> Completed:
    """Run a shell command line exactly as written, with an empty stdin, in its own session.

    `timeout` is in wall seconds, `idle_timeout` in seconds without any output (None: may be silent). When the main
    process has ended, or has to, everything it started is ended too: SIGTERM, a short grace, SIGKILL. Cancellation
    does the same and is raised again. `env` is the whole environment of the command, except for one marker and for what
    `sandbox` adds, which also says what the command may touch. Known secrets are replaced in whatever it prints.

    Raises `WorkspaceError` when `cwd` is not a directory and `CheckError` when the shell cannot be started.
    """
    adopt_orphans()
    started = time.monotonic()
    running = _start(command, cwd, sandbox.environment(env), sandbox)
    capture = _Capture(running, keep=keep, log=Log(log, log_cap))
    loop = asyncio.get_running_loop()
    try:
        capture.listen(loop)
        timed_out = await _end_or_timeout(capture, started + timeout, idle_timeout)
        seconds = time.monotonic() - started
        if timed_out or not (capture.is_alone or await _all_gone(running.tree, LINGER)):
            running.tree.terminate()
            await _all_gone(running.tree, GRACE)
    finally:  # no await from here on: a second cancellation must not leave anything behind
        if not capture.is_alone:
            running.tree.kill()
        capture.finish(loop)
        exit_code = running.finish(capture.status, is_alone=capture.is_alone)
    return Completed(
        command=command,
        exit_code=None if timed_out else exit_code,
        stdout=capture.stdout.text(),
        stderr=capture.stderr.text(),
        seconds=seconds,
        timed_out=timed_out,
        output_bytes=capture.stdout.total + capture.stderr.total,
        log=capture.log.path,
        log_truncated=capture.log.truncated,
        log_error=capture.log.error,
    )


@dataclass(frozen=True, slots=True)
class _Running:
    """A supervisor and its command."""

    supervisor: subprocess.Popen[bytes]
    tree: ProcessTree
    lifeline: int
    """Our end; once it is closed, by us or by our death, the supervisor ends everything."""
    report: int
    """Where the supervisor writes the command's process number, its wait status and whether something is left."""

    def finish(self, status: int | None, *, is_alone: bool) -> int | None:
        """End the supervisor; returns the command's exit code, that of the supervisor if the command killed it.

        `is_alone`: the command has ended, and so has all that it started.
        """
        self.supervisor.kill()
        try:
            killed = self.supervisor.wait(GRACE)
        except subprocess.TimeoutExpired:  # it hangs in the kernel
            killed = None
        if not is_alone:  # again: cancelled early, the supervisor may have made its child after the last look
            self.tree.kill()
        os.close(self.lifeline)
        if not is_alone:
            self.tree.reap()
        return killed if status is None else os.waitstatus_to_exitcode(status)


class _Capture:
    """Reads both streams of a command, and its supervisor's report, as they come through the event loop."""

    def __init__(self, running: _Running, *, keep: int, log: Log) -> None:
        self.stdout = HeadTail(keep)
        self.stderr = HeadTail(keep)
        self.log = log
        self.last_output = time.monotonic()
        self.ended = asyncio.Event()
        """Set when the command's main process has ended."""
        self.status: int | None = None
        """Its wait status; None while it runs, and for ever if it killed its supervisor."""
        self.is_alone = False
        """Whether the supervisor said that nothing of what the command started is left: no process is looked for."""
        self._tree = running.tree
        self._report = open(running.report, "rb", buffering=0)  # noqa: SIM115, PTH123 - closed in `finish`
        self._said = b""
        pipes = ((running.supervisor.stdout, self.stdout), (running.supervisor.stderr, self.stderr))
        self._streams = [(pipe, kept, redactor().stream()) for pipe, kept in pipes if pipe]

    def listen(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take output in whenever there is some."""

        def on_output(pipe: int, kept: HeadTail, shown: StreamRedactor) -> None:
            if not self._take(pipe, kept, shown):
                loop.remove_reader(pipe)

        def on_report() -> None:
            if not self._take_report():
                loop.remove_reader(self._report.fileno())

        for pipe, kept, shown in self._streams:
            os.set_blocking(pipe.fileno(), False)
            loop.add_reader(pipe.fileno(), on_output, pipe.fileno(), kept, shown)
        loop.add_reader(self._report.fileno(), on_report)

    def finish(self, loop: asyncio.AbstractEventLoop) -> None:
        """Take in what the pipes still hold, without waiting for whoever holds their other end, and close all."""
        loop.remove_reader(self._report.fileno())
        self._report.close()
        for pipe, kept, shown in self._streams:
            loop.remove_reader(pipe.fileno())
            for _ in range(_DRAIN):
                if not self._take(pipe.fileno(), kept, shown, when_empty=False):
                    break
            pipe.close()
            self._keep(kept, shown.end())
        self.log.close()

    def _take(self, pipe: int, kept: HeadTail, shown: StreamRedactor, *, when_empty: bool = True) -> bool:
        """Read once; False at the end of the stream."""
        try:
            chunk = os.read(pipe, _CHUNK)
        except BlockingIOError:
            return when_empty
        self.last_output = time.monotonic()
        self._keep(kept, shown.feed(chunk))
        return bool(chunk)

    def _keep(self, kept: HeadTail, output: bytes) -> None:
        """Nothing of it is a secret any more: whoever reads it, in memory or in the log, need not ask."""
        kept.add(output)
        self.log.add(output)

    def _take_report(self) -> bool:
        """Read once; False when nothing more will come."""
        chunk = self._report.read(_CHUNK) or b""
        self._said += chunk
        group, *ending = self._said.split(b"\n")[:-1] or [b"0"]
        self._tree.group = int(group) or None
        if ending:
            self.status = int(ending[0])
            self.is_alone = ending[1:] == [b"0"]
        if ending or not chunk:
            self.ended.set()
        return not self.ended.is_set()


@cache
def _shell() -> str:
    return "/bin/bash" if Path("/bin/bash").exists() else "/bin/sh"


def _start(command: str, cwd: Path, env: Mapping[str, str], sandbox: Sandbox) -> _Running:
    if not cwd.is_dir():
        raise WorkspaceError(cwd, "is not a directory", hint="commands run there; create it or choose another --root")
    token = secrets.token_hex(16)
    outer = os.environ.get(MARKER)  # kotef may run inside a command of kotef: the outer one must find this tree too
    held, lifeline = os.pipe()
    report, reported = os.pipe()
    added_by_python = [name for name in ("LC_CTYPE",) if name not in env]  # PEP 538
    words = sandbox.within([_shell(), "-c", command], cwd=cwd)
    arguments = [str(held), str(reported), ",".join(added_by_python), *words]

    def start() -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", "-B", str(_SUPERVISOR), *arguments],
            cwd=cwd,
            env={**env, MARKER: f"{outer},{token}" if outer else token},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
            pass_fds=(held, reported),
            start_new_session=True,
        )

    try:
        supervisor = sandbox.started(start)
    except (OSError, ValueError) as error:
        os.close(lifeline)
        os.close(report)
        reason = error.strerror if isinstance(error, OSError) else str(error)
        shown = command[:80].replace("\n", " ").replace("\0", " ")
        raise CheckError(shown, f"cannot be started: {reason}", hint="shorten or correct the command line") from error
    finally:
        os.close(held)
        os.close(reported)
    return _Running(supervisor, ProcessTree(supervisor.pid, token), lifeline, report)


async def _end_or_timeout(capture: _Capture, wall: float, idle_timeout: float | None) -> Literal["wall", "idle"] | None:
    """Wait for the main process to end; says which limit was reached first if it did not."""
    while True:
        idle = capture.last_output + idle_timeout if idle_timeout else wall
        with suppress(TimeoutError):
            async with asyncio.timeout(max(0.0, min(idle, wall) - time.monotonic())):
                await capture.ended.wait()
        if capture.ended.is_set():
            return None
        now = time.monotonic()
        if now >= wall:
            return "wall"
        if idle_timeout and now >= capture.last_output + idle_timeout:
            return "idle"


async def _all_gone(tree: ProcessTree, within: float) -> bool:
    """Wait until the tree has no process left, at most `within` seconds."""
    deadline = time.monotonic() + within
    while tree.alive():
        if time.monotonic() > deadline:
            return False
        await asyncio.sleep(0.01)
    return True
