"""Names that a test takes from its language, the C library or the shell, and that a change of the product redefines."""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, NamedTuple

from kotef.integrity.probes.oracles.assertion_table import FORMS
from kotef.integrity.probes.oracles.tokens import Dialect, TokenText, dialect_of
from kotef.source import SourceText

_GO: Final = frozenset(
    re.findall(
        r"\S+",
        """
        any bool byte comparable complex64 complex128 error float32 float64 int int8 int16 int32 int64 rune
        string uint uint8 uint16 uint32 uint64 uintptr true false iota nil append cap clear close complex
        copy delete imag len make max min new panic print println real recover
        """,
    )
)
"""What the specification of Go declares in the universe block."""
_JAVASCRIPT: Final = frozenset(
    re.findall(
        r"\S+",
        """
        AggregateError Array ArrayBuffer BigInt Boolean DataView Date Error EvalError Float32Array
        Float64Array Function Infinity Int8Array Int16Array Int32Array Intl Iterator JSON Map Math NaN
        Number Object Promise Proxy RangeError ReferenceError Reflect RegExp Set String Symbol SyntaxError
        TypeError URIError Uint8Array Uint16Array Uint32Array WeakMap WeakRef WeakSet decodeURI
        decodeURIComponent encodeURI encodeURIComponent eval isFinite isNaN parseFloat parseInt undefined
        """,
    )
)
"""Properties of the global object in the specification of ECMAScript."""
_C: Final = frozenset(
    re.findall(
        r"\S+",
        """
        if else for while do switch return int char long short float double const static struct sizeof NULL
        true false EXIT_SUCCESS EXIT_FAILURE
        """,
    )
)
"""Words of C, and constants of its library, that a macro can redefine."""

_SHELL_JUDGES: Final = frozenset(
    re.findall(
        r"\S+",
        """
        [ test true false diff cmp grep egrep fgrep exit return break eval exec set trap unset command
        builtin echo printf cat
        """,
    )
)
"""Commands by which a script compares, prints and ends."""

_DEFINE: Final = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
_FUNCTION: Final = re.compile(r"^(?!static\b)[A-Za-z_][\w \t*]*[ \t*](\w+)[ \t]*\([^;{}]*\)\s*\{", re.MULTILINE)
_INCLUDED: Final = re.compile(r"^[ \t]*#[ \t]*include[ \t]*\"(?:[^\"\n]*/)?([^\"/\n]+)\"", re.MULTILINE)
_GLOBAL: Final = re.compile(
    r"\b(?:globalThis|global|window|self)(?:\.(\w+)|\[[\"'`](\w+)[\"'`]\])\s*=(?!=)"
    r"|\bdefineProperty\(\s*(?:globalThis|global|window)\s*,\s*[\"'`](\w+)"
)
_SHELL_FUNCTION: Final = re.compile(
    r"^[ \t]*(?:function[ \t]+)?([\w.:\[-]+)[ \t]*\(\)|(?:^|[;&|]|\bthen\b)[ \t]*alias[ \t]+([\w.:\[-]+)=", re.MULTILINE
)
_SHELL: Final = (".sh", ".bash")


class RedefinedName(NamedTuple):
    """A word of the tests that means something else since the change."""

    name: str
    path: str
    """The changed file that defines it."""
    line: int
    text: str


def redefined_names(
    test: str,
    content: bytes,
    changes: Mapping[str, tuple[bytes, bytes]],
    *,
    is_of_system: Callable[[str], bool],
) -> Iterator[RedefinedName]:
    """Names in a test that the changed files define now and did not before.

    `changes` gives each file as before (empty if new) and after the change. `is_of_system` says whether the C library
    has a function. None if the test could not be compiled before, because a header of its own was missing.
    """
    dialect = _dialect(test, content)
    words = _words(dialect, content).difference(name for name, _ in _definitions(dialect, content))
    new = {path.rpartition("/")[2] for path, (before, _) in changes.items() if not before}
    if dialect == "c" and new.intersection(_INCLUDED.findall(content.decode(errors="replace"))):
        return
    for path, (before, after) in changes.items():
        if not words or _dialect(path, after) != dialect or not _is_visible(dialect, test, path):
            continue
        old = {name for name, _ in _definitions(dialect, before)}
        source = SourceText.of_bytes(after)
        for name, at in _definitions(dialect, after):
            if name in words and name not in old and source and _is_given(dialect, name, is_of_system):
                line = source.line_at(at)
                yield RedefinedName(name, path, line, source.line(line).strip())


