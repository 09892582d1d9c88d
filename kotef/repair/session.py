"""A worker process in the project's own interpreter, and its termination with everything it started."""

import asyncio
import json
import os
import secrets
import signal
import socket
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, Self

from kotef.sandbox import OFF, Sandbox
from kotef.stop_gate import next_step
from kotef.workspace import MARKER, ProcessTree, adopt_orphans

_WORKER: Final = Path(__file__).with_name("worker") / "main.py"
_NO_PYTEST: Final = 86
_LINE: Final = 64 << 20
"""Bytes of the longest answer."""


class SessionError(Exception):
    """The worker cannot go on; says why in one line."""


class NoPytestError(SessionError):
    """The quick way is not available: the project's interpreter cannot import pytest, or no process can be forked."""


@dataclass(frozen=True, slots=True)
class CollectedTests:
    """What the worker found; a test is its index from here on."""

    tests: tuple[str, ...]
    """Node ids."""
    files: tuple[str, ...]
    """The file of each test, workspace-relative; empty if it is outside, or is the code itself (a doctest)."""
    errors: tuple[tuple[str, str], ...]
    """What could not be collected: node id, and the end of the reason."""
    modules: tuple[str, ...]
    """Workspace-relative paths of the Python files that collecting has imported."""
    elsewhere: tuple[str, ...] = ()
    """Files outside the workspace that collecting has imported, those of the interpreter left out."""


@dataclass(frozen=True, slots=True)
class WorkerAnswer:
    """What became of one request."""

    ended: str
    """`done`, `time` (its CPU or wall limit), `crash` (a signal, or an exit of its own)."""
    words: list[list[Any]]


class WorkerSession:
    """One worker process; requests may be outstanding side by side."""

    def __init__(self, process: subprocess.Popen[bytes], tree: ProcessTree, ours: socket.socket, scratch: Path) -> None:
        self._process = process
        self._tree = tree
        self._socket = ours
        self._scratch = scratch
        self.cpu = 0.0
        """CPU seconds of the worker and its children, as of the last answer."""
        self._waiting: dict[int, asyncio.Future[WorkerAnswer]] = {}
        self._count = 0
        self._listening: asyncio.Task[None] | None = None
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter

    @classmethod
    def start(
        cls,
        root: Path,
        scratch: Path,
        *,
        python: str,
        env: Mapping[str, str],
        arguments: Sequence[str],
        folder_on_path: bool = True,
        sandbox: Sandbox = OFF,
    ) -> Self:
        """Start the interpreter in the sandbox; SessionError if there is none, NoPytestError where nothing can fork."""
        if not hasattr(os, "fork"):
            raise NoPytestError("this system cannot fork processes")
        adopt_orphans()
        ours, theirs = socket.socketpair()
        token = secrets.token_hex(16)
        outer = os.environ.get(MARKER)
        inside = Path(tempfile.mkdtemp(dir=scratch))
        own = {MARKER: f"{outer},{token}" if outer else token, "TMPDIR": str(inside), "PYTHONDONTWRITEBYTECODE": "1"}
        worker_arguments = [str(theirs.fileno()), str(root), str(inside), "1" if folder_on_path else ""]
        command = [python, str(_WORKER), *worker_arguments, *arguments]

        def start() -> subprocess.Popen[bytes]:
            with (scratch / "stderr").open("wb") as stderr:
                return subprocess.Popen(
                    sandbox.within(command, cwd=root),
                    cwd=root,
                    env={**sandbox.environment(env), **own},
                    stdin=subprocess.DEVNULL,
                    stdout=stderr,
                    stderr=subprocess.STDOUT,
                    pass_fds=(theirs.fileno(),),
                    start_new_session=True,
                )

        try:
            process = sandbox.started(start)
        except (OSError, ValueError) as error:
            ours.close()
            raise SessionError(f"{python} cannot be started: {error}") from error
        finally:
            theirs.close()
        tree = ProcessTree(process.pid, token)
        tree.group = process.pid
        return cls(process, tree, ours, scratch)

    async def collected(self) -> CollectedTests:
        """Wait for the collection; raises SessionError when there is none."""
        self._reader, self._writer = await asyncio.open_connection(sock=self._socket, limit=_LINE)
        line = await self._reader.readline()
        if not line:
            raise self._failure()
        found = json.loads(line)
        self.cpu = found["cpu"]
        self._listening = asyncio.create_task(self._listen())
        return CollectedTests(
            tuple(found["tests"]),
            tuple(found["files"]),
            tuple((name, text) for name, text in found["errors"]),
            tuple(found["modules"]),
            tuple(found["elsewhere"]),
        )

    async def set_jobs(self, jobs: int) -> None:
        """How many requests are worked on at once."""
        await self._send({"do": "jobs", "jobs": jobs})

    async def ask(self, request: Mapping[str, Any]) -> WorkerAnswer:
        """Send one request and wait for its answer; raises SessionError when the worker is gone."""
        await next_step()
        self._count += 1
        number = self._count
        future = self._waiting[number] = asyncio.get_running_loop().create_future()
        await self._send({**request, "id": number})
        answer: WorkerAnswer = await future
        return answer

    def close(self) -> None:
        """End the worker and everything it started; no await, so a cancellation leaves nothing behind."""
        if self._listening is not None:
            self._listening.cancel()
        self._stop()
        self._tree.kill()
        self._process.kill()
        self._process.wait()
        self._tree.reap()
        if hasattr(self, "_writer"):
            self._writer.transport.abort()
        else:
            self._socket.close()

    def _stop(self) -> None:
        """Keep the worker from forking: what it started meanwhile would be ours, and end too late to be found."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGSTOP)
            with suppress(ChildProcessError):
                os.waitpid(self._process.pid, os.WUNTRACED)

    async def _send(self, value: Mapping[str, Any]) -> None:
        if self._listening is None or self._listening.done():
            raise self._failure()
        self._writer.write(json.dumps(value).encode() + b"\n")
        await self._writer.drain()

    async def _listen(self) -> None:
        try:
            while line := await self._reader.readline():
                answer = json.loads(line)
                self.cpu = answer["cpu"]
                future = self._waiting.pop(answer["id"])
                if not future.done():
                    future.set_result(WorkerAnswer(answer["ended"], answer["words"]))
        except ConnectionError:
            pass
        finally:
            for future in self._waiting.values():
                if not future.done():
                    future.set_exception(SessionError("the worker ended unexpectedly"))
                    future.exception()  # it may be that no one waits any more

    def _failure(self) -> SessionError:
        try:
            status = self._process.wait(2)
        except subprocess.TimeoutExpired:
            return SessionError("the worker closed its connection")
        if status == _NO_PYTEST:
            return NoPytestError("the project's interpreter has no pytest")
        lines = (self._scratch / "stderr").read_text("utf-8", "replace").strip().splitlines()
        last = next((line for line in reversed(lines) if line.strip()), f"exit status {status}")
        return SessionError(f"the tests cannot be collected: {last.strip()[:200]}")
