"""Search for text and for file names in the workspace."""

import posixpath
import shutil
import subprocess
import threading
import time
from collections.abc import Collection, Generator
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Final, NamedTuple

from kotef.errors import WorkspaceError
from kotef.files import GlobError, list_within, matches_glob, read_within, resolve_inside
from kotef.tools.errors import ToolFault
from kotef.tools.text import MAX_BYTES, clip_line, decode, lines_of
from kotef.tools.truncated_output import Keep, note
from kotef.tools.workspace_files import NOISE, RUNS, Place, locate, missing, walk

MAX_HITS: Final = 100
MAX_KEPT: Final = 1_000
"""Hits kept for later, if more than `MAX_HITS` are found."""
MAX_WIDTH: Final = 300
MAX_NAMES: Final = 200
MAX_SECONDS: Final = 10.0
"""Wall seconds of one search; hits found until then are returned."""
_MOST_FOLDERS: Final = 20_000
_MAX_SEARCHED_LINE: Final = 2000
"""Characters searched per line."""


class _Hit(NamedTuple):
    """One line that matches; `name` is relative to where the search started."""

    name: str
    number: int
    line: str


class _LateError(Exception):
    """The search took too long."""


class _NotUnderstoodError(Exception):
    """ripgrep does not know this pattern or glob; Python may."""


def find_files(root: Path, glob: str, path: str = ".", *, reads: Collection[Path] = ()) -> str:
    """Files below `path` that match, sorted; dependencies, environments and caches are skipped. Raises `ToolFault`."""
    place = locate(root, path, reads=reads)
    if not place.real.is_dir():
        raise _no_directory(root, place)
    deadline = time.monotonic() + MAX_SECONDS
    prefix = "" if place.name == "." else f"{place.name}/"
    found = sorted(prefix + name for name in walk(place.real, deadline=deadline) if _is_meant(prefix, name, glob))
    late = [f"[stopped after {MAX_SECONDS:.0f} s; give a more specific path]"] if time.monotonic() > deadline else []
    if not found:
        return "\n".join([f"no file matches {glob} in {place.name}", *late])
    more = [f"[{len(found) - MAX_NAMES} more; narrow the glob or the path]"] if len(found) > MAX_NAMES else []
    return "\n".join([*found[:MAX_NAMES], *more, *late])


def grep(
    root: Path,
    pattern: str,
    path: str = ".",
    *,
    glob: str = "",
    ignore_case: bool = False,
    keep: Keep | None = None,
    reads: Collection[Path] = (),
) -> str:
    """Lines that match a regular expression as `path:line: text`; ripgrep where present, Python otherwise.

    `keep` takes the hits where there are more than are shown.
    Raises `ToolFault` for a pattern that cannot be read, and for one that takes too long on a single line.
    """
    place = locate(root, path, reads=reads)
    if not place.real.exists():
        raise missing(root, place)
    if not pattern:
        raise ToolFault("schema_reject", "pattern is empty; find_files lists files")
    query = _Query(place, pattern, glob, ignore_case=ignore_case)
    most = MAX_KEPT if keep else MAX_HITS
    found, ending = list[str](), ""
    try:
        with closing(query.hits()) as hits:
            for hit in hits:
                if len(found) == most:
                    ending = f"[more than {most} hits; narrow pattern, path or glob]"
                    break
                found.append(f"{hit.name}:{hit.number}: {clip_line(hit.line.rstrip(), MAX_WIDTH)}")
    except _LateError:
        ending = f"[stopped after {MAX_SECONDS:.0f} s; narrow pattern, path or glob]"
    if not found:
        where = f"{place.name} ({glob})" if glob else place.name
        return "\n".join(part for part in (f"no line matches {pattern} in {where}", ending) if part)
    kept = ""
    if keep and len(found) > MAX_HITS:
        kept = f"[{len(found) - MAX_HITS} more hits; {note(keep(chr(10).join(found)))}]"
    return "\n".join([*found[:MAX_HITS], *(line for line in (kept, ending) if line)])


def _no_directory(root: Path, place: Place) -> ToolFault:
    if place.real.exists():
        return ToolFault("exec_error", f"{place.name} is a file; use view_file")
    return missing(root, place)


def _is_meant(prefix: str, name: str, glob: str) -> bool:
    """Globs may be relative to the directory searched or to the workspace; models write both."""
    return _fits(name, glob) or ("/" in glob and _fits(prefix + name, glob))


def _fits(name: str, glob: str) -> bool:
    try:
        return matches_glob(name, glob)
    except GlobError as error:
        raise ToolFault("schema_reject", str(error)) from error


