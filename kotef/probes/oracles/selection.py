"""Wrong answers for one test, by the language of its file."""

import random
from collections.abc import Callable, Iterator

from kotef.probes.oracles.python import python_answers
from kotef.probes.oracles.token_oracles import token_answers
from kotef.probes.oracles.tokens import dialect_of
from kotef.probes.oracles.wrong_answer import WrongAnswer


def wrong_answers(
    path: str, content: bytes, test: str, *, seed: int, read: Callable[[str], bytes | None]
) -> tuple[WrongAnswer, ...]:
    """Each oracle of one test made wrong, one at a time; empty where none can be changed safely.

    `test` is an id, `place::part::name`, of a test in the file; `read` gives other files of the workspace.
    """
    chance = random.Random(f"{seed} {path} {test}")  # noqa: S311 - the seed is the secret
    del read
    return tuple(_answers(path, content, test, chance))


def _answers(path: str, content: bytes, test: str, chance: random.Random) -> Iterator[WrongAnswer]:
    names = names_below(path, test)
    if path.endswith((".py", ".pyi")):
        yield from python_answers(path, content, names, chance)
    elif dialect := dialect_of(path):
        yield from token_answers(path, content, dialect, names, chance)


def names_below(path: str, test: str) -> list[str]:
    """The parts of an id below the place of its file."""
    if test.startswith(f"{path}::"):
        return test.removeprefix(f"{path}::").split("::")
    return test.split("::")[1:] or [test]
