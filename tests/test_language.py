"""Product code, prompts and documentation are free of the words that read as if translated.

A last resort: a list catches words, not sentences. Read a text aloud before you add a word here.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.source_trees import product_nodes

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
    r"exclude each other": "cannot be combined",
    r"(?:is|are) not [a-z]+ any more": "no longer",
    r"(?:a|an|of|which) [a-z]+ is wanted": "expected",
    r"go(?:es|ing)? on with|went on with": "continue",
    r"in vain": "say what was ignored, or what failed",
}
"""Each word with what to write instead."""

LONGEST = 40
"""Words of a sentence on a page; code, links and asides in parentheses do not count."""

OPENINGS = {
    "As": "`Like x, …`, or say what it is",
    "Of": "name the thing first: `Bytes of a file`",
    "That": "name the thing first: `The reason that …`",
    "Whom": "turn the sentence round",
}
"""First words of a docstring that leave its subject out, with what to write instead."""

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
    for node in product_nodes()[path]:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, re.sub(r"`[^`\n]+`", "", node.value)
    for number, line in enumerate(text.splitlines(), 1):
        _, mark, comment = (
            line.partition("  # ") if not line.lstrip().startswith("# ") else ("", "#", line.lstrip("# "))
        )
        if mark:
            yield number, comment


def sentences(path: Path) -> Iterator[str]:
    """The sentences of a page outside tables; a list item, and a part before a colon or semicolon, is one of its own."""
    text = CODE.sub("x", re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL))
    for block in re.split(r"\n\s*\n|\n(?=\s*[-*|] )|\n(?=\d+\. )", text):
        if not block.lstrip().startswith(("|", "#", "{")):
            plain = re.sub(r"\([^()]*\)", "", " ".join(block.split()))
            yield from re.split(r"(?<=[.!?:;]) +", plain)


def docstrings(path: Path) -> Iterator[tuple[int, str]]:
    """The docstrings of functions, classes and documented values, each with its line."""
    for node in product_nodes()[path]:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Module):
            for statement in node.body:
                if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant):
                    yield statement.lineno, str(statement.value.value)


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


def test_no_sentence_of_a_page_is_too_long() -> None:
    pages = [path for path in TEXTS if path.parent.name not in {"adr", "prompts"}]
    long = [f"{path.name}: {each[:80]}" for path in pages for each in sentences(path) if len(each.split()) > LONGEST]
    assert not long, "make two sentences of each"


def test_a_docstring_begins_with_what_it_is_about() -> None:
    begun = [
        f"{path.relative_to(ROOT)}:{line}: {text.split()[0]}: {OPENINGS[text.split()[0]]}"
        for path in SOURCES
        for line, text in docstrings(path)
        if text.split()[:1] and text.split()[0] in OPENINGS
    ]
    assert not begun


@pytest.mark.parametrize(
    "text",
    [
        "mend the file",
        "written anew",
        "It is no text of ours.",
        "Nobody knows.",
        "of no use",
        "--a and --b exclude each other",
        "it is not run any more",
    ],
)
def test_the_words_are_found(text: str) -> None:
    assert PATTERN.search(text)


@pytest.mark.parametrize(
    "text", ["There is no file of that name.", "It is no longer of interest.", "the amendment", "if no one asks"]
)
def test_plain_words_are_left_alone(text: str) -> None:
    assert not PATTERN.search(text)
