"""Which paths may kotef read and write, and where does it keep its own state?"""

import errno
import hashlib
import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.errors import NoSpaceError, WorkspaceError

TEMPORARY: Final = re.compile(r"\.kotef-[0-9a-f]{16}\.tmp")
"""Names of files that `write_atomic` has not finished; a killed run may leave one behind."""

_KERNEL: Final = (Path("/proc"), Path("/sys"), Path("/dev"))
_ENV_SAMPLE: Final = re.compile(r".*\.(example|sample|template|defaults)")
_KEY_FILE: Final = re.compile(
    r"id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(pem|key|p12|pfx|keystore)|\.netrc|\.pypirc|\.git-credentials"
)
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def state_dir(root: Path) -> Path:
    """The directory of kotef's own state for this workspace, outside it; made if it is not there, for us alone.

    `$XDG_STATE_HOME` (`~/.local/state`)`/kotef/` and 16 hexadecimal digits of the real path of the workspace.
    """
    home = os.environ.get("XDG_STATE_HOME", "")
    name = hashlib.sha256(os.fsencode(os.path.realpath(root))).hexdigest()[:16]
    hint = "set XDG_STATE_HOME to a directory of your own"
    try:
        base = Path(home) if home.startswith("/") else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise WorkspaceError("~", "there is no home directory", hint=hint) from error
    try:
        base.mkdir(parents=True, exist_ok=True)
        for directory in (base / "kotef", base / "kotef" / name):
            directory.mkdir(mode=0o700, exist_ok=True)
        found = (base / "kotef" / name).lstat()
    except OSError as error:
        raise os_fault(Path(error.filename or base), error, hint=hint) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise WorkspaceError(base / "kotef" / name, "belongs to somebody else", hint=hint)
    return base / "kotef" / name


def resolve_inside(root: Path, path: str, *, write: bool) -> Path:
    """The real, absolute path of a file of the workspace; it may be missing, and when reading be a directory.

    `path` is relative to `root` (or absolute, but inside it). Symbolic links are followed first and what they lead
    to must lie inside, component by component. Neither the name given nor the real one may be one that holds
    secrets or, when writing, belongs to git or to `.sdd`. A link swapped by another process between this look and
    the use of the path is not covered.

    Raises `WorkspaceError` with the reason and a way out.
    """
    if "\0" in path:
        raise WorkspaceError(path.replace("\0", "\\0"), "no path holds a NUL byte", hint="give a plain path")
    try:
        top = Path(os.path.realpath(root, strict=True))
        real = Path(os.path.realpath(top / path))
    except OSError as error:
        raise os_fault(root, error) from error
    if not real.is_relative_to(top):
        raise WorkspaceError(path, "leads out of the workspace", hint=f"use a path inside {top}")
    if any(real.is_relative_to(kernel) and not top.is_relative_to(kernel) for kernel in _KERNEL):
        raise WorkspaceError(path, "belongs to the kernel, not to the workspace", hint="use a file of the project")
    given = Path(os.path.normpath(top / path))
    for names in {real, given}:
        if names.is_relative_to(top):
            _check_names(path, names.relative_to(top).parts, write=write)
    _check_kind(path, real, write=write)
    return real


def write_atomic(path: Path, content: bytes, *, root: Path | None = None) -> None:
    """Write a file so that at any moment it has its old content or the new one; missing directories are made.

    An existing file keeps its mode and, where permitted, its owner. With `root` the path is checked once more by
    `resolve_inside`, right before the write.

    Raises `NoSpaceError` when the disk or the quota is full, `WorkspaceError` for any other reason.
    """
    if root is not None:
        path = resolve_inside(root, str(path), write=True)
    temporary = path.parent / f".kotef-{secrets.token_hex(8)}.tmp"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write_new(temporary, content, like=path.lstat() if path.is_file() else None)
        temporary.replace(path)
    except OSError as error:
        raise os_fault(path, error) from error
    finally:
        with suppress(OSError):  # it is gone when all went well, and when it could not be made
            temporary.unlink()


