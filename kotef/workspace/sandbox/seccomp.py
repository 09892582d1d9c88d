"""Which system calls are refused where no namespace keeps a command from what they reach?"""

import errno
import os
import platform
import struct
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
    },
    "aarch64": {
        "socket": 198,
        "kill": 129,
        "tkill": 130,
        "tgkill": 131,
        "add_key": 217,
        "request_key": 218,
        "keyctl": 219,
    },
}
_EVERYWHERE: Final = {"pidfd_open": 434, "io_uring_setup": 425}

_LOAD, _EQUAL, _HAS_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
"""BPF_LD|W|ABS, BPF_JMP|JEQ|K, BPF_JMP|JSET|K, BPF_RET|K of linux/bpf_common.h."""
_ALLOW: Final = 0x7FFF0000
_ERRNO: Final = 0x00050000
_NUMBER_AT, _ARCHITECTURE_AT, _ARGUMENTS_AT = 0, 4, 16  # of struct seccomp_data
_X32: Final = 0x40000000
"""The bit in the number of a call that is made in the third way an x86-64 has."""

_AF_UNIX, _AF_INET, _AF_INET6, _AF_NETLINK = 1, 2, 10, 16


def supported() -> bool:
    """Whether the numbers of this machine's system calls are known."""
    return platform.machine() in _AUDIT_ARCH


def program(kotef: int, *, inet: bool, local: bool, signals: bool) -> bytes:
    """A filter of 8-byte instructions for SECCOMP_MODE_FILTER.

    Refused: programs for another architecture, the kernel's keyring, io_uring (which makes sockets without asking),
    sockets of every unusual kind (one of them leads out of a virtual machine), those of the internet but for `inet`,
    without `local` the ones with a name in the file system too, and with `signals` those to the process `kotef`.
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
    return b"".join((*lines, _line(_RETURN, 0, 0, _ALLOW)))


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
