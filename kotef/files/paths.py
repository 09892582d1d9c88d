"""Paths that kotef may read and write, and the location of its own state."""

import errno
import hashlib
import os
import re
import stat
from collections.abc import Collection, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

from kotef.errors import NoSpaceError, WorkspaceError
from kotef.files.safe_open import parent_within, write_within

_KERNEL: Final = (Path("/proc"), Path("/sys"), Path("/dev"))
_ENV_SAMPLE: Final = re.compile(r".*\.(example|sample|template|defaults)")
_KEY_FILE: Final = re.compile(
    r"id_(rsa|dsa|ecdsa|ed25519)(_sk)?|.*\.(pem|key|p12|pfx|keystore)|\.netrc|\.pypirc|\.git-credentials"
)
_FULL: Final = frozenset({errno.ENOSPC, errno.EDQUOT})


def home_relative(path: str) -> str:
    """The path with `~` for the home directory, as people write it; others as they are."""
    try:
        return f"~/{Path(path).relative_to(Path.home())}" if Path(path).is_absolute() else path
    except (ValueError, RuntimeError):
        return path


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
        raise WorkspaceError("~", "no home directory", hint=hint) from error
    try:
        base.mkdir(parents=True, exist_ok=True)
        for directory in (base / "kotef", base / "kotef" / name):
            directory.mkdir(mode=0o700, exist_ok=True)
            if directory.lstat().st_mode & 0o077 and not directory.is_symlink():
                directory.chmod(0o700)
        found = (base / "kotef" / name).lstat()
    except OSError as error:
        raise os_fault(Path(error.filename or base), error, hint=hint) from error
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.geteuid():
        raise WorkspaceError(base / "kotef" / name, "belongs to another user", hint=hint)
    return base / "kotef" / name


def at_home(name: str) -> Path:
    """The path as a shell reads it; `~` before a name that no one here has is a part of the name."""
    return Path(os.path.expanduser(name))  # noqa: PTH111  that of Path raises RuntimeError there


def granted(names: Iterable[str]) -> tuple[Path, ...]:
    """The real paths of what a person lets a run read beyond the workspace, as given with `--read`."""
    return tuple(dict.fromkeys(Path(os.path.realpath(at_home(name))) for name in names))


def resolve_inside(root: Path, path: str, *, write: bool, reads: Collection[Path] = ()) -> Path:
    """The real, absolute path of a file of the workspace; it may be missing, and when reading be a directory.

    `path` is relative to `root` (or absolute, but inside it). Symbolic links are followed first and what they lead
    to must be inside, component by component; when reading, it may be inside one of `reads`, real paths, as well.
    Neither the name given nor the real one may be one that holds secrets or, when writing, belongs to git or to
    `.sdd`. Open the result with `kotef.files.safe_open`, which follows no link.

    Raises `WorkspaceError` with the reason and a way out.
    """
    if "\0" in path:
        raise WorkspaceError(path.replace("\0", "\\0"), "a path cannot contain a NUL byte", hint="give a plain path")
    try:
        workspace = Path(os.path.realpath(root, strict=True))
        real = Path(os.path.realpath(workspace / path))
    except OSError as error:
        raise os_fault(root, error) from error
    top = top_of(real, workspace, () if write else reads)
    if top is None:
        raise WorkspaceError(path, "leads out of the workspace", hint=f"use a path inside {workspace}")
    if any(real.is_relative_to(kernel) and not workspace.is_relative_to(kernel) for kernel in _KERNEL):
        raise WorkspaceError(path, "belongs to the kernel, not to the workspace", hint="use a file of the project")
    given = Path(os.path.normpath(workspace / path))
    for names in {real, given}:
        if names.is_relative_to(top):
            _check_names(path, names.relative_to(top).parts, write=write)
    if write and any(_is_git_directory(above) for above in real.parents if above.is_relative_to(top)):
        raise WorkspaceError(path, "git's own files must not be written", hint="edit the working tree only")
    _check_kind(path, real, write=write)
    return real


def top_of(real: Path, workspace: Path, reads: Collection[Path]) -> Path | None:
    """Which of them a real path lies in, the workspace first: a folder; None when it is in none of them."""
    for place in (workspace, *reads):
        if real == place and not place.is_dir():
            return place.parent
        if real.is_relative_to(place):
            return place
    return None


def write_atomic(path: Path, content: bytes, *, root: Path | None = None, mode: int | None = None) -> None:
    """Write a file so that at any moment it has its old content or the new one; missing directories are made.

    An existing file keeps its mode, where there is no `mode`, and, where permitted, its owner. With `root` the path is
    checked again by `resolve_inside`, and then reached without following a link.

    Raises `NoSpaceError` when the disk or the quota is full, `WorkspaceError` for any other reason.
    """
    if root is None:
        _write(path.parent, path.name, content, mode)
        return
    real = resolve_inside(root, str(path), write=True)
    top = Path(os.path.realpath(root))
    _write(top, real.relative_to(top).as_posix(), content, mode)


def write_below(root: Path, path: str, content: bytes) -> None:
    """Like `write_within`, with kotef's errors. Raises `NoSpaceError`, `WorkspaceError`."""
    try:
        write_within(root, path, content)
    except OSError as error:
        raise os_fault(path, error) from error


def _write(top: Path, path: str, content: bytes, mode: int | None) -> None:
    try:
        top.mkdir(parents=True, exist_ok=True)
        write_within(top, path, content, mode=mode)
    except OSError as error:
        raise os_fault(top / path, error) from error


def remove_file(path: Path, *, root: Path) -> None:
    """Remove a file of the workspace that may be missing, following no link. Raises `WorkspaceError`."""
    real = resolve_inside(root, str(path), write=True)
    top = Path(os.path.realpath(root))
    try:
        with parent_within(top, real.relative_to(top).as_posix()) as (directory, name), suppress(FileNotFoundError):
            os.unlink(name, dir_fd=directory)
    except FileNotFoundError:
        return
    except OSError as error:
        raise os_fault(real, error) from error


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
        raise WorkspaceError(path, "environment files may contain secrets", hint="use .env.example, or ask a person")
    if any(_KEY_FILE.fullmatch(name) for name in names) or names[-2:] == [".git", "config"]:
        raise WorkspaceError(path, "may contain keys or a login", hint="leave it to a person")
    if write and ".git" in names:
        raise WorkspaceError(path, "git's own files must not be written", hint="edit the working tree only")
    if write and names[:1] == [".sdd"]:
        raise WorkspaceError(path, ".sdd defines the task and must not be written", hint="leave it to a person")


def _is_git_directory(folder: Path) -> bool:
    """Whether git would take this for a repository's own directory, whatever it is called: `.git` may lead there."""
    return (folder / "HEAD").exists() and (folder / "objects").is_dir() and (folder / "refs").is_dir()


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
        raise WorkspaceError(path, "is a hard link; its other name may be outside", hint="copy it and edit the copy")
