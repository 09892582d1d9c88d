"""Canaries: a test file with one extra test that must fail, to see whether a runner reports it."""

import ast
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from kotef.integrity.probes.oracles.near_values import random_word
from kotef.integrity.probes.oracles.python_tests import python_test
from kotef.integrity.probes.oracles.regions import Region, callee, region_of, test_calls
from kotef.integrity.probes.oracles.selection import names_below
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText, dialect_of
from kotef.integrity.probes.source_text import parsed
from kotef.source import SourceText, TextEdit

_SHELL: Final = (".sh", ".bash", ".bats")
_SHELL_LINE: Final = re.compile(rb"#!.*\b(?:ba|da|z|k)?sh\b")
_SHELL_EXIT: Final = re.compile(r"^exit\b.*$", re.MULTILINE)
_ENDS: Final = (ast.Return, ast.Raise, ast.While, ast.Yield, ast.YieldFrom)
_TAP: Final = re.compile(r"""["'](?:tape|tap|ava|node:test)["']""")


@dataclass(frozen=True, slots=True)
class Canary:
    """A test file with a test added that must fail, or, where tests must be registered, with a failing line."""

    content: bytes
    """The whole test file."""
    name: str
    """Last part of the id under which it must be listed red."""


@dataclass(frozen=True, slots=True)
class _Addition:
    at: int
    text: str
    name: str


def canary(path: str, content: bytes, *, beside: str, seed: int) -> Canary | None:
    """The file with a canary beside the test of this id, by its conventions; None if they are not known."""
    chance = random.Random(f"{seed} {path} {beside}")  # noqa: S311 - the seed is the secret
    names = names_below(path, beside)
    if path.endswith((".py", ".pyi")):
        source = SourceText.of_python(content)
        addition = _python(source, names, chance) if source else None
    else:
        source = SourceText.of_bytes(content)
        dialect = dialect_of(path)
        if dialect and source:
            addition = _of_tokens(source, dialect, names, chance)
        elif source and (path.endswith(_SHELL) or _SHELL_LINE.match(content)):
            addition = _shell(source, names)
        else:
            addition = None
    if source is None or addition is None:
        return None
    text = re.sub(r"\r?\n", source.newline, addition.text)
    changed = source.edited([TextEdit(addition.at, addition.at, text)]).encoded()
    return Canary(changed, addition.name) if changed is not None else None


def _beside(name: str, chance: random.Random) -> str:
    """A name that a runner takes for a test where it takes the other for one: by its beginning, or by its end."""
    plain = re.split(r"[\[({ ]", name)[0]
    word = random_word(chance)
    return (
        f"{word}_{plain}"
        if re.search(r"(?i)test$", plain) and not plain.lower().startswith("test")
        else f"{plain}_{word}"
    )


# -- Python


def _python(source: SourceText, names: Sequence[str], chance: random.Random) -> _Addition | None:
    """An assertion in the test itself, at its end, or in front where it may end early.

    A judge may be deaf to the name of one test, and hear another.
    """
    tree = parsed(source.text)
    test = python_test(tree, names) if tree else None
    if test is None:
        return None
    first, last = test.function.body[0], test.function.body[-1]
    indent = source.text[source.offset(first.lineno, 0) : source.span(first)[0]]
    if indent.strip() or not indent:  # `def test(): …` on one line
        return None
    low, high = chance.randint(2, 40), chance.randint(41, 97)
    line = f"{indent}assert {low} == {high}\n"
    ends_early = any(isinstance(node, _ENDS) for node in ast.walk(test.function))
    if ends_early:
        return _Addition(source.offset(first.lineno, 0), line, names[-1])
    end_line = last.end_lineno or last.lineno
    return _Addition(source.line_starts[end_line - 1] + len(source.line(end_line)), f"\n{line.rstrip()}", names[-1])


# -- languages with brackets


def _of_tokens(source: SourceText, dialect: Dialect, names: Sequence[str], chance: random.Random) -> _Addition | None:
    tokens = TokenText.of(dialect, source.text)
    region = region_of(tokens, names) if tokens else None
    if tokens is None or region is None:
        return None
    return _WRITERS[dialect](source, tokens, region, names, chance)


def _javascript(
    source: SourceText, tokens: TokenText, region: Region, names: Sequence[str], chance: random.Random
) -> _Addition | None:
    """A test at the end of the file, made as the tests of the file are made."""
    if re.search(r"\.only\(", source.text):
        return None
    heads = {opening: callee(tokens, opening) for opening, _ in test_calls(tokens)}
    head = heads.get(region[0], "")
    if not re.fullmatch(r"(?:test|it|specify|t\.test|\w+\.(?:test|it))", head):
        return None
    outer = [opening for opening in heads if opening < region[0] < tokens.partner[opening]]
    if outer and (head.startswith("t.") or "." in head):
        head = heads[outer[0]]
    if head in {"describe", "suite", "context"}:
        return None
    title = f"{names[-1]} {random_word(chance)}"
    quoted = '"' + title.replace("\\", "\\\\").replace('"', '\\"') + '"'
    found = _TAP.search(source.text)
    library = found[0].strip("\"'") if found else ""
    bodies = {
        "tape": "(t) => { t.fail(); t.end(); }",
        "tap": "(t) => { t.fail(); t.end(); }",
        "ava": "(t) => { t.fail(); }",
    }
    body = bodies.get(library, f'() => {{ throw new Error("{random_word(chance)}"); }}')
    return _Addition(len(source.text), f"\n{head}({quoted}, {body});\n", title)


