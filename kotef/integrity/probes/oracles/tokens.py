"""A small tokeniser for languages with brackets: words, numbers, strings and punctuation, without comments."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal, Self

Dialect = Literal["javascript", "typescript", "go", "rust", "java", "kotlin", "c", "php"]

_SUFFIXES: Final[dict[str, Dialect]] = {
    ".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescript",
    ".go": "go", ".rs": "rust", ".java": "java", ".kt": "kotlin", ".php": "php",
    ".c": "c", ".h": "c", ".cc": "c", ".cpp": "c", ".cxx": "c", ".c++": "c", ".hpp": "c",
}  # fmt: skip
_COMMENT: Final = r"//[^\n]*|/\*.*?\*/"
_SINGLE: Final = r"'(?:\\.|[^'\\\n])*'"
_DOUBLE: Final = r'"(?:\\.|[^"\\\n])*"'
_LONG: Final = r'"(?:\\.|[^"\\])*"'
_BACKTICK: Final = r"`(?:\\.|[^`\\])*`"
_CHARACTER: Final = r"'(?:\\(?:u\{[^}]*\}|[^'\n]+?|')|[^'\\\n])'"
_TEXTS: Final[dict[Dialect, str]] = {
    "javascript": f"{_SINGLE}|{_DOUBLE}|{_BACKTICK}",
    "typescript": f"{_SINGLE}|{_DOUBLE}|{_BACKTICK}",
    "go": f"`[^`]*`|{_DOUBLE}|{_CHARACTER}",
    "rust": rf'b?r(?P<hashes>#*)".*?"(?P=hashes)|b?{_LONG}|b?{_CHARACTER}',
    "java": rf'"""(?:\\.|[^\\])*?"""|{_DOUBLE}|{_CHARACTER}',
    "kotlin": rf'""".*?"""|{_DOUBLE}|{_CHARACTER}|{_BACKTICK}',
    "c": rf"(?:u8|[LuU])?(?:{_DOUBLE}|{_CHARACTER})",
    "php": f"'(?:\\\\.|[^'\\\\])*'|{_LONG}",
}
_EXTRA_COMMENT: Final[dict[Dialect, str]] = {"php": r"|#(?!\[)[^\n]*", "c": r"|^[ \t]*#(?:\\\r?\n|[^\n])*"}
_NUMBER: Final = r"0[xXbBoO][\da-fA-F_]+\w*|(?:\d[\d_]*(?:\.(?!\.)(?:\d[\d_]*)?)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?\w*"
_SIGNS: Final = r"===|!==|<=>|==|!=|<=|>=|&&|\|\||=>|->|::|:=|\.\.\.|\.\.=|\?\.|<<|[^\s\w]"
_REGEX: Final = re.compile(r"/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
_PAIRS: Final = {")": "(", "]": "[", "}": "{"}
_BEFORE_REGEX: Final = frozenset({"return", "typeof", "case", "in", "of", "delete", "void", "throw", "await", "yield"})


@dataclass(frozen=True, slots=True)
class Token:
    """One token with its place in the text."""

    kind: Literal["word", "number", "text", "sign"]
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class TokenText:
    """The tokens of one file, brackets paired."""

    dialect: Dialect
    tokens: tuple[Token, ...]
    partner: dict[int, int]
    """Index of the closing bracket by that of the opening one, and the other way round."""

    @classmethod
    def of(cls, dialect: Dialect, text: str) -> Self | None:
        """The tokens; None if the brackets do not fit each other, so that something was misread."""
        tokens = tuple(_tokens(dialect, text))
        partner: dict[int, int] = {}
        opened: list[int] = []
        for at, token in enumerate(tokens):
            if token.kind != "sign":
                continue
            if token.text in "([{":
                opened.append(at)
            elif token.text in _PAIRS:
                if not opened or tokens[opened[-1]].text != _PAIRS[token.text]:
                    return None
                partner[at] = opened.pop()
                partner[partner[at]] = at
        return None if opened else cls(dialect, tokens, partner)

    @cached_property
    def enclosing(self) -> list[int]:
        """For each token the index of the innermost bracket around it; -1 for none."""
        around: list[int] = []
        stack = [-1]
        for at, token in enumerate(self.tokens):
            if self.is_sign(at) and token.text in _PAIRS:
                stack.pop()
            around.append(stack[-1])
            if self.is_sign(at) and token.text in "([{":
                stack.append(at)
        return around

    def is_sign(self, at: int, *texts: str) -> bool:
        """Whether there is a sign at this index, one of these if any are named."""
        if not 0 <= at < len(self.tokens) or self.tokens[at].kind != "sign":
            return False
        return not texts or self.tokens[at].text in texts

    def is_word(self, at: int, *texts: str) -> bool:
        """Whether there is a word at this index, one of these if any are named."""
        if not 0 <= at < len(self.tokens) or self.tokens[at].kind != "word":
            return False
        return not texts or self.tokens[at].text in texts

    def text(self, at: int) -> str:
        """The token at this index; empty outside."""
        return self.tokens[at].text if 0 <= at < len(self.tokens) else ""

    def inside(self, start: int, end: int) -> Iterator[int]:
        """Indices from `start` up to `end`, without what is in brackets that open there."""
        at = start
        while at < end:
            yield at
            at = self.partner[at] if self.is_sign(at, "(", "[", "{") else at + 1

    def split(self, start: int, end: int, *signs: str) -> list[tuple[int, int]]:
        """The parts between these signs, brackets left whole; a last empty part is none."""
        parts: list[tuple[int, int]] = []
        begun = start
        for at in self.inside(start, end):
            if self.is_sign(at, *signs):
                parts.append((begun, at))
                begun = at + 1
        return [*parts, (begun, end)] if begun < end else parts

    def arguments(self, opening: int) -> list[tuple[int, int]]:
        """The arguments between a bracket and its partner."""
        return self.split(opening + 1, self.partner[opening], ",")


def dialect_of(path: str) -> Dialect | None:
    """The dialect of a file by its ending."""
    return _SUFFIXES.get(path[path.rfind(".") :].lower()) if "." in path else None


def _tokens(dialect: Dialect, text: str) -> Iterator[Token]:
    comment = _COMMENT + _EXTRA_COMMENT.get(dialect, "")
    pattern = re.compile(
        rf"(?P<skip>\s+|{comment})|(?P<literal>{_TEXTS[dialect]})|(?P<number>{_NUMBER})|(?P<word>[\w$]+)|(?P<sign>{_SIGNS})",
        re.DOTALL | re.MULTILINE,
    )
    before: Token | None = None
    at = 0
    while at < len(text):
        found = None
        if dialect in {"javascript", "typescript"} and text[at] == "/" and _may_begin_regex(before):
            found = _REGEX.match(text, at)
        if found:
            before = Token("sign", found[0], found.start(), found.end())
            yield before
            at = found.end()
            continue
        found = pattern.match(text, at)
        if found is None:
            return
        at = max(found.end(), at + 1)
        if found["skip"] is None:
            before = _token(found)
            yield before


def _token(found: re.Match[str]) -> Token:
    start, end = found.span()
    if found["literal"] is not None:
        return Token("text", found[0], start, end)
    if found["number"] is not None:
        return Token("number", found[0], start, end)
    return Token("word" if found["word"] is not None else "sign", found[0], start, end)


def _may_begin_regex(before: Token | None) -> bool:
    if before is None:
        return True
    if before.kind == "word":
        return before.text in _BEFORE_REGEX
    return before.kind == "sign" and before.text not in {")", "]", "}"}
