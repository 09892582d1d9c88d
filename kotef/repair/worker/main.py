"""The worker of a repair: a server in the project's own interpreter.

Run as a script: `main.py FD ROOT SCRATCH ON_PATH ARGUMENT…`. It collects the suite once and then answers requests,
one JSON value a line, on the socket FD; every request that runs the project's code is run in a forked child. It uses
the standard library and the project's pytest alone. ON_PATH is empty if modules are not looked for in ROOT.
"""

from __future__ import annotations

import gc
import json
import os
import selectors
import signal
import socket
import sys
import time
import types
from typing import Any


def _borrow_packages() -> None:
    """Make the siblings importable without the packages above them, which need more than the standard library."""
    here = os.path.dirname(os.path.abspath(__file__))
    for name in ("kotef.repair.worker", "kotef.repair", "kotef"):
        package = types.ModuleType(name)
        package.__path__ = [here]
        sys.modules[name] = package
        here = os.path.dirname(here)


def _return_packages() -> None:
    """The project may have a package of that name."""
    for name in [name for name in sys.modules if name == "kotef" or name.startswith("kotef.")]:
        del sys.modules[name]


class Worker:
    """Serves one connection until its other end is closed."""

    def __init__(self, connection: socket.socket, root: str, scratch: str) -> None:
        from kotef.repair.worker import fork_pool, hot_swap, restrictions, suite, tracing, trials

        self._modules = (fork_pool, restrictions, suite, hot_swap, trials, tracing)
        self._connection = connection
        self._root = root
        self._nursery = fork_pool.Nursery(scratch, [connection.fileno()])
        self._waiting: list[dict[str, Any]] = []
        self._running: dict[int, tuple[dict[str, Any], Any]] = {}
        self._selector = selectors.DefaultSelector()
        self._jobs = 1
        self._rest = b""
        self._open = True

    def start(self, arguments: list[str]) -> int:
        """Collect and serve; pytest's exit status if it could not collect."""
        suite = self._modules[2]
        return int(suite.collect(arguments, self._serve))

    def _serve(self, suite: Any) -> None:
        _, _, _, hot_swap, trials, _ = self._modules
        gc.collect()
        swapper = hot_swap.Swapper(self._root)
        self._trials = trials.Trials(suite, swapper, self._nursery.fence)
        self._say(
            {
                "tests": [item.nodeid for item in suite.items],
                "files": [_test_file(item, swapper) for item in suite.items],
                "errors": suite.errors,
                "modules": sorted(swapper.modules()),
                "elsewhere": swapper.elsewhere(),
                "cpu": sum(os.times()[:4]),
            }
        )
        gc.collect()
        gc.freeze()
        self._selector.register(self._connection, selectors.EVENT_READ)
        while self._open:
            self._step()
        for _, child in list(self._running.values()):
            child.end(kill=True)

    def _step(self) -> None:
        soonest = min((child.deadline for _, child in self._running.values()), default=time.monotonic() + 60)
        for key, _ in self._selector.select(max(0.0, soonest - time.monotonic())):
            if key.fileobj is self._connection:
                self._listen()
            elif not key.fileobj.read():  # type: ignore[union-attr]  # a child
                self._finish(key.fileobj, kill=False)
        now = time.monotonic()
        for _, child in list(self._running.values()):
            if child.deadline < now:
                self._finish(child, kill=True)
        while self._waiting and len(self._running) < self._jobs:
            self._begin(self._waiting.pop(0))

    def _listen(self) -> None:
        piece = self._connection.recv(1 << 16)
        self._open = bool(piece)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            request = json.loads(line)
            if request["do"] == "jobs":
                self._jobs = request["jobs"]
            else:
                self._waiting.append(request)

    def _begin(self, request: dict[str, Any]) -> None:
        body = self._trials.body(request)
        wall = request["wall"]
        child = self._nursery.start(body, cpu=request["cpu"], wall=wall, total=request.get("total", 60 * wall))
        self._running[child.pid] = (request, child)
        self._selector.register(child, selectors.EVENT_READ)

    def _finish(self, child: Any, *, kill: bool) -> None:
        request, _ = self._running.pop(child.pid)
        self._selector.unregister(child)
        ended = child.end(kill=kill)
        self._trials.learn(child.words)
        self._say({"id": request["id"], "ended": ended, "words": child.words, "cpu": sum(os.times()[:4])})

    def _say(self, value: Any) -> None:
        try:
            self._connection.sendall(json.dumps(value).encode() + b"\n")
        except (BrokenPipeError, ConnectionResetError):
            self._open = False


def _test_file(item: Any, swapper: Any) -> str:
    """Empty for a doctest: its file is not a file of tests."""
    return "" if hasattr(item, "dtest") else str(swapper.relative(str(getattr(item, "path", None) or item.fspath)))


def main(descriptor: str, root: str, scratch: str, arguments: list[str], *, folder_on_path: bool) -> None:
    """Serve; exit status 86 if pytest cannot be imported, else pytest's own plus 100 if it could not collect."""
    connection = socket.socket(fileno=int(descriptor))
    connection.set_inheritable(False)
    sys.dont_write_bytecode = True
    script = sys.path.pop(0)
    if script != os.path.dirname(os.path.abspath(__file__)):  # -P or PYTHONSAFEPATH: there was nothing to take away
        sys.path.insert(0, script)
    if folder_on_path:
        sys.path.insert(0, root)
    try:
        import pytest  # noqa: F401 - is it there?
    except ImportError:
        os._exit(86)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    _borrow_packages()
    worker = Worker(connection, root, scratch)
    _return_packages()
    status = worker.start(arguments)
    sys.stderr.flush()
    os._exit(100 + status)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[5:], folder_on_path=bool(sys.argv[4]))
