"""Product code, prompts and documentation are free of the words that read as if translated.

A last resort: a list catches words, not sentences. Read a text aloud before you add a word here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = ("*.md", "docs/*.md", "prompts/*.md", "kotef/*/README.md", ".sdd/*.md", ".sdd/adr/*.md")
TEXTS = sorted(path for pattern in PAGES for path in ROOT.glob(pattern))
SOURCES = sorted((ROOT / "kotef").rglob("*.py"))

WORDS = {
    r"anew": "again; `rewrite`, `rebuild`",
    r"mend(?:s|ed|ing)?": "fix, repair",
    r"whom": "turn the sentence round",
    r"thereof|therein|whereof|hitherto": "of it, in it",
    r"somebody|nobody": "someone, no one; better: name the person or the thing",
    r"nothing but": "only",
    r"but for": "except for",
    r"of no use": "useless; say what failed",
    r"(?<!there )(?<!There )(?:is|are|was|were) no (?!longer\b|more\b|other\b|one\b|less\b|way\b|matter\b)[a-z]+ of": "is not a … of",
    r"not to be had|cannot be had": "not available",
    r"spoke nonsense": "returned invalid responses",
}
"""Each word with what to write instead."""

EXCEPTIONS: dict[str, dict[str, str]] = {}
"""File → word → why it stays there, such as the output of another tool."""

PATTERN = re.compile(rf"\b(?:{'|'.join(WORDS)})\b", re.IGNORECASE)
CODE = re.compile(r"```.*?^\s*```$|`[^`\n]+`", re.DOTALL | re.MULTILINE)


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """What people read of a file, each text with its line: of Python the literals and comments, without code in backticks."""
    text = path.read_text()
    if path.suffix != ".py":
        yield from enumerate(CODE.sub(lambda code: "\n" * code[0].count("\n"), text).splitlines(), 1)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, re.sub(r"`[^`\n]+`", "", node.value)
    for number, line in enumerate(text.splitlines(), 1):
        _, mark, comment = (
            line.partition("  # ") if not line.lstrip().startswith("# ") else ("", "#", line.lstrip("# "))
        )
        if mark:
            yield number, comment


def found(paths: list[Path]) -> list[str]:
    hits = []
    for path in paths:
        name = path.relative_to(ROOT).as_posix()
        for number, text in prose(path):
            hits += [f"{name}:{number}: {m[0]}" for m in PATTERN.finditer(text) if m[0] not in EXCEPTIONS.get(name, {})]
    return hits


def test_product_code_is_in_plain_english() -> None:
    assert not found(SOURCES), "see WORDS for what to write instead"


def test_prompts_and_documentation_are_in_plain_english() -> None:
    assert not found(TEXTS), "see WORDS for what to write instead"


@pytest.mark.parametrize(
    "text", ["mend the file", "written anew", "It is no text of ours.", "Nobody knows.", "of no use"]
)
def test_the_words_are_found(text: str) -> None:
    assert PATTERN.search(text)


@pytest.mark.parametrize(
    "text", ["There is no file of that name.", "It is no longer of interest.", "the amendment", "if no one asks"]
)
def test_plain_words_are_left_alone(text: str) -> None:
    assert not PATTERN.search(text)
