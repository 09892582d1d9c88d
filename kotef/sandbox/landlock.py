"""Landlock restrictions for a thread and everything it starts.

Landlock, seccomp and capabilities as the kernel's documentation has them (landlock(7), seccomp(2), capabilities(7));
libc has no functions for most of it, hence the numbers. Nothing here can be taken back.
"""

import ctypes
import errno
import os
import stat
import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final, TypeVar

from kotef.sandbox import metadata, seccomp
from kotef.sandbox.confinement import Confinement
from kotef.sandbox.libc import checked, drop_capabilities, libc
from kotef.sandbox.services import reachable_services

NEEDED_ABI: Final = 3
"""Before it (Linux 6.2) truncating a file cannot be forbidden."""

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_VERSION_FLAG: Final = 1
_PATH_BENEATH: Final = 1

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_TCP: Final = 0b11
_ABSTRACT_SOCKETS: Final = 0b01
_SCOPED: Final = 0b11
"""No abstract sockets and no signals to whoever is outside."""
_IOCTL_ABI, _TCP_ABI, _SCOPE_ABI = 5, 4, 6

_DEVICES: Final = ("null", "zero", "full", "random", "urandom", "shm", "ptmx", "pts", "tty")

_PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _PR_CAP_AMBIENT = 24, 38, 47
_CLEAR_ALL: Final = 4
_SET_MODE_FILTER: Final = 1
_LISTENER: Final = 1 << 3 | 1 << 5
"""SECCOMP_FILTER_FLAG_NEW_LISTENER and _WAIT_KILLABLE_RECV; the latter prevents that a signal repeats a call."""

_RULES: Final[dict[Confinement, int]] = {}
_MOST_RULES: Final = 16

T = TypeVar("T")


@cache
def abi() -> int:
    """Which version of Landlock the kernel has; 0 for none."""
    found: int = libc().syscall(_CREATE_RULESET, None, 0, _VERSION_FLAG)
    return max(found, 0)


def confined(confinement: Confinement, start: Callable[[], T]) -> T:
    """What `start` returns, called in a thread of its own that is confined before, as is all it starts.

    Raises what `start` raises, and `OSError` where the kernel does not confine.
    """
    rules, local = _ruleset(confinement), not reachable_services()
    with ThreadPoolExecutor(1, "confined") as thread:
        listener = thread.submit(_restrict, rules, network=confinement.network, local=local).result()
        if listener is not None:
            metadata.serve(listener, confinement.writable)
        return thread.submit(start).result()


def filtered(start: Callable[[], T]) -> T:
    """The same at the bwrap level: refuse what namespaces do not isolate from the host.

    That is the kernel's keyring, io_uring, sockets to the host of a virtual machine, and abstract sockets if the
    network is shared.
    """
    return _filtered_thread().submit(start).result()


@cache
def _filtered_thread() -> ThreadPoolExecutor:
    """One thread for all of them: `--die-with-parent` of bwrap(1) means the thread that started it."""
    thread = ThreadPoolExecutor(1, "filtered")
    thread.submit(_leave_abstract_sockets).result()
    if seccomp.supported():
        thread.submit(_filter, inet=True, local=True, signals=False).result()
    return thread


