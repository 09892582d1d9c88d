"""Probe of what a command can do inside a sandbox level. Run by `probe`; prints one JSON object."""

import json
import os
import socket
import sys


def main(kotef: int, canary: str, port: int, abstract: str, inside: str) -> None:
    """Try operations that must work and operations that must fail.

    `canary` is a file outside; kotef listens on `port` and on the abstract socket `abstract`.
    """

    def write() -> None:
        with open(os.path.join(inside, ".kotef-trial"), "w") as file:  # noqa: PTH118, PTH123  pathlib is slow to import
            file.write("written")
        os.chmod(file.name, 0o600)  # noqa: PTH101
        os.unlink(file.name)  # noqa: PTH108

    def escape() -> None:
        with open(canary, "a") as file:  # noqa: PTH123
            file.write("written from inside")

    def change() -> None:
        os.chmod(canary, 0o640)  # noqa: PTH101

    def join() -> None:
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"\0{abstract}")

    def connect() -> None:
        socket.create_connection(("127.0.0.1", port), 2).close()

    def peek() -> None:
        with open(f"/proc/{kotef}/environ", "rb") as file:  # noqa: PTH123
            file.read(1)

    def stop() -> None:
        os.kill(kotef, 0)

    def tune() -> None:
        with open("/proc/sys/kernel/core_pattern", "a"):  # noqa: PTH123  to open it is enough, nothing is written
            pass

    def listen() -> None:
        with socket.socket() as server:
            server.bind(("127.0.0.1", 0))
            server.listen()
            socket.create_connection(server.getsockname(), 2).close()

    deeds = (write, escape, change, connect, join, peek, stop, tune, listen)
    print(json.dumps({deed.__name__: _tried(deed) for deed in deeds}))  # noqa: T201  the answer


def _tried(deed) -> str:  # type: ignore[no-untyped-def]  # noqa: ANN001  Callable would have to be imported
    try:
        deed()
    except OSError as error:
        return error.strerror or str(error)
    return ""


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]), *sys.argv[4:])
