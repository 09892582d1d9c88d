"""A program `kotef` for shells: it starts at once, because a process in which all is loaded is forked for it."""

import gc
import json
import os
import signal
import socket
import sys
import threading
from multiprocessing import parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Self

from support.process import FORKS, as_the_command

LARGEST = 1 << 18
"""Bytes of a request: the words, the environment and the directory."""
PROGRAM = """\
#!{python} -IS
import json, os, signal, socket, sys

if "PYTHONPATH" in os.environ:  # another kotef than the one that is loaded
    os.execv({kotef!r}, [{kotef!r}, *sys.argv[1:]])
door = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
door.connect({door!r})
request = {{"arguments": sys.argv[1:], "env": dict(os.environ), "cwd": os.getcwd()}}
socket.send_fds(door, [json.dumps(request).encode()], [0, 1, 2])
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM):
    signal.signal(number, lambda number, _: door.send(bytes([number])))
status = int(door.recv(16) or b"255")
if status < 0:
    signal.signal(-status, signal.SIG_DFL)
    os.kill(os.getpid(), -status)
os._exit(status)
"""


class KotefProgram:
    """The program in `folder`, which belongs in front of PATH, and the process that serves it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._process: BaseProcess | None = None

    def __enter__(self) -> Self:
        self.folder.mkdir()
        door = self.folder / "door"
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        listening.bind(str(door))
        listening.listen()
        self._process = FORKS.Process(target=_serve, args=(listening,))
        self._process.start()
        listening.close()
        real = Path(sys.executable).with_name("kotef")
        program = self.folder / "kotef"
        program.write_text(PROGRAM.format(python=sys.executable, kotef=str(real), door=str(door)))
        program.chmod(0o755)
        return self

    def __exit__(self, *_: object) -> None:
        if self._process:
            self._process.kill()
            self._process.join()


def _serve(listening: socket.socket) -> None:
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # who answers a request is waited for by no one
    tests = parent_process()
    assert tests
    while tests.sentinel not in wait([listening, tests.sentinel]):
        door, _ = listening.accept()
        if not os.fork():
            listening.close()
            _answer(door)
        door.close()


def _answer(door: socket.socket) -> None:
    """Run the command in a child, pass signals on to it, and tell its status."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    request, streams, _, _ = socket.recv_fds(door, LARGEST, 3)
    asked = json.loads(request)
    child = os.fork()
    if not child:
        door.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        os.chdir(asked["cwd"])
        as_the_command(asked["arguments"], asked["env"])
    for stream in streams:
        os.close(stream)
    threading.Thread(target=_pass_on, args=(door, child), daemon=True).start()
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        door.send(str(status).encode())
    finally:
        os._exit(0)


def _pass_on(door: socket.socket, child: int) -> None:
    while numbers := door.recv(16):
        for number in numbers:
            os.kill(child, number)