def _leave_abstract_sockets() -> None:
    """Keep the calling thread from abstract sockets of other processes, if the kernel can.

    The rules do not cover files, because bubblewrap could not mount anything under a file rule.
    """
    if abi() < _SCOPE_ABI:
        return
    attributes = struct.pack("QQQ", 0, 0, _ABSTRACT_SOCKETS)
    rules = checked(libc().syscall(_CREATE_RULESET, attributes, len(attributes), 0), "landlock_create_ruleset")
    try:
        checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
        with suppress(OSError):  # the kernel allows sixteen nested domains
            checked(libc().syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    finally:
        os.close(rules)


def _ruleset(confinement: Confinement) -> int:
    """A descriptor of the rules. The newest stay open, because making a ruleset takes longer than many commands."""
    if confinement not in _RULES:
        _RULES[confinement] = _new_ruleset(confinement)
    while len(_RULES) > _MOST_RULES:
        os.close(_RULES.pop(next(iter(_RULES))))
    return _RULES[confinement]


def _new_ruleset(confinement: Confinement) -> int:
    """A ruleset with the paths that may be read and those that may be written."""
    known = abi()
    everything = (1 << (16 if known >= _IOCTL_ABI else 15)) - 1
    network = _TCP if known >= _TCP_ABI and not confinement.network else 0
    attributes = struct.pack("QQQ", everything, network, _SCOPED if known >= _SCOPE_ABI else 0)
    fields = 1 + (known >= _TCP_ABI) + (known >= _SCOPE_ABI)  # an older kernel knows fewer of them
    rules = checked(libc().syscall(_CREATE_RULESET, attributes, 8 * fields, 0), "landlock_create_ruleset")
    try:
        # the devices not named below are disks and memory: all that is hidden is there too
        for path in (*_seen(Path("/"), (*confinement.hidden, Path("/dev"))), *confinement.readable):
            _allow(rules, path, _READ)
        for path in (*confinement.writable, *(Path("/dev", name) for name in _DEVICES)):
            _allow(rules, path, everything)
    except BaseException:
        os.close(rules)
        raise
    return rules


def _seen(folder: Path, hidden: tuple[Path, ...]) -> list[Path]:
    """What of a folder may be read: rules only ever add, so all beside the hidden is named."""
    if folder in hidden:
        return []
    if not any(path.is_relative_to(folder) for path in hidden):
        return [folder]
    with os.scandir(folder) as entries:
        below = [Path(entry.path) for entry in entries if not entry.is_symlink()]
    return [path for entry in below for path in _seen(entry, hidden)]


def _allow(rules: int, path: Path, access: int) -> None:
    """One rule; a path that has gone meanwhile needs none."""
    try:
        place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except (FileNotFoundError, PermissionError):
        return
    try:
        allowed = access if stat.S_ISDIR(os.fstat(place).st_mode) else access & _OF_FILES
        rule = struct.pack("=Qi", allowed, place)
        checked(libc().syscall(_ADD_RULE, rules, _PATH_BENEATH, rule, 0), f"landlock_add_rule {path}")
    finally:
        os.close(place)


def _restrict(rules: int, *, network: bool, local: bool) -> int | None:
    """Restrict the calling thread. The order matters: each step needs a right that a later one removes.

    Returns the filter's listener descriptor, for the broker; None if there can be no broker.
    """
    for capability in range(64):
        if libc().prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) < 0 and ctypes.get_errno() == errno.EINVAL:
            break  # past the last one the kernel knows; EPERM: not root, who has none to lose
    libc().prctl(_PR_CAP_AMBIENT, _CLEAR_ALL, 0, 0, 0)
    drop_capabilities()
    checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    checked(libc().syscall(_RESTRICT_SELF, rules, 0), "landlock_restrict_self")
    return _filter(inet=network, local=local, signals=abi() < _SCOPE_ABI, files=True)


def _filter(*, inet: bool, local: bool, signals: bool, files: bool = False) -> int | None:
    """Refuse system calls to the calling thread, see `seccomp.program`; with `files`, pass some of them to a broker.

    Returns the broker's descriptor. None if kotef cannot read the arguments of a call, or runs in a sandbox that has a
    broker already, since the kernel allows only one.
    """
    checked(libc().prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "no_new_privs")
    kotef = os.getpid()
    if files and metadata.readable():
        try:
            program = seccomp.program(kotef, inet=inet, local=local, signals=signals, files=True, notify=True)
            return _installed(program, _LISTENER)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
    _installed(seccomp.program(kotef, inet=inet, local=local, signals=signals, files=files), 0)
    return None


def _installed(program: bytes, flags: int) -> int:
    instructions = ctypes.create_string_buffer(program, len(program))
    filters = struct.pack("HxxxxxxP", len(program) // 8, ctypes.addressof(instructions))
    return checked(libc().syscall(seccomp.number("seccomp"), _SET_MODE_FILTER, flags, filters), "seccomp")
