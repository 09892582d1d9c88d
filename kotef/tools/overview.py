"""Overviews for the model: the repository as a whole, and where something is defined."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from kotef.context.repomap.languages import language_of
from kotef.context.repomap.symbols import Symbol
from kotef.failures.plural import counted
from kotef.tools.errors import ToolFault
from kotef.tools.repository import IndexedFile, RepositoryIndex, User, opened
from kotef.tools.workspace_files import locate, missing

MAX_TEXT: Final = 6_000
"""Characters of an overview."""
MAX_FOLDERS: Final = 20
MAX_OF_A_FILE: Final = 8
"""Definitions shown per file, the outermost first."""
MAX_NAME: Final = 300
"""Characters of a name, those of what it is defined in among them."""
MAX_HITS: Final = 40
SECONDS: Final = 2.0
"""Wall seconds of parsing in one call."""


def overview(root: Path, path: str = ".") -> str:
    """Languages, folders, and the most used files with their definitions; at most `MAX_TEXT` characters.

    Raises `ToolFault` when there is no directory `path`.
    """
    below = _below(root, path)
    with opened(root) as repository:
        names = [name for name in repository.paths if name.startswith(below)]
        if not names:
            return f"no files in {path}"
        title = "Files that others use most, most used first; line: definition"
        text = "\n".join([_census(names), *_folders(names, below), *_left(repository), title])
        deadline = time.monotonic() + SECONDS
        for file in repository.ranked():
            if time.monotonic() > deadline:
                break
            if not file.path.startswith(below):
                continue
            block = "\n".join([file.path, *_outline(repository.symbols(file))])
            if len(text) + 1 + len(block) > MAX_TEXT:
                break
            text = f"{text}\n{block}"
        return text


def search_symbols(root: Path, name: str, path: str = ".") -> str:
    """Definitions whose name is or contains `name`; exact matches first, then the most used.

    `Cart.total` is `total` within `Cart`. Raises `ToolFault` when there is no directory `path`, or no name.
    """
    below = _below(root, path)
    wanted = name.strip().replace("::", ".").replace("#", ".").rstrip("()").strip(".")
    last = wanted.rpartition(".")[2]
    if len(wanted) > MAX_NAME:
        raise ToolFault("schema_reject", f"the name has {len(wanted)} characters; at most {MAX_NAME} are allowed")
    if not last.replace("_", "").isalnum():
        raise ToolFault("schema_reject", f"{name!r} is not a name; give a function, class or type, or use grep")
    with opened(root) as repository:
        users = [user for user in repository.using(last) if user.file.path.startswith(below)]
        found, late = _found(repository, users, wanted)
        shown = [symbol.name.rpartition(".")[2] for _, _, symbol in found[:MAX_HITS]]
        counts = Counter(name for user in users for name in set(shown).intersection(user.words.split()))
        lines = [
            f"{file.path}:{it.line}: {it.text.strip()}  [{it.kind} {it.name}, in {_files(counts[name])}]"
            for name, (_, file, it) in zip(shown, found, strict=False)
        ]
        lines += [f"[{len(found) - MAX_HITS} more; give more of the name, or a path]"] if found[MAX_HITS:] else []
        lines += [f"[{_files(late)} not searched for lack of time; give a path]"] if late else []
        return "\n".join([*(lines or [f"no definition matches {name}; grep searches all text"]), *_left(repository)])


def _found(
    repository: RepositoryIndex, users: Sequence[User], wanted: str
) -> tuple[list[tuple[int, IndexedFile, Symbol]], int]:
    """The definitions that match, the nearest first, and how many files were not parsed for lack of time."""
    deadline = time.monotonic() + SECONDS
    found: list[tuple[int, IndexedFile, Symbol]] = []
    late = 0
    for number, user in enumerate(users):
        if time.monotonic() > deadline:
            late = len(users) - number
            break
        measured = ((_distance(symbol.name, wanted), symbol) for symbol in repository.symbols(user.file))
        found += [(far, user.file, symbol) for far, symbol in measured if far is not None]
    return sorted(found, key=lambda hit: hit[0]), late  # a stable sort: among equals the order of the files


def _below(root: Path, path: str) -> str:
    place = locate(root, path)
    if not place.real.is_dir():
        if place.real.exists():
            raise ToolFault("exec_error", f"{place.name} is a file; use view_file, or name its directory")
        raise missing(root, place)
    return "" if place.name == "." else f"{place.name}/"


def _census(names: Sequence[str]) -> str:
    languages = Counter(language.name for name in names if (language := language_of(name)))
    some = ", ".join(f"{number} {name}" for name, number in _most(languages)[:8])
    return f"{_files(len(names))}" + (f": {some}" if some else "; no source file in a known language")


def _folders(names: Sequence[str], below: str) -> Iterator[str]:
    """The folders right below, and how many files each holds."""
    held = Counter(name[len(below) :].partition("/")[0] + "/" for name in names if "/" in name[len(below) :])
    if held:
        more = f" and {len(held) - MAX_FOLDERS} more" if len(held) > MAX_FOLDERS else ""
        yield "Folders: " + ", ".join(f"{folder} ({number})" for folder, number in _most(held)[:MAX_FOLDERS]) + more


def _files(number: int) -> str:
    return counted(number, "file")


def _most(counts: "Counter[str]") -> list[tuple[str, int]]:
    return sorted(counts.items(), key=lambda item: (-item[1], item[0]))


def _left(repository: RepositoryIndex) -> list[str]:
    return [f"[{_files(repository.left)} not indexed yet; call again]"] if repository.left else []


def _outline(found: Sequence[Symbol]) -> Iterator[str]:
    """The outermost definitions, then those within, as many as are shown; in the order of their lines."""
    outer = sorted(found, key=lambda symbol: (symbol.name.count("."), symbol.line))[:MAX_OF_A_FILE]
    for symbol in sorted(outer, key=lambda symbol: symbol.line):
        yield f"  {symbol.line}: {'  ' * symbol.name.count('.')}{symbol.text.strip()}"
    if len(found) > MAX_OF_A_FILE:
        yield f"  … {len(found) - MAX_OF_A_FILE} more"


def _distance(name: str, wanted: str) -> int | None:
    """Distance of a definition's name from the requested one; None if it does not match."""
    dotted, dotted_wanted = f".{name}", f".{wanted}"
    if dotted.endswith(dotted_wanted):
        return 0
    if dotted.lower().endswith(dotted_wanted.lower()):
        return 1
    outer, _, last = wanted.lower().rpartition(".")
    around, _, own = name.lower().rpartition(".")
    if last in own and outer in around:
        return 2 if own.startswith(last) else 3
    return None
