"""What does a person at a terminal see, and how is a question answered there?"""

import os
import pty
import select
import time
from collections.abc import Mapping, Sequence
from pathlib import Path


def at_a_terminal(command: Sequence[str], cwd: Path, answers: Mapping[str, str], *, seconds: float = 60) -> str:
    """Run a command on a pseudo-terminal; once it has written a key of `answers`, its value is typed. All it wrote."""
    child, terminal = pty.fork()
    if not child:
        os.chdir(cwd)
        os.environ["TERM"] = "xterm-256color"
        for name in ("CI", "LANGGRAPH_STRICT_MSGPACK"):  # as a person has it
            os.environ.pop(name, None)
        os.execvp(command[0], list(command))
    written, waiting, until = b"", dict(answers), time.monotonic() + seconds
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.2)[0]:
            continue
        try:
            written += os.read(terminal, 1 << 16)
        except OSError:  # the other end is closed: it has ended
            break
        for question in [question for question in waiting if question.encode() in written]:
            os.write(terminal, waiting.pop(question).encode())
    os.close(terminal)
    os.waitpid(child, 0)
    return written.decode("utf-8", "replace")
