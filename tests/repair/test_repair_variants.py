"""Variants of tests ask what the code gives for other inputs; questions say what only a person can."""

import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.repair.differential import alike
from kotef.repair.question import narrowed, question_of
from kotef.repair.source import PythonSource
from kotef.repair.types import Disagreement, Patch, SearchResult
from kotef.repair.variants import SAW, Variant, variants

PYTEST = b'''
def test_till():
    """Adds up."""
    till = Till(cents=6)
    till.take(3)
    assert till.cents == 9, "after 3"
'''
UNITTEST = b"""
class TestTill(unittest.TestCase):
    def test_refuses(self):
        self.assertEqual(price([1, 2]), 77)
        self.assertRaises(ValueError, price, [5])
"""


def made(content: bytes, seed: int = 7) -> list[Variant]:
    (unit,) = PythonSource("test_m.py", content).units
    return list(variants(unit, 0, random.Random(seed)))


def test_assertions_become_questions_and_inputs_change() -> None:
    found = made(PYTEST)
    assert len(found) > 4
    for variant in found:
        assert f"{SAW}('till.cents', lambda: till.cents)" in variant.source
        assert "assert" not in variant.source
        assert "9" not in variant.description, "what is expected is not an input"
    assert any(variant.description.startswith("`till.take(3)` ") for variant in found)
    assert any(variant.description.endswith(" in place of `6`") for variant in found)


def test_unittest_methods_ask_too_inside_their_class() -> None:
    found = made(UNITTEST)
    assert found
    for variant in found:
        assert variant.source.startswith("class TestTill:\n\n    def test_refuses(self):")
        assert variant.source.count(SAW) == 2
        assert "77" not in variant.source


@pytest.mark.parametrize(
    "content",
    [
        b"def test_it():\n    run(3)\n",
        b"def test_it():\n    assert (n := 3) == count()\n",
        b"async def test_it():\n    assert await go(3) == 4\n",
    ],
)
def test_a_test_without_an_assertion_that_can_be_asked_has_no_variant(content: bytes) -> None:
    assert made(content) == []


@given(st.integers(), st.sampled_from([PYTEST, UNITTEST]))
def test_every_variant_is_a_program_that_differs(seed: int, content: bytes) -> None:
    sources = [variant.source for variant in made(content, seed)]
    assert len(set(sources)) == len(sources)
    assert all(ast.parse(source) for source in sources)


def patch(diff: str, doubt: str = "") -> Patch:
    return Patch("m.py", {"m.py": b""}, diff, "comparison", "in `f` (m.py:1): `<` → `<=`", 0.5, 1, doubt)


def test_each_answer_leaves_the_patches_that_agree_with_it() -> None:
    differ = Disagreement("f(1)", "in test_m.py::test_f, with `1` in place of `2`", ("3", "4", "3"))
    found = SearchResult(patches=(patch("a"), patch("b"), patch("c")), disagreements=(differ,))
    question = question_of(found)
    assert question is not None
    assert question.text.endswith("in test_m.py::test_f, with `1` in place of `2`, should f(1) be 3 or 4?")
    assert {answer: [each.diff for each in left] for answer, left in question.options.items()} == {
        "3": ["a", "c"],
        "4": ["b"],
    }


def test_an_unlikely_edit_is_asked_about_and_a_usual_one_is_not() -> None:
    assert question_of(SearchResult(patches=(patch("a"),))) is None
    assert question_of(SearchResult()) is None
    question = question_of(SearchResult(patches=(patch("a", doubt="two edits at once"), patch("b"))))
    assert question is not None
    assert "only an unlikely edit passes every test (two edits at once)" in question.text


def test_an_answer_leaves_what_agrees_with_it_and_the_questions_still_open() -> None:
    first = Disagreement("f(1)", "", ("3", "4", "3"))
    second = Disagreement("f(2)", "", ("5", "9", "6"))
    third = Disagreement("f(3)", "", ("7", "8", "7"))
    found = SearchResult(patches=(patch("a"), patch("b"), patch("c")), disagreements=(first, second, third))
    left = narrowed(found, "3")
    assert [each.diff for each in left.patches] == ["a", "c"]
    assert left.disagreements == (Disagreement("f(2)", "", ("5", "6")),)
    assert narrowed(left, "6").patches == (patch("c"),)


def test_where_objects_lie_in_memory_is_no_disagreement() -> None:
    assert len(set(alike(("'140348725686032'", "'140348722076944'")))) == 1
    assert len(set(alike(("<C object at 0x7fa51c2d40>", "<C object at 0x7fa51c2e80>")))) == 1
    assert len(set(alike(("140348725686032", "140348722076944")))) == 1
    assert len(set(alike(("<C object at 0x7fa51c2d40>", "<D object at 0x7fa51c2d40>")))) == 2
    assert len(set(alike(("123456789012345678", "123456789012345679")))) == 2


def test_answers_that_pass_the_same_assertions_are_no_disagreement() -> None:
    assert alike(("0", "False", "0.0")) == ("0", "0", "0")
    assert alike(("1", "0", "True", "raises ValueError", "[0]", "'0'")) == (
        "1",
        "0",
        "1",
        "raises ValueError",
        "[0]",
        "'0'",
    )
