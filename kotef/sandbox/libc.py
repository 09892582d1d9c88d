"""The C library, for system calls without a Python function."""

import ctypes
import os
import struct
from functools import cache
from typing import Final

_CAPABILITY_VERSION: Final = 0x20080522


@cache
def libc() -> ctypes.CDLL:
    """The library of this process; `syscall` in it returns a C `long`."""
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def checked(result: int, what: str) -> int:
    """The result of a call. Raises `OSError`, with `what` in its text, where it failed."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
    return result


def fault(number: int) -> OSError:
    """The error with this number, as the system words it."""
    return OSError(number, os.strerror(number))


def drop_capabilities() -> None:
    """Take the powers of root from the calling thread; the rights of its user stay. Raises `OSError`."""
    header, none = struct.pack("Ii", _CAPABILITY_VERSION, 0), struct.pack("6I", *[0] * 6)
    checked(libc().capset(header, none), "capset")
