"""Wrong answers for one test, by the language of its file."""

import random
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import NamedTuple

from kotef.integrity.probes.oracles.doctests import TEXT_FILES, doctest_answers
from kotef.integrity.probes.oracles.enum_members import EnumSource
from kotef.integrity.probes.oracles.golden_files import compared_answers, golden_answers
from kotef.integrity.probes.oracles.python import python_answers, python_region
from kotef.integrity.probes.oracles.shell import FIRST_LINE, shell_answers
from kotef.integrity.probes.oracles.shell import SUFFIXES as SCRIPTS
from kotef.integrity.probes.oracles.token_oracles import token_answers, token_region
from kotef.integrity.probes.oracles.tokens import dialect_of
from kotef.integrity.probes.oracles.wrong_answer import WrongAnswer

Reader = Callable[[str], bytes | None]


class _Files(NamedTuple):
    read: Reader
    paths: Collection[str]
    data: Collection[str]


def wrong_answers(
    path: str,
    content: bytes,
    test: str,
    *,
    seed: int,
    read: Reader,
    paths: Collection[str] = (),
    data: Collection[str] = (),
) -> tuple[WrongAnswer, ...]:
    """Each oracle of one test made wrong, one at a time; empty if none can be changed safely.

    `test` is an id, `place::part::name`, of a test in the file; `read` gives other files of the workspace, of which
    `paths` are searched for enumerations. `data` are files outside of tests that count as expected data too.
    """
    chance = random.Random(f"{seed} {path} {test}")  # noqa: S311 - the seed is the secret
    names = names_below(path, test)
    files = _Files(read, paths, data)
    found = tuple(_answers(path, content, names, files, chance))
    beside = {answer.path for answer in found if answer.kind == "golden"}
    golden = (each for each in _golden(path, content, names, read, chance) if each.path not in beside)
    return (*found, *golden)


def _answers(
    path: str, content: bytes, names: Sequence[str], files: _Files, chance: random.Random
) -> Iterator[WrongAnswer]:
    if path.endswith((".py", ".pyi")):
        found = tuple(python_answers(path, content, names, chance, files.read, data=files.data))
        yield from found or doctest_answers(path, content, names, chance)
    elif path.endswith(TEXT_FILES):
        yield from doctest_answers(path, content, names, chance)
    elif dialect_of(path):
        yield from token_answers(path, content, names, chance, EnumSource(files.read, files.paths))
    elif path.endswith(SCRIPTS) or FIRST_LINE.match(content):
        yield from shell_answers(path, content, chance)


def _golden(
    path: str, content: bytes, names: Sequence[str], read: Reader, chance: random.Random
) -> Iterator[WrongAnswer]:
    if path.endswith(SCRIPTS) or FIRST_LINE.match(content):
        yield from compared_answers(path, content, read, chance)
    dialect = dialect_of(path)
    region = python_region(content, names) if path.endswith(".py") else None
    if dialect:
        region = token_region(content, dialect, names)
    if region:
        yield from golden_answers(path, region, names, read, chance)


def names_below(path: str, test: str) -> list[str]:
    """The parts of an id below the place of its file."""
    if test.startswith(f"{path}::"):
        return test.removeprefix(f"{path}::").split("::")
    return test.split("::")[1:] or [test]
