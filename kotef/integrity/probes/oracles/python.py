"""Wrong answers for tests in Python modules."""

import ast
import random
from collections.abc import Callable, Collection, Iterator, Sequence

from kotef.integrity.probes.oracles.python_assertions import PythonOracles
from kotef.integrity.probes.oracles.python_edits import Near
from kotef.integrity.probes.oracles.python_helpers import imported_function
from kotef.integrity.probes.oracles.python_tables import TableLookup
from kotef.integrity.probes.oracles.python_tests import FunctionNode, PythonTest, called_statements, python_test
from kotef.integrity.probes.oracles.wrong_answer import OracleEdit, WrongAnswer, wrong_answer
from kotef.integrity.probes.source_text import parsed, parsed_once
from kotef.source import SourceText, TextEdit


def python_answers(
    path: str,
    content: bytes,
    names: Sequence[str],
    chance: random.Random,
    read: Callable[[str], bytes | None] = lambda _: None,
    *,
    data: Collection[str] = (),
) -> Iterator[WrongAnswer]:
    """Each oracle of one test function or method, and of functions of other files that compare for it.

    `read` gives the files that it imports helpers from, or compares with: those among the tests, and `data`.
    """
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    test = python_test(tree, names) if tree else None
    if source is None or tree is None or test is None:
        return

    def find(name: str) -> FunctionNode | None:
        found = imported_function(tree, path, name, read)
        return found.function if found else None

    tables = TableLookup(tree, test, path, read, data)
    own = tuple(_valid(path, source, tree, PythonOracles(source, tree, test, chance, find, tables).all()))
    yield from own
    if own:
        return
    called = (ast.unparse(each.func) for each in called_statements(test.function.body))
    helpers = (imported_function(tree, path, name, read) for name in dict.fromkeys(called))
    for helper in filter(None, helpers):
        inside = PythonTest(helper.function, (), "")
        yield from _valid(
            helper.path, helper.source, helper.tree, PythonOracles(helper.source, helper.tree, inside, chance).all()
        )


def same_answers(
    path: str,
    source: SourceText,
    tree: ast.Module,
    test: PythonTest,
    chance: random.Random,
    *,
    near: Near,
) -> Iterator[TextEdit]:
    """Edits that write the literals that a test expects as `near` does; none touches another."""
    tables = TableLookup(tree, test, path, lambda _: None)
    taken: list[tuple[int, int]] = []
    for oracle in PythonOracles(source, tree, test, chance, near=near, tables=tables).all():
        if oracle.kind != "literal" or oracle.beside is not None:
            continue
        for edit in oracle.edits:
            if all(edit.end <= start or end <= edit.start for start, end in taken):
                taken.append((edit.start, edit.end))
                yield edit


def _valid(path: str, source: SourceText, tree: ast.Module, oracles: Iterator[OracleEdit]) -> Iterator[WrongAnswer]:
    """The wrong answers whose files can still be parsed."""
    for oracle in oracles:
        answer = wrong_answer(path, source, oracle)
        if answer is None:
            continue
        changed = SourceText.of_python(answer.content)
        if oracle.beside is not None or (changed is not None and _is_parsable(source, tree, changed, oracle)):
            yield answer


def _is_parsable(source: SourceText, tree: ast.Module, changed: SourceText, oracle: OracleEdit) -> bool:
    """Whether each statement of the module that is edited can be parsed alone; edits keep the lines."""
    lines = {source.line_at(edit.start) for edit in oracle.edits}
    starts = [*changed.line_starts, len(changed.text)]
    for statement in tree.body:
        first = min([statement.lineno, *(node.lineno for node in getattr(statement, "decorator_list", ()))])
        last = statement.end_lineno or statement.lineno
        is_edited = any(first <= line <= last for line in lines)
        if is_edited and parsed_once(changed.text[starts[first - 1] : starts[last]]) is None:
            return False
    return True


def python_region(content: bytes, names: Sequence[str]) -> str | None:
    """The text of one test function or method; None if it is not surely found."""
    source = SourceText.of_python(content)
    tree = parsed(source.text) if source else None
    test = python_test(tree, names) if tree else None
    return source.segment(test.function) if source and test else None
