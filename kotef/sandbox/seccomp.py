"""System calls refused by seccomp where no namespace isolates the command."""

import errno
import os
import platform
import struct
from collections.abc import Mapping
from typing import Final

_AUDIT_ARCH: Final = {"x86_64": 0xC000003E, "aarch64": 0xC00000B7}
_NUMBERS: Final = {
    "x86_64": {
        "socket": 41,
        "kill": 62,
        "tkill": 200,
        "tgkill": 234,
        "add_key": 248,
        "request_key": 249,
        "keyctl": 250,
        "ioctl": 16,
        "prlimit64": 302,
        "seccomp": 317,
        "chmod": 90,
        "fchmod": 91,
        "chown": 92,
        "fchown": 93,
        "lchown": 94,
        "utime": 132,
        "setxattr": 188,
        "lsetxattr": 189,
        "fsetxattr": 190,
        "removexattr": 197,
        "lremovexattr": 198,
        "fremovexattr": 199,
        "utimes": 235,
        "fchownat": 260,
        "futimesat": 261,
        "fchmodat": 268,
        "utimensat": 280,
    },
    "aarch64": {
        "socket": 198,
        "kill": 129,
        "tkill": 130,
        "tgkill": 131,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
        "ioctl": 29,
        "prlimit64": 261,
        "seccomp": 277,
        "setxattr": 5,
        "lsetxattr": 6,
        "fsetxattr": 7,
        "removexattr": 14,
        "lremovexattr": 15,
        "fremovexattr": 16,
        "fchmod": 52,
        "fchmodat": 53,
        "fchownat": 54,
        "fchown": 55,
        "utimensat": 88,
    },
}
_EVERYWHERE: Final = {"io_uring_setup": 425, "pidfd_open": 434, "openat2": 437, "fchmodat2": 452}
_SETXATTRAT, _REMOVEXATTRAT, _FILE_SETATTR = 463, 466, 469
"""Newer calls that change metadata. They fail with ENOSYS, as on an older kernel, which programs can handle."""
_FIRST_UNKNOWN: Final = 470
"""The first system call that this table does not cover; calls of later kernels may change metadata too."""
METADATA: Final = (
    *("chmod", "fchmod", "fchmodat", "fchmodat2"),
    *("chown", "fchown", "lchown", "fchownat"),
    *("utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"),
)
"""The calls that change a file's mode, owner, times or extended attributes; not every architecture has all."""

_ATTRIBUTE_KINDS: Final = tuple(kind << 8 for kind in (*b"fvX", 0x94, 0xF5))
"""ioctl types of file systems (ext4, XFS, btrfs, f2fs); these calls also work on a file opened read-only."""
_HARMLESS_REQUESTS: Final = (
    *(0x80086601, 0x80046601, 0x80087601, 0x801C581F),  # read flags, version and attributes
    *(0xC020660B, 0x40049409, 0x4020940D, 0xC0189436),  # read extents; clone into a file that is open for writing
)

_LOAD, _EQUAL, _AT_LEAST, _HAS_BIT, _AND, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
"""BPF_LD|W|ABS, BPF_JMP|JEQ|K, JGE, JSET, BPF_ALU|AND|K, BPF_RET|K of linux/bpf_common.h."""
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_NOTIFY: Final = 0x7FC00000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # of struct seccomp_data
_X32: Final = 0x40000000
"""The bit in the number of a call that is made in the third way an x86-64 has."""

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16


def supported() -> bool:
    """Whether the numbers of this machine's system calls are known."""
    return platform.machine() in _AUDIT_ARCH


def number(name: str) -> int | None:
    """The number of a system call on this machine; None if its architecture lacks the call."""
    return (_NUMBERS[platform.machine()] | _EVERYWHERE).get(name)