def _go(source: SourceText, _: TokenText, __: Region, names: Sequence[str], chance: random.Random) -> _Addition | None:
    if not re.search(r'^\s*(?:import\s+)?"testing"', source.text, re.MULTILINE):
        return None
    name = _beside(names[0].partition("/")[0], chance)
    text = f'\n\nfunc {name}(t *testing.T) {{\n\tt.Error("{random_word(chance)}")\n}}\n'
    return _Addition(len(source.text), text, name)


def _rust(
    _: SourceText, tokens: TokenText, region: Region, names: Sequence[str], chance: random.Random
) -> _Addition | None:
    name = _beside(names[-1], chance)
    low, high = chance.randint(2, 40), chance.randint(41, 97)
    return _Addition(_end(tokens, region), f"\n\n#[test]\nfn {name}() {{\n    assert_eq!({low}, {high});\n}}\n", name)


def _java(
    source: SourceText, tokens: TokenText, region: Region, names: Sequence[str], chance: random.Random
) -> _Addition | None:
    """A method behind the test: annotated where the file has annotated tests, else by its name."""
    name = _beside(names[-1], chance)
    found = re.search(r"@(?:org\.junit\.(?:jupiter\.api\.)?)?Test\b", source.text)
    mark = f"    {found[0]}\n" if found else ""
    word = random_word(chance)
    if tokens.dialect == "kotlin":
        text = f'\n\n{mark}    fun {name}() {{\n        throw AssertionError("{word}")\n    }}\n'
    else:
        text = f'\n\n{mark}    public void {name}() {{\n        throw new AssertionError("{word}");\n    }}\n'
    return _Addition(_end(tokens, region), text, name)


def _php(
    _: SourceText, tokens: TokenText, region: Region, names: Sequence[str], chance: random.Random
) -> _Addition | None:
    name = _beside(names[-1], chance)
    text = f"\n\n    public function {name}(): void\n    {{\n        $this->fail('{random_word(chance)}');\n    }}\n"
    return _Addition(_end(tokens, region), text, name)


def _c(
    source: SourceText, tokens: TokenText, region: Region, names: Sequence[str], chance: random.Random
) -> _Addition | None:
    """A test of GoogleTest or Catch after the other; else a failing line, because tests in C are registered by hand."""
    word = random_word(chance)
    head = callee(tokens, tokens.partner[region[0] - 2]) if tokens.is_sign(region[0] - 2, ")") else ""
    if re.fullmatch(r"TEST(?:_F)?", head) and "." in names[-1]:
        group, _, test = names[-1].rpartition(".")
        name = f"{test}{word.title()}"
        return _Addition(_end(tokens, region), f"\n\n{head}({group}, {name}) {{\n  FAIL();\n}}\n", f"{group}.{name}")
    if head == "TEST_CASE":
        text = f'\n\nTEST_CASE("{word}") {{\n  REQUIRE(1 == 2);\n}}\n'
        return _Addition(_end(tokens, region), text, word)
    main = region_of(tokens, ["main"])
    if main is None or region != (0, len(tokens.tokens)):
        return None
    returns = [at for at in tokens.inside(*main) if tokens.is_word(at, "return")]
    if not returns or not tokens.is_sign(returns[-1] - 1, ";", "}", "{") or source.text.count("main(") != 1:
        return None
    return _Addition(tokens.tokens[returns[-1]].start, "if (1) return 1;\n    ", names[-1])


def _end(tokens: TokenText, region: Region) -> int:
    """Behind the bracket that closes the test."""
    return tokens.tokens[region[1]].end


_Writer = Callable[[SourceText, TokenText, Region, Sequence[str], random.Random], _Addition | None]
_WRITERS: Final[dict[Dialect, _Writer]] = {
    "javascript": _javascript,
    "typescript": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _java,
    "kotlin": _java,
    "php": _php,
    "c": _c,
}


# -- scripts


def _shell(source: SourceText, names: Sequence[str]) -> _Addition | None:
    """A last failing line: in front of an `exit` that ends the script, else behind everything."""
    if "@test " in source.text:  # bats: its tests have a list
        return None
    ends = list(_SHELL_EXIT.finditer(source.text))
    if ends and not source.text[ends[-1].end() :].strip():
        return _Addition(ends[-1].start(), "exit 1\n", names[-1])
    front = "" if source.text.endswith("\n") else "\n"
    return _Addition(len(source.text), f"{front}exit 1\n", names[-1])