def _dialect(path: str, content: bytes) -> Dialect | str | None:
    if path.endswith(_SHELL) or (re.match(rb"#!.*\b(?:ba|da|z|k)?sh\b", content) is not None):
        return "shell"
    found = dialect_of(path)
    return "javascript" if found == "typescript" else found


def _is_visible(dialect: str | None, test: str, path: str) -> bool:
    """Whether a definition in the file can be what the test's word means: in Go, only in its own package."""
    return dialect != "go" or test.rpartition("/")[0] == path.rpartition("/")[0]


def _is_given(dialect: str | None, name: str, is_of_system: Callable[[str], bool]) -> bool:
    """Whether the word has a meaning that no file of the workspace gives it."""
    match dialect:
        case "go":
            return name in _GO
        case "javascript":
            return name in _JAVASCRIPT
        case "rust":
            return _asserts("rust", f"{name}!")
        case "c":
            return name in _C or _asserts("c", name) or is_of_system(name)
        case _:
            return name in _SHELL_JUDGES


def _asserts(dialect: Dialect, called: str) -> bool:
    return any(dialect in form.dialects and form.called.fullmatch(called) for form in FORMS)


def _words(dialect: str | None, content: bytes) -> frozenset[str]:
    """Words that a test uses by themselves, not as a part of something else."""
    source = SourceText.of_bytes(content)
    if source is None or dialect not in {"go", "javascript", "rust", "c", "shell"}:
        return frozenset()
    if dialect == "shell":
        return frozenset(re.findall(r"(?<![\w./$-])[\w.:\[-]+", source.text))
    tokens = TokenText.of(_as_dialect(dialect), source.text)
    count = len(tokens.tokens) if tokens else 0
    return frozenset(
        tokens.text(at)
        for at in range(count)
        if tokens and tokens.is_word(at) and not tokens.is_sign(at - 1, ".", "->", "::")
    )


def _as_dialect(name: str) -> Dialect:
    dialects: dict[str, Dialect] = {"go": "go", "javascript": "typescript", "rust": "rust", "c": "c"}
    return dialects[name]


def _definitions(dialect: str | None, content: bytes) -> Iterator[tuple[str, int]]:
    """Names that a file defines for others, with their offset."""
    text = content.decode(errors="replace")
    patterns = {
        "javascript": (_GLOBAL,),
        "c": (_DEFINE, _FUNCTION),
        "rust": (re.compile(r"\bmacro_rules!\s*(\w+)"),),
        "shell": (_SHELL_FUNCTION,),
    }.get(dialect or "", ())
    for pattern in patterns:
        for found in pattern.finditer(text):
            name = next((group for group in found.groups() if group), "")
            yield name, found.start(found.lastindex or 0)
    if dialect == "go":
        yield from _of_package(text)


def _of_package(text: str) -> Iterator[tuple[str, int]]:
    """Names that a file of Go declares for its package."""
    tokens = TokenText.of("go", text)
    if tokens is None:
        return
    for at in range(len(tokens.tokens)):
        if tokens.enclosing[at] == -1 and tokens.is_word(at, "func", "const", "var", "type"):
            named = (n for n in _declared_by(text, tokens, at) if tokens.is_word(n))
            yield from ((tokens.text(n), tokens.tokens[n].start) for n in named)


def _declared_by(text: str, tokens: TokenText, at: int) -> Iterator[int]:
    """What a declaration names: the word behind it, or the first word of each line of a group; no methods."""
    if not tokens.is_sign(at + 1, "("):
        yield at + 1
    elif not tokens.is_word(at, "func"):
        closing = tokens.partner[at + 1]
        yield from (n for n in tokens.inside(at + 2, closing) if _begins_line(text, tokens, n))


def _begins_line(text: str, tokens: TokenText, at: int) -> bool:
    return "\n" in text[tokens.tokens[at - 1].end : tokens.tokens[at].start] or tokens.is_sign(at - 1, "(", ";")
