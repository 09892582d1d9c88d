"""Wrong answers for tests in Python modules."""

import random
from collections.abc import Callable, Iterator, Sequence

from kotef.probes.oracles.python_assertions import PythonOracles
from kotef.probes.oracles.python_helpers import imported_function
from kotef.probes.oracles.python_tests import FunctionNode, python_test
from kotef.probes.oracles.wrong_answer import WrongAnswer, wrong_answer
from kotef.probes.source_text import SourceText, parsed


def python_answers(
    path: str,
    content: bytes,
    names: Sequence[str],
    chance: random.Random,
    read: Callable[[str], bytes | None] = lambda _: None,
) -> Iterator[WrongAnswer]:
    """Each oracle of one test function or method; `read` gives the files that it imports helpers from."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    test = python_test(tree, names) if tree else None
    if source is None or tree is None or test is None:
        return

    def find(name: str) -> FunctionNode | None:
        return imported_function(tree, path, name, read)

    for oracle in PythonOracles(source, tree, test, chance, find).all():
        answer = wrong_answer(path, source, oracle)
        changed = SourceText.of_python(answer.content) if answer else None
        if answer is not None and changed is not None and parsed(changed.text) is not None:
            yield answer


def python_region(content: bytes, names: Sequence[str]) -> str | None:
    """The text of one test function or method; None where it is not surely found."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    test = python_test(tree, names) if tree else None
    return source.segment(test.function) if source and test else None
