"""Excerpts of the repository for the planner: source around failing places, the diff so far, a map for the task."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

from kotef.classification import places
from kotef.context.repomap.rank import AMBIGUOUS
from kotef.context.repomap.symbols import Symbol
from kotef.files import is_below
from kotef.integrity import is_test_code
from kotef.tools.errors import ToolFault
from kotef.tools.files import view_file
from kotef.tools.repository import IndexedFile, RepositoryIndex, opened

MAX_EXCERPTS: Final = 6_000
"""Characters of all excerpts together, about 1,500 tokens."""
_SOURCE_SHARE: Final = 0.45
_DIFF_SHARE: Final = 0.25
"""Parts of it for source and diff; the map gets what they leave."""
_BEFORE: Final = 4
_AFTER: Final = 10
"""Lines shown around a failing place."""
_MOST_PLACES: Final = 8
_MOST_FILES: Final = 30
"""Files of the map."""
_MOST_SYMBOLS: Final = 6
"""Definitions of one file of the map."""
_NAMED_WEIGHT: Final = 4.0
"""Weight of a file that the task names, relative to one that defines a word of it."""
_TEST_WEIGHT: Final = 0.4
"""Weight of a test that the task does not name, relative to other source."""
_WORD: Final = re.compile(r"[^\W\d]\w{2,}")
_PATH: Final = re.compile(r"[\w@+~./-]+\.[A-Za-z]\w{0,7}\b")
_TEST_ID: Final = re.compile(r"(?P<path>[\w@+~./-]+\.[A-Za-z]\w{0,7})::(?P<name>[\w:]+)")


class PlaceInSource(NamedTuple):
    """A line of a file, from 1."""

    path: str
    line: int


def planning_excerpts(
    root: Path, *, task: str, failing: Sequence[str], patch: str = "", most: int = MAX_EXCERPTS
) -> str:
    """Excerpts of the workspace for the planner, at most `most` characters; empty if nothing can be read.

    `task` is the goal with the ticket's words, `failing` what failed, newest first: ids of tests and summaries with
    `path:line`. `patch` is the diff of the run so far.
    """
    try:
        with opened(root) as repository:
            known = frozenset(repository.paths)
            texts = [*failing, task]
            found = list(dict.fromkeys(_places(texts, known, repository)))[:_MOST_PLACES]
            source = _source(root, found, int(most * _SOURCE_SHARE))
            diff = _clipped(patch, int(most * _DIFF_SHARE))
            named = [*(place.path for place in found), *_paths(texts, known)]
            left = most - len(source) - len(diff)
            return "".join((source, diff, _map(repository, named, " ".join(texts), left)))
    except ToolFault:  # the index cannot be kept: a plan without excerpts is better than none
        return ""


def _places(texts: Iterable[str], known: frozenset[str], repository: RepositoryIndex) -> Iterator[PlaceInSource]:
    """The lines that the texts point to, and the definitions of the tests that they name."""
    for text in texts:
        for place in places(text.splitlines()):
            path, _, number = place.rpartition(":")
            if path in known:
                yield PlaceInSource(path, int(number))
        for match in _TEST_ID.finditer(text):
            path, name = match["path"].removeprefix("./"), match["name"].rpartition("::")[2].split("[")[0]
            if path in known and (line := _line_of(repository, path, name)):
                yield PlaceInSource(path, line)


def _line_of(repository: RepositoryIndex, path: str, name: str) -> int:
    """Where the file defines this name; 0 if it does not."""
    file = repository.file(path)
    symbols = repository.symbols(file) if file else []
    return next((symbol.line for symbol in symbols if symbol.name.rpartition(".")[2] == name), 0)


def _paths(texts: Iterable[str], known: frozenset[str]) -> Iterator[str]:
    """The files of the workspace that the texts name."""
    for text in texts:
        for name in _PATH.findall(text):
            path = name.removeprefix("./")
            if is_below(path) and path in known:
                yield path


def _source(root: Path, found: Sequence[PlaceInSource], most: int) -> str:
    """The lines around each place, as far as they fit; a place that an excerpt shows already has none of its own."""
    title = "Source code around failures and named code\n"
    text = ""
    shown: dict[str, list[range]] = {}
    for path, line in found:
        start = max(1, line - _BEFORE)
        if any(line in lines for lines in shown.get(path, ())):
            continue
        try:
            excerpt = view_file(root, path, start=start, lines=_BEFORE + _AFTER + 1)
        except ToolFault:  # gone, unreadable or holding secrets
            continue
        excerpt = re.sub(r"\n\[\d+ more lines?: start=\d+\]$", "", excerpt)
        if len(title) + len(text) + len(excerpt) + 1 > most:
            break
        shown.setdefault(path, []).append(range(start, line + _AFTER + 1))
        text += f"{excerpt}\n"
    return f"{title}{text}" if text else ""


def _clipped(patch: str, most: int) -> str:
    """The diff, cut at the end of a line."""
    if not patch.strip():
        return ""
    title = "What this run has changed so far\n"
    room = most - len(title) - 40
    text = patch.encode("utf-8", "replace").decode()
    if len(text) > room:
        cut = text[:room].rpartition("\n")[0]
        text = f"{cut}\n[{len(text) - len(cut)} more characters]\n"
    return f"{title}{text}"


def _map(repository: RepositoryIndex, named: Sequence[str], text: str, most: int) -> str:
    """The files that matter most for the task, each with the definitions that its words name, or its outermost."""
    title = "Files that matter most for this; line: definition\n"
    words = Counter(_WORD.findall(text))
    shown = ""
    for file in islice(_ranked(repository, named, words), _MOST_FILES):
        lines = [file.path, *_outline(repository.symbols(file), words)]
        block = "\n".join(lines) + "\n"
        if len(title) + len(shown) + len(block) > most:
            block = f"{file.path}\n"
        if len(title) + len(shown) + len(block) > most:
            break
        shown += block
    return f"{title}{shown}" if shown else ""


def _ranked(repository: RepositoryIndex, named: Sequence[str], words: Counter[str]) -> list[IndexedFile]:
    """The indexed files, those of the task first: named by it, defining its words, defining what those use."""
    defined = {file: frozenset(names) for file, names in repository.definitions()}
    definers = Counter(name for names in defined.values() for name in names)
    used = set().union(*(repository.words(file) for file in defined if file.path in named)) if named else set()
    order = {file: position for position, file in enumerate(repository.ranked())}

    def weight(file: IndexedFile) -> float:
        names = [name for name in defined.get(file, ()) if definers[name] <= AMBIGUOUS]
        relevance = sum(1 / definers[name] for name in names if name in words)
        leant_on = min(1.0, sum(1 / definers[name] for name in names if name in used) / 4)
        found = _NAMED_WEIGHT * (file.path in named) + min(relevance, 3.0) + leant_on
        return found * _TEST_WEIGHT if is_test_code(file.path) and file.path not in named else found

    return sorted(order, key=lambda file: (-weight(file), order[file]))


def _outline(symbols: Sequence[Symbol], words: Counter[str]) -> Iterator[str]:
    """Some definitions of a file in the order of their lines: those that the task names, then the outermost."""
    chosen = sorted(
        symbols,
        key=lambda symbol: (symbol.name.rpartition(".")[2] not in words, symbol.name.count("."), symbol.line),
    )[:_MOST_SYMBOLS]
    for symbol in sorted(chosen, key=lambda symbol: symbol.line):
        yield f"  {symbol.line}: {symbol.text.strip()}"
