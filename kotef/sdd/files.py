"""Reader for the files of a specification."""

from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict

from kotef.errors import KotefError
from kotef.files import os_fault, read_inside, read_within, resolve_inside
from kotef.sdd.folder import FOLDER

MAX_BYTES: Final = 256 * 1024
"""Bytes read of a file of the specification; a longer file is cut after the last whole line."""


class Problem(BaseModel):
    """A part of the specification that could not be read as probably intended."""

    model_config = ConfigDict(frozen=True)

    path: str
    """Relative to the workspace root; bytes that are not UTF-8 are shown as escapes."""
    line: int
    """Counted from 1; 1 also for the file as a whole."""
    text: str
    """One line: the problem and, if helpful, what to write instead."""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.text}"


class FileText(BaseModel):
    """The text of a file, as far as it could be read."""

    model_config = ConfigDict(frozen=True)

    text: str = ""
    """The text as on disk, with its byte order mark and line endings."""
    problems: tuple[Problem, ...] = ()
    found: bool = True
    """False if the file does not exist; then there is neither text nor a problem."""


def read_file(root: Path, path: str) -> FileText:
    """Read a text file of the workspace; defects are problems, never errors.

    Only regular files inside the workspace are read. Below `.sdd` no link is followed; elsewhere a link may lead to
    another place inside. A missing file is not found.
    """
    shown = path.encode("utf-8", "backslashreplace").decode()
    try:
        resolve_inside(root, path, write=False)
        read = read_within if path.startswith(f"{FOLDER}/") else read_inside
        raw = read(root, path, largest=MAX_BYTES + 1, cut=True)
    except FileNotFoundError:
        return FileText(found=False)
    except OSError as error:
        return _unread(shown, str(os_fault(shown, error)).removeprefix(f"{shown}: "))
    except KotefError as error:
        return _unread(shown, str(error).removeprefix(f"{path}: "))
    problems: tuple[Problem, ...] = ()
    if len(raw) > MAX_BYTES:
        head, newline, _ = raw[:MAX_BYTES].rpartition(b"\n")
        raw = head + newline
        text = f"longer than {MAX_BYTES // 1024} KiB; only its head was read, shorten it"
        problems = (Problem(path=shown, line=raw.count(b"\n") + 1, text=text),)
    try:
        return FileText(text=raw.decode("utf-8"), problems=problems)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        return _unread(shown, f"byte {error.start} is not UTF-8; save the file as UTF-8", line=line)


def _unread(path: str, text: str, *, line: int = 1) -> FileText:
    return FileText(problems=(Problem(path=path, line=line, text=f"cannot be read: {text}"),))