def append_line(path: Path, line: str, *, durable: bool = False) -> None:
    """Add a line to a log; a last line that a kill has torn stays a line of its own. Raises OSError.

    `durable`: it is on disk when this returns.
    """
    with path.open("a+b") as file:
        torn = False
        if file.tell():
            file.seek(-1, os.SEEK_END)
            torn = file.read(1) != b"\n"
        file.write((b"\n" if torn else b"") + line.encode() + b"\n")
        file.flush()
        if durable:
            os.fsync(file.fileno())


def os_fault(path: Path | str, error: OSError, *, hint: str = "check its permissions and the disk") -> WorkspaceError:
    """The error of kotef for an error of the operating system."""
    if error.errno in _FULL:
        return NoSpaceError(path)
    return WorkspaceError(path, (error.strerror or str(error)).lower(), hint=hint)


def holds_secrets(name: str) -> bool:
    """Whether a file of this name may hold secrets, whatever folder it lies in; names are compared without case."""
    name = name.casefold()
    return (name.startswith(".env") and not _ENV_SAMPLE.fullmatch(name)) or bool(_KEY_FILE.fullmatch(name))


def _check_names(path: str, parts: tuple[str, ...], *, write: bool) -> None:
    """Refuse by name alone; names are compared without case, as some file systems do."""
    names = [part.casefold() for part in parts]
    if any(name.startswith(".env") and not _ENV_SAMPLE.fullmatch(name) for name in names):
        raise WorkspaceError(path, "environment files may hold secrets", hint="use .env.example, or ask a person")
    if any(_KEY_FILE.fullmatch(name) for name in names) or names[-2:] == [".git", "config"]:
        raise WorkspaceError(path, "may hold keys or a login", hint="leave it to a person")
    if write and ".git" in names:
        raise WorkspaceError(path, "git's own files are not to be written", hint="edit the working tree only")
    if write and names[:1] == [".sdd"]:
        raise WorkspaceError(path, ".sdd says what is asked and is not to be written", hint="leave it to a person")


def _check_kind(path: str, real: Path, *, write: bool) -> None:
    """Refuse what is not a regular file (or, when reading, a directory), and a file that has another name."""
    try:
        found = real.lstat()
    except FileNotFoundError:
        return
    except OSError as error:
        raise os_fault(path, error, hint="use another path") from error
    if stat.S_ISDIR(found.st_mode):
        if write:
            raise WorkspaceError(path, "is a directory", hint="name a file in it")
    elif not stat.S_ISREG(found.st_mode):
        raise WorkspaceError(path, "is not a regular file", hint="only plain files are read and written")
    elif write and found.st_nlink > 1:
        raise WorkspaceError(path, "is a hard link, its other name may lie outside", hint="copy it and edit the copy")


def write_new(
    path: Path | str,
    content: bytes,
    *,
    like: os.stat_result | None = None,
    executable: bool | None = None,
    directory: int | None = None,
) -> None:
    """Make a file that must not exist and see it onto the disk; raises `OSError`.

    It gets the mode and, where permitted, the owner of `like`, else what the umask leaves; `executable` None keeps
    the execute bits of that mode. With `directory`, an open descriptor, `path` is a name in it.
    """
    mode = 0o777 if executable else 0o666
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    file = os.open(path, flags, mode, dir_fd=directory)
    with open(file, "wb") as stream:  # noqa: PTH123 - a descriptor, not a path
        if like is not None:
            mode = stat.S_IMODE(like.st_mode)
            if executable is not None:
                mode = mode | (mode & 0o444) >> 2 if executable else mode & ~0o111
            if (like.st_uid, like.st_gid) != (os.geteuid(), os.getegid()):
                with suppress(PermissionError):
                    os.fchown(file, like.st_uid, like.st_gid)
            os.fchmod(file, mode)
        stream.write(content)
        stream.flush()
        os.fsync(file)
