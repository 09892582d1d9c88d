"""Tests inside product files that a run removed or changed."""

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from copy import copy
from typing import Final, NamedTuple

from kotef.integrity.tampering.javascript import JAVASCRIPT_SUFFIXES as JAVASCRIPT
from kotef.integrity.tampering.python import TamperingFinding

PROSE: Final = (".md", ".rst", ".txt", ".adoc")
INLINE_SUFFIXES: Final = (".py", ".rs", *JAVASCRIPT, *PROSE)
"""Endings of files that may hold tests beside what they test."""

_RUST_TEST: Final = re.compile(r"(?:#\[[^\]\n]*\]\s*)*#\[(?:\w+::)?test\b[^\]\n]*\]\s*(?:#\[[^\]\n]*\]\s*)*[^{;]*\{")
_RUST_MODULE: Final = re.compile(r"#\[cfg\(test\)\]\s*(?:#\[[^\]\n]*\]\s*)*(?:pub\s+)?mod\s+\w+\s*\{")
_RUST_USE: Final = re.compile(r"\buse (?:std|core|alloc)::(?:(?! as )[^;])*;")
_RUST_NAME: Final = re.compile(r"\bfn\s+(\w+)")
_VITEST: Final = re.compile(r"\bif\s*\(\s*import\.meta\.vitest\b[^{]*\{")


class InlineTest(NamedTuple):
    """One test, or what tests stand in."""

    kind: str
    """`doctest`, `vitest` (more may follow it), `function` (a runner has to collect it), or `case`."""
    name: str
    line: int
    content: tuple[str, ...]
    """What it does, without layout; a doctest as its examples."""


def changed_inline_tests(
    before: Mapping[str, str],
    now: Mapping[str, str],
    *,
    runs_doctests: Callable[[], bool],
    collected: Callable[[str], bool],
) -> tuple[TamperingFinding, ...]:
    """The tests in `before` that are in no file of `now`, both given as path and text; moved ones are still there.

    A doctest counts where `runs_doctests`, a plain `test_` function where the runner has `collected` something from its
    file. Tests may be added beside the others and examples after the others.
    """
    there: dict[str, list[InlineTest]] = {}
    for path, text in now.items():
        for unit in units(path, text):
            there.setdefault(unit.kind, []).append(unit)
    found: list[TamperingFinding] = []
    for path in sorted(before):
        if now.get(path) == before[path]:
            continue
        for unit in units(path, before[path]):
            if _is_there(unit, there.get(unit.kind, ())):
                continue
            if unit.kind == "function" or path.endswith(PROSE):
                judges = collected(path)
            else:
                judges = unit.kind != "doctest" or runs_doctests()
            if not judges:
                continue
            what = f"the test `{unit.name}`, which stood here before the run, was changed or removed"
            found.append(TamperingFinding(path, unit.line, what))
    return tuple(found)


def units(path: str, text: str) -> Iterator[InlineTest]:
    """The tests in one file."""
    if path.endswith(".py"):
        try:
            tree = ast.parse(text)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return
        yield from _of_python(tree, "")
    elif path.endswith(".rs"):
        yield from _of_rust(text)
    elif path.endswith(PROSE):
        yield from _of_examples(text, "", 1)
    else:
        for start, block in _blocks(_VITEST, text):
            line = text.count("\n", 0, start) + 1
            yield InlineTest("vitest", "import.meta.vitest", line, (_flat(block.removesuffix("}")),))


def _is_there(unit: InlineTest, others: Iterable[InlineTest]) -> bool:
    match unit.kind:
        case "doctest":
            return any(other.content[: len(unit.content)] == unit.content for other in others)
        case "vitest":
            return any(other.content[0].startswith(unit.content[0]) for other in others)
        case _:
            return any(other.content == unit.content for other in others)


def _of_python(
    scope: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, prefix: str
) -> Iterator[InlineTest]:
    """Tests of a module or class: docstring examples, test functions and test cases; the last of equal names."""
    yield from _examples(scope, prefix)
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef):
        return
    named = {node.name: node for node in _definitions(scope.body)}
    for name, node in named.items():
        full = f"{prefix}{name}"
        if isinstance(node, ast.ClassDef):
            yield from _of_class(node, full)
        elif not prefix and name.startswith("test_"):
            yield InlineTest("function", full, node.lineno, (ast.dump(node),))
        yield from _of_python(node, f"{full}.")


def _definitions(body: Iterable[ast.stmt]) -> Iterator[ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node
        elif isinstance(node, ast.If | ast.Try):
            yield from _definitions([*node.body, *node.orelse])


def _of_class(node: ast.ClassDef, name: str) -> Iterator[InlineTest]:
    """A test case as its tests, and as what they stand in."""
    is_case = any(ast.unparse(base).endswith("TestCase") for base in node.bases)
    if not (is_case or node.name.startswith("Test")):
        return
    members = {inner.name: inner for inner in _definitions(node.body)}
    tests = {name: inner for name, inner in members.items() if name.startswith("test")}
    if not tests:
        return
    kind = "case" if is_case else "function"
    bare = copy(node)
    bare.body = [statement for statement in node.body if statement not in tests.values()]
    yield InlineTest(kind, name, node.lineno, (ast.dump(bare),))
    for inner, test in tests.items():
        yield InlineTest(kind, f"{name}.{inner}", test.lineno, (node.name, ast.dump(test)))


def _examples(
    node: ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef, prefix: str
) -> Iterator[InlineTest]:
    """The examples of one docstring, in their order."""
    if node.body:
        yield from _of_examples(ast.get_docstring(node) or "", prefix, node.body[0].lineno)


def _of_examples(text: str, prefix: str, line: int) -> Iterator[InlineTest]:
    """The examples of one text, in their order."""
    if ">>>" not in text:
        return
    try:
        import doctest

        examples = doctest.DocTestParser().get_examples(text)
    except ValueError:  # which doctest would stumble over as well
        return
    if examples:
        content = tuple(f"{example.source}\n{example.want}" for example in examples)
        yield InlineTest("doctest", f"{prefix.rstrip('.')} >>> {examples[0].source.strip()}".strip(), line, content)


def _of_rust(text: str) -> Iterator[InlineTest]:
    """The functions marked as tests, and the modules they are in without them."""
    for start, block in _blocks(_RUST_TEST, text):
        named = _RUST_NAME.search(block)
        yield InlineTest("case", named[1] if named else "test", text.count("\n", 0, start) + 1, (_flat(block),))
    for start, block in _blocks(_RUST_MODULE, text):
        rest = block
        for _, test in _blocks(_RUST_TEST, block):
            rest = rest.replace(test, "")
        flat = _flat(_RUST_USE.sub("", rest))
        yield InlineTest("case", "cfg(test)", text.count("\n", 0, start) + 1, (flat,))


def _blocks(opening: re.Pattern[str], text: str) -> Iterator[tuple[int, str]]:
    """What each match opens with its last brace, up to the brace that closes it; braces in texts count too."""
    for match in opening.finditer(text):
        depth, at = 1, match.end()
        for brace in re.finditer(r"[{}]", text[match.end() :]):
            depth += 1 if brace[0] == "{" else -1
            if not depth:
                at = match.end() + brace.end()
                break
        else:
            at = len(text)
        yield match.start(), text[match.start() : at]


def _flat(text: str) -> str:
    return " ".join(text.split())