def program(kotef: int, *, inet: bool, local: bool, signals: bool, files: bool = False, notify: bool = False) -> bytes:
    """A filter of 8-byte instructions for SECCOMP_MODE_FILTER.

    Refused: programs for another architecture, the kernel's keyring, io_uring (which makes sockets without asking),
    sockets of every unusual kind (one of them leads out of a virtual machine), those of the internet except for `inet`,
    without `local` the ones with a name in the file system too, and with `signals` those to the process `kotef`.
    With `files`, calls that change file attributes or limits of other processes and that Landlock does not cover are
    refused; with `notify`, the calls in `METADATA` go to the listener of the filter.
    """
    numbers = _NUMBERS[platform.machine()] | _EVERYWHERE
    lines = [
        _line(_LOAD, 0, 0, _ARCHITECTURE_AT),
        _line(_EQUAL, 1, 0, _AUDIT_ARCH[platform.machine()]),
        _refuse(errno.ENOSYS),
        *_always(numbers["io_uring_setup"], errno.ENOSYS),
    ]
    for name in ("add_key", "request_key", "keyctl"):
        lines += _always(numbers[name], errno.ENOSYS)
    if platform.machine() == "x86_64":
        lines += [_line(_LOAD, 0, 0, _NUMBER_AT), _line(_HAS_BIT, 0, 1, _X32), _refuse(errno.ENOSYS)]
    if not local:
        lines += _when(numbers["socket"], (_AF_UNIX,), errno.EACCES)
    families: tuple[int, ...]
    if inet:
        families, refusal = (_AF_UNIX, _AF_NETLINK, _AF_INET, _AF_INET6), errno.EAFNOSUPPORT
    else:  # the one error that says by itself that it is the network: any other reads like a matter of permissions
        families, refusal = (_AF_UNIX, _AF_NETLINK), errno.ENETUNREACH
    lines += _unless(numbers["socket"], families, refusal)
    if signals:
        everybody = 0xFFFFFFFF  # -1
        group = (1 << 32) - os.getpgid(kotef)
        lines += _when(numbers["kill"], (kotef, everybody, group), errno.EPERM)
        lines += _when(numbers["tgkill"], (kotef,), errno.EPERM)
        lines += _when(numbers["tkill"], (kotef,), errno.EPERM)
        lines += _when(numbers["pidfd_open"], (kotef,), errno.EPERM)
    if files:
        lines += _files(numbers)
    if notify:
        syscalls = [numbers[name] for name in METADATA if name in numbers]
        lines += [_line(_LOAD, 0, 0, _NUMBER_AT)]
        lines += [_line(_EQUAL, len(syscalls) - at, 0, call) for at, call in enumerate(syscalls)]
        lines += [_line(_RETURN, 0, 0, _ALLOW), _line(_RETURN, 0, 0, _NOTIFY)]
    return b"".join((*lines, _line(_RETURN, 0, 0, _ALLOW)))


def _files(numbers: Mapping[str, int]) -> list[bytes]:
    """Calls that Landlock does not cover and that no honest command needs."""
    lines = [_line(_LOAD, 0, 0, _NUMBER_AT), _line(_AT_LEAST, 0, 1, _FIRST_UNKNOWN), _refuse(errno.ENOSYS)]
    for call in (_SETXATTRAT, _REMOVEXATTRAT, _FILE_SETATTR):
        lines += _always(call, errno.ENOSYS)
    lines += _unless(numbers["prlimit64"], (0,), errno.EPERM)  # a limit could end a process outside the sandbox
    requests = [_line(_LOAD, 0, 0, _ARGUMENTS_AT + 8)]
    harmless = len(_HARMLESS_REQUESTS)
    kinds = len(_ATTRIBUTE_KINDS)
    requests += [_line(_EQUAL, harmless - at + kinds + 1, 0, value) for at, value in enumerate(_HARMLESS_REQUESTS)]
    requests += [_line(_AND, 0, 0, 0xFF00)]
    requests += [_line(_EQUAL, kinds - 1 - at, 0, value) for at, value in enumerate(_ATTRIBUTE_KINDS[:-1])]
    requests += [_line(_EQUAL, 0, 1, _ATTRIBUTE_KINDS[-1]), _refuse(errno.ENOTTY)]
    called = [_line(_LOAD, 0, 0, _NUMBER_AT), _line(_EQUAL, 0, len(requests), numbers["ioctl"])]
    return [*lines, *called, *requests]


def _line(code: int, if_true: int, if_false: int, value: int) -> bytes:
    """One `struct sock_filter`."""
    return struct.pack("HBBI", code, if_true, if_false, value)


def _refuse(number: int) -> bytes:
    return _line(_RETURN, 0, 0, _ERRNO | number)


def _always(call: int, number: int) -> list[bytes]:
    return [_line(_LOAD, 0, 0, _NUMBER_AT), _line(_EQUAL, 0, 1, call), _refuse(number)]


def _when(call: int, values: tuple[int, ...], number: int) -> list[bytes]:
    """Refuse a call whose first argument is one of `values`."""
    tests = [_line(_EQUAL, len(values) - 1 - at, 0, value) for at, value in enumerate(values)]
    tests[-1] = _line(_EQUAL, 0, 1, values[-1])
    return _called(call, [*tests, _refuse(number)])


def _unless(call: int, values: tuple[int, ...], number: int) -> list[bytes]:
    """Refuse a call whose first argument is none of `values`."""
    tests = [_line(_EQUAL, len(values) - at, 0, value) for at, value in enumerate(values)]
    return _called(call, [*tests, _refuse(number)])


def _called(call: int, then: list[bytes]) -> list[bytes]:
    """`then`, on the low word of the first argument, where it is this call."""
    block = [_line(_LOAD, 0, 0, _ARGUMENTS_AT), *then]
    return [_line(_LOAD, 0, 0, _NUMBER_AT), _line(_EQUAL, 0, len(block), call), *block]
