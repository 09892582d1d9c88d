"""Every system call that changes metadata, with every way to name a file; a script that runs inside a sandbox.

`metadata_calls.py FOLDER` tries them on FOLDER/file and FOLDER/link and prints one JSON object: name of the try → error
number (0 for none). It uses the standard library only.
"""

import ctypes
import json
import os
import platform
import struct
import sys

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CWD, NOFOLLOW, EMPTY = -100, 0x100, 0x1000
X86 = """
chmod 90, fchmod 91, chown 92, fchown 93, lchown 94, utime 132, setxattr 188, lsetxattr 189, fsetxattr 190,
removexattr 197, lremovexattr 198, fremovexattr 199, utimes 235, fchownat 260, futimesat 261, fchmodat 268,
utimensat 280, ioctl 16, fchmodat2 452
"""
ARM = """
fchmod 52, fchmodat 53, fchownat 54, fchown 55, utimensat 88, ioctl 29, setxattr 5, lsetxattr 6, fsetxattr 7,
removexattr 14, lremovexattr 15, fremovexattr 16, fchmodat2 452
"""
TABLE = (X86 if platform.machine() == "x86_64" else ARM).split(",")
NUMBERS = {name: int(number) for name, number in map(str.split, TABLE)}
NEWER = {"setxattrat": 463, "removexattrat": 466, "file_setattr": 469}
UID, GID = os.getuid(), os.getgid()


def call(number, *arguments):
    """The error number, 0 for none."""
    words = [ctypes.c_long(word) if isinstance(word, int) else word for word in arguments]
    return 0 if libc.syscall(number, *words) >= 0 else ctypes.get_errno()


def changes(folder):
    """Name of a call → (it takes a path | a directory and a path | a descriptor), other arguments, flags."""
    seconds, micros = struct.pack("qq", 1000, 2000), struct.pack("qqqq", 1000, 5, 2000, 6)
    nanos, now = struct.pack("qqqq", 1000, 5, 2000, 6), struct.pack("qqqq", 0, (1 << 30) - 1, 0, (1 << 30) - 2)
    yield from ((name, "path", (0o704,)) for name in ("chmod",))
    yield from (("fchmod", "descriptor", (mode,)) for mode in (0o740, 0o4711))
    yield from ((name, "at", (0o711,)) for name in ("fchmodat",))
    yield from (("fchmodat2", "at", (0o712, flags)) for flags in (0, NOFOLLOW, EMPTY, 0x800))
    yield from ((name, "path", (UID, GID)) for name in ("chown", "lchown"))
    yield from (("fchown", "descriptor", ids) for ids in ((UID, -1), (-1, -1), (UID + 7, -1)))
    yield from (("fchownat", "at", (UID, GID, flags)) for flags in (0, NOFOLLOW, EMPTY, NOFOLLOW | EMPTY))
    yield from (("utime", "path", (times,)) for times in (seconds, None))
    yield from (("utimes", "path", (times,)) for times in (micros, None, struct.pack("qqqq", 1, 2_000_000, 1, 0)))
    yield from (("futimesat", "at", (times,)) for times in (micros, None))
    yield from (("utimensat", "at", (times, flags)) for times in (nanos, now, None) for flags in (0, NOFOLLOW, EMPTY))
    for prefix, kind in (("", "path"), ("l", "path"), ("f", "descriptor")):
        yield f"{prefix}setxattr", kind, (b"user.kotef", b"value", 5, 0)
        yield f"{prefix}setxattr", kind, (b"user.empty", b"", 0, 0)
        yield f"{prefix}setxattr", kind, (b"nonsense", b"x", 1, 0)
        yield f"{prefix}removexattr", kind, (b"user.kotef",)
        yield f"{prefix}removexattr", kind, (b"user.none",)


def named(kind, folder):
    """Ways to name a file: a label, and the first arguments of the call."""
    held = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    file = os.open(f"{folder}/file", os.O_RDONLY)
    inode = os.open(f"{folder}/file", os.O_PATH)
    link = os.open(f"{folder}/link", os.O_PATH | os.O_NOFOLLOW)
    if kind == "descriptor":
        yield from (("file", (file,)), ("folder", (held,)), ("none", (777,)), ("negative", (-1,)))
        return
    paths = {
        "absolute": f"{folder}/file",
        "relative": os.path.relpath(f"{folder}/file"),
        "dots": f"{folder}/../{folder.rpartition('/')[2]}/./file",
        "link": f"{folder}/link",
        "folder": folder,
        "slash": f"{folder}/",
        "descriptor of self": f"/proc/self/fd/{file}",
        "descriptor of the thread": f"/proc/thread-self/fd/{inode}",
        "held link": f"/proc/self/fd/{link}",
        "device": f"/dev/fd/{file}",
        "number": f"/proc/{os.getpid()}/fd/{file}",
        "root": f"/proc/self/root{folder}/file",
        "missing": f"{folder}/missing",
        "no folder": f"{folder}/file/x",
        "empty": "",
        "long": "x" * 5000,
        "long name": "x" * 300,
    }
    here = [(label, os.fsencode(path)) for label, path in paths.items()]
    here += [("null", None), ("nowhere", 8), ("across a page", at_the_end_of_a_page(f"{folder}/file"))]
    for label, path in here:
        yield label, (path,) if kind == "path" else (CWD, path)
    if kind == "at":
        yield from ((f"in the folder, {name}", (held, name.encode())) for name in ("file", "link", ".", "x/../file"))
        yield from ((f"itself, {label}", (each, b"")) for label, each in (("file", file), ("folder", held)))
        yield from ((f"itself held, {label}", (each, b"")) for label, each in (("file", inode), ("link", link)))
        yield from ((f"itself, null, {each}", (each, None)) for each in (file, held, 777))
        yield "not in a folder", (file, b"file")
        yield "absolute, in none", (777, os.fsencode(f"{folder}/file"))


def at_the_end_of_a_page(path):
    """The address of a path that ends at the end of mapped memory."""
    import mmap

    page = mmap.PAGESIZE
    room = mmap.mmap(-1, 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(room))
    text = os.fsencode(path) + b"\0"
    room[page - len(text) : page] = text
    libc.mprotect(ctypes.c_void_p(start + page), page, 0)
    KEPT.append(room)
    return start + page - len(text)


KEPT = []


def main(folder):
    """Try all combinations, without the capabilities of root."""
    libc.capset(struct.pack("Ii", 0x20080522, 0), bytes(24))
    done = {}
    for name, kind, rest in changes(folder):
        if name in NUMBERS:
            for label, first in named(kind, folder):
                done[f"{name} {rest} {label}"] = call(NUMBERS[name], *first, *rest)
    path, xattr = os.fsencode(f"{folder}/file"), struct.pack("QII", 0, 0, 0)
    newer = {
        "setxattrat": call(NEWER["setxattrat"], CWD, path, 0, b"user.at", xattr, 16),
        "removexattrat": call(NEWER["removexattrat"], CWD, path, 0, b"user.at"),
        "file_setattr": call(NEWER["file_setattr"], CWD, path, struct.pack("QIIIIQ", 0x40, 0, 0, 0, 0, 0)[:24], 24, 0),
    }
    file = os.open(path, os.O_RDONLY)
    flags = ctypes.create_string_buffer(64)
    for request in (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0x40806685, 0x800C6613, 0x4008941A, 0x5000940E):
        newer[hex(request)] = call(NUMBERS["ioctl"], file, request, flags)
    sys.stdout.write(json.dumps({"known": done, "newer": newer}))


if __name__ == "__main__":
    main(sys.argv[1])