class _Query:
    """One search, whoever does it."""

    def __init__(self, place: Place, pattern: str, glob: str, *, ignore_case: bool) -> None:
        self.top = place.top
        self.shown = f"{place.top}/" if posixpath.isabs(place.name) else ""
        self.base = place.real if place.real.is_dir() else place.real.parent
        self.file = None if place.real.is_dir() else place.real.name
        self.pattern, self.glob, self.ignore_case = pattern, glob, ignore_case
        self.deadline = time.monotonic() + MAX_SECONDS
        self.lines = lru_cache(maxsize=2)(self._lines)

    def hits(self) -> Generator[_Hit]:
        """Hits with the names a model may use, each line as it is in a file that may be read.

        ripgrep goes by names, and a link may have stood there when it came by: what it found is looked up again.
        """
        for hit in self._found():
            name = (self.base / hit.name).relative_to(self.top).as_posix()
            lines = self.lines(name)
            if hit.number <= len(lines):
                yield _Hit(self.shown + name, hit.number, lines[hit.number - 1])

    def _lines(self, name: str) -> list[str]:
        """Lines of a plain text file; none of one that is a link, secret, too large, binary or unreadable."""
        try:
            if resolve_inside(self.top, name, write=False) != self.top / name:
                return []
            text = decode(read_within(self.top, name, largest=MAX_BYTES))
        except (OSError, WorkspaceError):  # gone or closed to us since it was listed: like ripgrep, skip it
            return []
        return lines_of(text.plain) if text else []

    def _found(self) -> Generator[_Hit]:
        program = shutil.which("rg")
        if program is not None:
            try:
                yield from self._ripgrep(program)
            except _NotUnderstoodError:  # raised before the first hit only
                pass
            else:
                return
        yield from self._python()

    def _ripgrep(self, program: str) -> Generator[_Hit]:
        """Raises `_NotUnderstoodError` before the first hit, `_LateError` when time is up."""
        words = [program, "--no-config", "--color=never", "--no-heading", "--line-number", "--with-filename", "--null"]
        words += ["--hidden", "--no-ignore", "--no-messages", "--sort=path", f"--max-filesize={MAX_BYTES}"]
        words += [
            f"--max-columns={_MAX_SEARCHED_LINE}",
            "--max-columns-preview",
            "--crlf",
            f"--max-count={MAX_KEPT + 1}",
        ]
        words += ["--ignore-case"] if self.ignore_case else []
        if self.file is None:
            words += [f"--glob={self.glob.removeprefix('./')}"] if self.glob else []
            words += [f"--glob=!**/{noise}/**" for noise in (*sorted(NOISE), RUNS)]
            words += [f"--glob=!{name}/**" for name in self._environments()]
        words += ["--regexp", self.pattern, "--", f"./{self.file}" if self.file else "./"]
        with subprocess.Popen(
            words, cwd=self.base, env={}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            timer = threading.Timer(MAX_SECONDS, process.kill)
            timer.start()
            found = False
            try:
                for line in process.stdout or ():
                    found = True
                    yield _parsed(line)
                status = process.wait()
            finally:
                timer.cancel()
                process.kill()
        if time.monotonic() > self.deadline:
            raise _LateError
        if status > 1 and not found:
            raise _NotUnderstoodError

    def _environments(self) -> list[str]:
        """Folders that are Python environments."""
        try:
            found = [entry.name for entry in list_within(self.base, most=_MOST_FOLDERS) if entry.is_directory]
        except OSError:
            return []
        return [name for name in found if (self.base / name / "pyvenv.cfg").exists()]

    def _python(self) -> Generator[_Hit]:
        import regex  # type: ignore[import-untyped]  # for its time limit: `re` cannot be stopped where a pattern explodes

        try:
            compiled = regex.compile(self.pattern, regex.IGNORECASE if self.ignore_case else 0)
        except regex.error as error:
            message = f"pattern cannot be read: {error}; to search for the text itself use {regex.escape(self.pattern)}"
            raise ToolFault("schema_reject", message) from error
        names = [self.file] if self.file else walk(self.base, deadline=self.deadline)
        for name in names:
            if self.file is None and self.glob and not _fits(name, self.glob):
                continue
            for number, line in enumerate(self.lines((self.base / name).relative_to(self.top).as_posix()), 1):
                left = self.deadline - time.monotonic()
                if left <= 0:
                    raise _LateError
                try:
                    if compiled.search(line[:_MAX_SEARCHED_LINE], timeout=left):
                        yield _Hit(name, number, line)
                except TimeoutError as error:
                    message = f"pattern takes too long on line {number} of {name}; use one with fewer nested repeats"
                    raise ToolFault("exec_error", message) from error
        if time.monotonic() > self.deadline:
            raise _LateError


def _parsed(line: bytes) -> _Hit:
    name, _, rest = line.rstrip(b"\r\n").partition(b"\0")
    number, _, text = rest.partition(b":")
    return _Hit(name.decode("utf-8", "surrogateescape"), int(number), text.decode("utf-8", "replace"))
