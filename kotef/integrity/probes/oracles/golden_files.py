"""Wrong answers in files that a test compares with: golden files and snapshots."""

import random
import re
from collections.abc import Callable, Iterator, Sequence
from posixpath import basename, dirname, join, normpath, splitext
from typing import Final

from kotef.integrity.probes.oracles.near_values import other_character
from kotef.integrity.probes.oracles.shell import compared_files
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, WrongAnswer, wrong_answer
from kotef.source import SourceText, TextEdit

_EXPECTED: Final = re.compile(
    r"(?i)(?:^|[/_.-])(?:golden|expected|approved|snapshots?)(?:[/_.-]|$)|\.(?:snap|golden|expected|approved)$"
)
_TEXT: Final = re.compile(r"\"([^\"\\\n]{1,200})\"|'([^'\\\n]{1,200})'")
_BETWEEN: Final = re.compile(r"\s*\)?\s*[/,+]\s*|\s*\)\s*\.joinpath\(\s*")
_NEAR_MIDDLE: Final = 40


def golden_answers(
    path: str, region: str, names: Sequence[str], read: Callable[[str], bytes | None], chance: random.Random
) -> Iterator[WrongAnswer]:
    """Each golden file whose path is in the code of the test, and the test's part of its snapshot file."""
    seen: set[str] = set()
    for name in _paths(region):
        for base in (dirname(path), "", join(dirname(path), "testdata")):
            place = normpath(join(base, name))
            content = None if place in seen or place.startswith(("..", "/")) else read(place)
            seen.add(place)
            if content is not None:
                yield from _changed(place, content, None, chance)
                break
    yield from _snapshots(path, region, names, read, chance)


def compared_answers(
    path: str, content: bytes, read: Callable[[str], bytes | None], chance: random.Random
) -> Iterator[WrongAnswer]:
    """Each file that a script of the shell hands to `diff` or `cmp`."""
    source = SourceText.of_bytes(content)
    for place in dict.fromkeys(
        normpath(join(base, name))
        for name in compared_files(source.text if source else "")
        for base in ("", dirname(path))
    ):
        found = None if place.startswith(("..", "/")) else read(place)
        if found is not None:
            yield from _changed(place, found, None, chance)


def _paths(region: str) -> Iterator[str]:
    """Literal paths to expected results; `"golden" / "x.txt"` and `join("golden", "x.txt")` are one."""
    texts = list(_TEXT.finditer(region))
    joined = ""
    before = -1
    for found in texts:
        part = found[1] or found[2]
        is_next = before >= 0 and _BETWEEN.fullmatch(region, before, found.start())
        joined = f"{joined.rstrip('/')}/{part.lstrip('/')}" if is_next else part
        before = found.end()
        if _EXPECTED.search(joined) and "." in basename(joined) and re.fullmatch(r"[\w./+ -]+", joined):
            yield joined


def _snapshots(
    path: str, region: str, names: Sequence[str], read: Callable[[str], bytes | None], chance: random.Random
) -> Iterator[WrongAnswer]:
    """`__snapshots__/NAME.ambr` of syrupy, and `__snapshots__/NAME.snap` of Jest and Vitest."""
    folder = join(dirname(path), "__snapshots__")
    if path.endswith(".py") and re.search(r"\bsnapshot\b", region):
        place = join(folder, f"{splitext(basename(path))[0]}.ambr")
        heading = rf"^# name: {re.escape('.'.join(names))}\r?\n(?P<body>.*?)^# ---"
    elif "toMatchSnapshot(" in region:
        place = join(folder, f"{basename(path)}.snap")
        heading = rf"^exports\[`{re.escape(' '.join(names))} 1`\] = `(?P<body>.*?)`;$"
    else:
        return
    content = read(place)
    if content is not None:
        yield from _changed(place, content, re.compile(heading, re.MULTILINE | re.DOTALL), chance)


def _changed(
    path: str, content: bytes, section: re.Pattern[str] | None, chance: random.Random
) -> Iterator[WrongAnswer]:
    """One letter or digit near the middle is another."""
    source = SourceText.of_bytes(content)
    if source is None:
        return
    found = section.search(source.text) if section else None
    if section and not found:
        return
    start, end = found.span("body") if found else (0, len(source.text))
    places = [at for at in range(start, end) if source.text[at].isascii() and source.text[at].isalnum()]
    if section:
        places = [at for at in places if source.text[at].isdigit()] or places
    if not places:
        return
    middle = len(places) // 2
    at = chance.choice(places[max(0, middle - _NEAR_MIDDLE) : middle + _NEAR_MIDDLE + 1])
    edit = TextEdit(at, at + 1, other_character(source.text[at], chance))
    answer = wrong_answer(path, source, OracleEdit("golden", (edit,)))
    if answer is not None:
        yield answer
