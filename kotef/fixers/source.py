"""A Python file as the fixers read it: tree, masked text and brackets."""

import ast
import re
import warnings
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from functools import cached_property
from typing import Final, Self

from kotef.source import LINE, SourceEdit, SourceText

MAX_BYTES: Final = 1_000_000
"""Larger files are generated or data; no one misspelt a name in them by hand."""

CLOSING: Final = {"(": ")", "[": "]", "{": "}"}

_COOKIE: Final = re.compile(r"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
_STRING: Final = re.compile(
    r"#[^\r\n]*"
    r"|(?<![\w])[rRuUbBfFtT]{0,3}(?:\"\"\"(?:\\.|[^\\])*?\"\"\"|'''(?:\\.|[^\\])*?'''"
    r"|\"(?:\\.|[^\\\"\r\n])*\"|'(?:\\.|[^\\'\r\n])*')",
    re.DOTALL,
)


class PythonText(SourceText):
    """One UTF-8 file as text, lines and tree; the tree is of what compiles, brackets are of any text."""

    path: str

    def __init__(self, path: str, text: str, *, bom: bool = False) -> None:
        super().__init__(text, mark=BOM_UTF8 if bom else b"")
        object.__setattr__(self, "path", path)

    @classmethod
    def of(cls, path: str, content: bytes) -> Self | None:
        """None for what cannot be edited safely: not UTF-8, another encoding declared, or larger than `MAX_BYTES`."""
        if len(content) > MAX_BYTES:
            return None
        bom = content.startswith(BOM_UTF8)
        try:
            text = content[3 * bom :].decode("utf-8")
        except UnicodeDecodeError:
            return None
        declared = next((match[1] for line in text.split("\n")[:2] if (match := _COOKIE.match(line))), "utf-8")
        if not text.isascii() and declared.lower().replace("_", "-") not in {"utf-8", "utf8"}:
            return None
        return cls(path, text, bom=bom)

    @cached_property
    def tree(self) -> ast.Module | None:
        """None when the file does not compile."""
        if syntax_error(self.text) is not None:
            return None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return ast.parse(self.text)

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the tree; empty when there is none."""
        return tuple(ast.walk(self.tree)) if self.tree else ()

    @cached_property
    def masked(self) -> str:
        """The text with strings as `§`, their line ends too, and comments as blanks; reads broken code as well."""
        return _STRING.sub(lambda match: (" " if match[0].startswith("#") else "§") * len(match[0]), self.text)

    @cached_property
    def brackets(self) -> tuple[list[int], int]:
        """Where brackets open that nothing closes, and how many close what was not open."""
        opened, wrong = list[int](), 0
        for match in re.finditer(r"[()\[\]{}]", self.masked):
            if match[0] in CLOSING:
                opened.append(match.start())
            elif opened and CLOSING[self.text[opened[-1]]] == match[0]:
                opened.pop()
            else:
                wrong += 1
        return opened, wrong

    @property
    def content(self) -> bytes:
        """The file as it is on disk."""
        return self.mark + self.text.encode("utf-8")

    def with_text(self, text: str) -> Self:
        """The same file with another text."""
        return type(self)(self.path, text, bom=bool(self.mark))

    def contains(self, word: str) -> bool:
        """Whether the identifier stands anywhere in the text, comments and strings included."""
        return word in self.text and re.search(rf"(?<!\w){re.escape(word)}(?!\w)", self.text) is not None

    def rewritten(self, text: str) -> tuple[SourceEdit, ...]:
        """The edits, line by line, that make the file into `text`."""
        old, new = self.lines, tuple(LINE.findall(text))
        steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
        return tuple(
            SourceEdit(self.path, self.starts[start], self.starts[end], "".join(new[first:last]))
            for what, start, end, first, last in steps
            if what != "equal"
        )

    def merged(self, edits: Iterable[SourceEdit]) -> Self | None:
        """The file with the edits made, equal ones once; None when two of them overlap."""
        try:
            return self.edited(sorted(set(edits)))
        except ValueError:
            return None


def syntax_error(text: str) -> SyntaxError | None:
    """Why the text is not a module, as this interpreter sees it; nothing of it is executed.

    What only the compiler refuses (`return` outside a function) counts; so does a text too deep to be parsed.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(text, "<source>", "exec", dont_inherit=True)
        except SyntaxError as error:
            return error
        except (ValueError, RecursionError, MemoryError, OverflowError) as error:
            return SyntaxError(str(error))
    return None


def shape(text: str) -> tuple[object, ...] | None:
    """What the text means: equal for two texts that differ in layout only; None when it does not compile."""
    if syntax_error(text) is not None:
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return tuple(piece for node in ast.walk(ast.parse(text)) for piece in _shape_of(node))


def _shape_of(node: ast.AST) -> Iterator[object]:
    yield type(node)
    for name, value in ast.iter_fields(node):
        children = value if isinstance(value, list) else [value]
        yield name, tuple(type(child) if isinstance(child, ast.AST) else repr(child) for child in children)
