"""Build cache of Go in two layers: one that commands may write, and the person's own, which they may only read.

Run by the go command as GOCACHEPROG (Go 1.24 and later; earlier versions use GOCACHE alone), with the folders as
arguments: `python -I -S go_cache.py WRITABLE [READABLE ...]`. It speaks the protocol of cmd/go/internal/cacheprog, one
JSON object a line, and keeps entries in the layout of Go's own cache, so that go finds there what this program wrote
and the other way round. Standard library only.
"""

from __future__ import annotations

import base64
import json
import os
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:  # each go command starts this program: `typing` would take a third of its start
    from collections.abc import Iterator, Sequence
    from typing import Any, BinaryIO

_ENTRY = b"v1 %s %s %20d %20d\n"
_FIELDS = 5
"""Words of an entry: version, action, output, size in bytes, time in nanoseconds."""


def main(writable: str, readable: Sequence[str], asked: BinaryIO, answers: BinaryIO) -> None:
    """Answer until the go command closes the cache."""
    _say(answers, {"ID": 0, "KnownCommands": ["get", "put", "close"]})
    for request in _requests(asked):
        answer: dict[str, Any]
        try:
            answer = _answer(request, writable, (writable, *readable))
        except (OSError, KeyError, ValueError) as error:
            answer = {"Err": str(error)} if request.get("Command") == "put" else {"Miss": True}
        _say(answers, {"ID": request.get("ID", 0), **answer})
        if request.get("Command") == "close":
            return


def _requests(asked: BinaryIO) -> Iterator[dict[str, Any]]:
    """The requests, each with its body, which follows on a line of its own."""
    lines = (line for line in asked if line.strip())
    for line in lines:
        request = json.loads(line)
        if request.get("Command") == "put" and request.get("BodySize"):
            request["Body"] = base64.b64decode(json.loads(next(lines, b'""')))
        yield request


def _answer(request: dict[str, Any], writable: str, layers: Sequence[str]) -> dict[str, Any]:
    if request["Command"] == "get":
        action = base64.b64decode(request["ActionID"]).hex()
        found = (_found(folder, action) for folder in layers)
        return next((each for each in found if each), {"Miss": True})
    if request["Command"] == "put":
        action, output = (base64.b64decode(request[name]).hex() for name in ("ActionID", "OutputID"))
        return {"DiskPath": _kept(writable, action, output, request.get("Body", b""))}
    return {}


def _found(folder: str, action: str) -> dict[str, Any] | None:
    """The answer to a get, from one layer; None if it has no such entry or not all of its data."""
    try:
        with open(_path(folder, action, "a"), "rb") as file:
            words = file.read(256).split()
        if len(words) != _FIELDS or words[:2] != [b"v1", action.encode()]:
            return None
        output, size = words[2].decode(), int(words[3])
        data = _path(folder, output, "d")
        if os.stat(data).st_size != size:
            return None
        stamp = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(int(words[4]) // 10**9))
        coded = base64.b64encode(bytes.fromhex(output)).decode()
        return {"OutputID": coded, "Size": size, "Time": f"{stamp}Z", "DiskPath": data}
    except (OSError, ValueError):
        return None


def _kept(folder: str, action: str, output: str, body: bytes) -> str:
    """Write an output and the entry that names it, the entry last; the path of the output."""
    data = _path(folder, output, "d")
    _write(data, body)
    _write(_path(folder, action, "a"), _ENTRY % (action.encode(), output.encode(), len(body), time.time_ns()))
    return data


def _write(path: str, content: bytes) -> None:
    """Replace a file in one step, for several go commands may share the cache."""
    folder = os.path.dirname(path)
    os.makedirs(folder, exist_ok=True)
    part = f"{path}.{os.getpid()}-{time.monotonic_ns()}"
    with open(part, "xb") as file:
        file.write(content)
    os.replace(part, path)


def _path(folder: str, name: str, kind: str) -> str:
    return os.path.join(folder, name[:2], f"{name}-{kind}")


def _say(answers: BinaryIO, answer: dict[str, Any]) -> None:
    answers.write(json.dumps(answer).encode() + b"\n")
    answers.flush()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:], sys.stdin.buffer, sys.stdout.buffer)
