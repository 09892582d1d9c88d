"""Files that look empty to a command, even after an earlier one moved them."""

import os
import stat
from collections.abc import Collection, Iterable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from kotef.files import holds_secrets, read_regular, walk_within
from kotef.redaction import secrets_of_env_file
from kotef.workspace import REBUILT_FOLDERS

_MOST_ENTRIES: Final = 200_000
"""Entries of the workspace that are looked at."""
_LARGEST_ENVIRONMENT: Final = 256 * 1024
"""Bytes of an environment file that are looked at."""
_KEY_HEAD: Final = 4096
"""Bytes in which a key says that it is private."""


class _File(NamedTuple):
    """The identity of a file, independent of its name."""

    device: int
    number: int


class Masks:
    """Files that hold secrets, below some folders.

    They are found by name and content once. A command cannot rename such a file, for something is mounted over it, but
    it can rename a folder around it: so before each command they are looked up, and sought by what they are if they
    have gone.
    """

    def __init__(self, roots: Iterable[Path], public: Collection[Path], shown: Collection[Path] = ()) -> None:
        """`public` are files that git tracks, `shown` those that a person named with `--read`; all real paths."""
        self._roots = tuple(roots)
        self._found = {path: what for path, what in _secrets_in(self._roots, public) if path not in shown}
        linked = {what for path, what in self._found.items() if path.stat().st_nlink > 1}
        if linked:  # the same file has other names
            self._found |= _sought(self._roots, linked)

    def current(self) -> tuple[Path, ...]:
        """Where they are now."""
        if any(_identity(path) != what for path, what in self._found.items()):
            self._found = _sought(self._roots, set(self._found.values()))
        return tuple(self._found)


def _identity(path: Path) -> _File | None:
    try:
        facts = path.lstat()
    except OSError:
        return None
    return _File(facts.st_dev, facts.st_ino) if stat.S_ISREG(facts.st_mode) else None


def _sought(roots: Iterable[Path], wanted: Collection[_File]) -> dict[Path, _File]:
    """Every name of the files wanted, in any folder."""
    found = {}
    for path in (Path(entry.path) for root in roots for entry in _files(root)):
        what = _identity(path)
        if what and what in wanted:
            found[path] = what
    return found


def _files(root: Path) -> Iterator[os.DirEntry[str]]:
    """All there are, those of git and of dependencies included."""
    waiting = [str(root)]
    while waiting:
        try:
            with os.scandir(waiting.pop()) as entries:
                inside = list(entries)
        except OSError:  # gone, or closed to us as to the command
            continue
        waiting += [entry.path for entry in inside if entry.is_dir(follow_symlinks=False)]
        yield from (entry for entry in inside if entry.is_file(follow_symlinks=False))


def _secrets_in(roots: Iterable[Path], public: Collection[Path]) -> Iterator[tuple[Path, _File]]:
    """Environment files by their name, keys by their content as well, and what links of such a name lead to.

    A copy of a file that git tracks, as builds make them, is as public as that file.
    """
    seen = 0
    tracked: dict[str, list[Path]] = {}
    for path in public:
        if holds_secrets(path.name):
            tracked.setdefault(path.name, []).append(path)
    for root in roots:
        for place, folders, files in walk_within(root, most=_MOST_ENTRIES):
            folders[:] = [name for name in folders if name not in REBUILT_FOLDERS and name != ".git"]
            seen += len(files)
            for path in (root / place / name for name in files if holds_secrets(name)):
                real = Path(os.path.realpath(path))
                linked = real != path
                if linked and (real in public or not real.is_relative_to(root) or _is_sample(real)):
                    continue
                what = _identity(real)
                original = _original(real, tracked.get(real.name, ()))
                is_secret = _has_settings(original, public) if _is_environment(path) else _is_key(original, public)
                if what and is_secret:
                    yield real, what
            if seen > _MOST_ENTRIES:
                return


def _original(path: Path, tracked: Collection[Path]) -> Path:
    """The tracked file of its name that has its content; else the file itself."""
    if path in tracked or not tracked:
        return path
    try:
        content = read_regular(path, largest=_LARGEST_ENVIRONMENT)
    except OSError:  # nor can a command read it, or it is larger than any key
        return path
    return next((each for each in tracked if _content(each) == content), path)


def _content(path: Path) -> bytes | None:
    try:
        return read_regular(path, largest=_LARGEST_ENVIRONMENT)
    except OSError:
        return None


def _is_environment(path: Path) -> bool:
    return path.name.casefold().startswith(".env")


def _is_sample(path: Path) -> bool:
    return _is_environment(path) and not holds_secrets(path.name)


def _has_settings(path: Path, public: Collection[Path]) -> bool:
    """Whether an environment file is to look empty: one that git tracks only if a value in it looks like a secret."""
    if path not in public:
        return True
    try:
        text = read_regular(path, largest=_LARGEST_ENVIRONMENT, cut=True).decode("utf-8", "surrogateescape")
    except OSError:  # nor can a command read it
        return False
    return bool(secrets_of_env_file(text))


def _is_key(path: Path, public: Collection[Path]) -> bool:
    """Certificates are in files of the same names, and keys of a test suite are for everybody to see."""
    if path in public:
        return False
    try:
        start = read_regular(path, largest=_KEY_HEAD, cut=True)
    except OSError:  # nor can a command read it
        return False
    return b"-----BEGIN" not in start or b"PRIVATE KEY" in start
