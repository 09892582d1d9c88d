"""A module docstring says what the file holds: it begins with a noun phrase, never with a question."""

import ast
from pathlib import Path

import pytest
from support.source_trees import product_trees

ROOT = Path(__file__).parent.parent

NOT_A_NOUN_PHRASE = frozenset(
    [
        "am",
        "are",
        "at",
        "be",
        "by",
        "can",
        "could",
        "did",
        "do",
        "does",
        "for",
        "from",
        "had",
        "has",
        "have",
        "how",
        "if",
        "in",
        "is",
        "may",
        "might",
        "must",
        "of",
        "on",
        "shall",
        "should",
        "than",
        "that",
        "there",
        "to",
        "under",
        "was",
        "were",
        "what",
        "when",
        "where",
        "whether",
        "which",
        "while",
        "who",
        "whom",
        "whose",
        "why",
        "will",
        "with",
        "would",
    ]
)
"""Words that begin a question, a subordinate clause or a prepositional phrase."""


def wrong(docstring: str | None) -> str:
    """Why a module docstring may not begin like this; empty where it may."""
    if not docstring:
        return "there is no docstring"
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    if "?" in paragraph.split(". ")[0]:
        return "it begins with a question"
    first = paragraph.split()[0].strip("`,:").lower()
    return f"it begins with {first!r}" if first in NOT_A_NOUN_PHRASE else ""


def test_a_module_docstring_begins_with_a_noun_phrase() -> None:
    reasons = {path.relative_to(ROOT): wrong(ast.get_docstring(tree)) for path, tree in product_trees().items()}
    found = [f"{path}: {reason}" for path, reason in reasons.items() if reason]
    assert not found, "\n".join(["say what the file holds, e.g. 'The table of test runners.'", *found])


@pytest.mark.parametrize(
    "docstring",
    [
        "What becomes of a tool call?",
        "In which order do the guards stand, and why?",
        "Of what did a program die?",
        "Who works on a task? Nothing heavy is imported.",
        "Checks: which are there?",
        "",
    ],
)
def test_a_question_is_refused(docstring: str) -> None:
    assert wrong(docstring)


@pytest.mark.parametrize(
    "docstring",
    [
        "The graph: which node works next.",
        "Route between planner, coder and snitch.\n\nWho decides? The verifier.",
        "Packing of a run.",
    ],
)
def test_a_noun_phrase_is_accepted_and_a_question_may_follow(docstring: str) -> None:
    assert not wrong(docstring)
