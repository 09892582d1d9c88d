"""The supervisor: a process between kotef and a command that keeps each from ending the other.

Run as a script by `process`, with the standard library alone, because it starts with every command: it is the parent
a command may kill, adopts its orphans so that they stay findable, reports how it ended, and when kotef is gone (its
end of the lifeline is closed) ends everything at once: a command that outlived a killed run would disturb its resume.
"""

import os
import select
import sys
import time

TYPE_CHECKING = False  # `typing` is slow to import
if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # what `signal` is made of, without `enum`, which takes a third of this process's start

_MOMENT = 0.05
"""Seconds for which the report waits for processes that are about to end."""
_SHRUGGED_OFF = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2)


def main(lifeline: int, report: int, dropped: list[str], command: list[str]) -> None:
    """Run a program with its arguments; writes its process number to `report`, then its wait status, a line each.

    With the status comes a line that is `0` if nothing that it started is left, and `1` if something is or may be.
    `dropped` names variables the command does not get: Python adds one to its own environment in the C locale.
    """
    for descriptor in (lifeline, report):
        os.set_inheritable(descriptor, False)
    has_adopted = _adopt_orphans()
    awake, wake = os.pipe()
    for descriptor in (awake, wake):
        os.set_blocking(descriptor, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    for number in (*_SHRUGGED_OFF, signal.SIGCHLD):
        signal.signal(number, lambda *_: None)  # a function, for an ignored signal would stay ignored in the command
    child = _start(command, {name: os.environ[name] for name in os.environ if name not in dropped})
    _tell(report, b"%d\n" % child)
    while True:
        readable, _, _ = select.select([lifeline, awake], [], [])
        if lifeline in readable:
            _end_all()
            return
        os.read(awake, 4096)
        status, is_alone = _reap(child)
        if status is not None:
            is_alone = is_alone or _are_gone_soon(lifeline, awake)
            _tell(report, b"%d\n%d\n" % (status, not (has_adopted and is_alone)))


def _adopt_orphans() -> bool:
    """Whether what the command leaves behind becomes a child of this process."""
    if sys.platform != "linux":
        return False
    import ctypes

    pr_set_child_subreaper = 36
    return bool(ctypes.CDLL(None).prctl(pr_set_child_subreaper, 1, 0, 0, 0) == 0)


def _start(command: list[str], environment: dict[str, str]) -> int:
    child = os.fork()
    if child:
        return child
    try:
        os.setsid()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(number, signal.SIG_DFL)  # Python ignores them, and exec would hand that on
        os.execve(command[0], command, environment)  # noqa: S606 - a command line is what is asked for
    except OSError as error:
        os.write(2, f"{command[0]}: {error.strerror}\n".encode())
    finally:
        os._exit(126)


def _reap(child: int) -> tuple[int | None, bool]:
    """Take whoever ended out of the process table: the command's wait status if it did; whether none is left."""
    found = None
    while True:
        try:
            ended, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return found, True
        if not ended:
            return found, False
        if ended == child:
            found = status


def _are_gone_soon(lifeline: int, awake: int) -> bool:
    """Whether the other processes of the command end now too, as those of bwrap do, a moment after its first.

    Otherwise kotef would have to look through the process table, several times for each command.
    """
    deadline = time.monotonic() + _MOMENT
    while (left := deadline - time.monotonic()) > 0:
        readable, _, _ = select.select([lifeline, awake], [], [], left)
        if awake not in readable or lifeline in readable:
            return False
        os.read(awake, 4096)
        _, is_alone = _reap(0)
        if is_alone:
            return True
    return False


def _tell(report: int, lines: bytes) -> None:
    try:
        os.write(report, lines)
    except BrokenPipeError:  # kotef has just died; the lifeline will say so
        return


def _end_all() -> None:
    sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120 - pathlib is slow to import
    from kotef.workspace import MARKER, ProcessTree

    ProcessTree(os.getpid(), os.environ[MARKER].rpartition(",")[2]).kill()


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4:])
