"""What speaks against an edit that passes: its place, a call it leaves out, an error it hides."""

from pathlib import Path

import pytest
from projects import project, search

from kotef.repair.candidates import Candidate
from kotef.repair.coder import _ended
from kotef.repair.plausibility import Plausibility
from kotef.repair.question import question_of
from kotef.repair.source import PythonSource
from kotef.repair.types import Patch, SearchResult
from kotef.source import SourceEdit

PROGRAM = PythonSource(
    "m.py",
    b"def outer(n):\n    return inner(n)\n\n\ndef inner(n):\n    return 1 // n\n\n\ndef other(n):\n    return n\n",
)
UNITS = {unit.node.name: unit for unit in PROGRAM.units}


def edit(old: str, new: str, name: str) -> Candidate:
    unit = UNITS[name]
    start = PROGRAM.content.index(old.encode(), PROGRAM.span(unit.node)[0])
    return Candidate((SourceEdit("m.py", start, start + len(old), new),), ("x",), 1.7, 1, "", (unit,))


@pytest.mark.parametrize("text", ["other(n)", "n", "abs(n)"])
def test_an_edit_that_leaves_out_the_call_of_the_failing_function_is_doubtful(text: str) -> None:
    near = frozenset({UNITS["outer"], UNITS["inner"]})
    plausibility = Plausibility({"m.py": PROGRAM}, near, [UNITS["outer"], UNITS["inner"]])

    assert "inner" in plausibility.doubt(edit("inner(n)", text, "outer"))
    assert not plausibility.doubt(edit("inner(n)", "inner(n + 1)", "outer"))
    assert not plausibility.doubt(edit("1 // n", "1 / n", "inner"))


@pytest.mark.parametrize(
    ("old", "new", "doubtful"),
    [
        ("self.offset", "self.ZERO", True),
        ("self.offset", "0", True),
        ("self.offset", "None", True),
        ("self.offset", "-self.offset", False),
        ("self.offset", "self.ZERO + self.offset", False),
        ("self.offset", "now()", False),
        ("given", "self.ZERO", False),
        ("1", "2", False),
    ],
)
def test_an_edit_that_takes_from_a_function_what_its_result_depends_on_is_doubtful(
    old: str, new: str, doubtful: bool
) -> None:
    code = "class A:\n    ZERO = 0\n    def f(self, given):\n{}\n"
    body = {"given": "        if given:\n            return given\n        return 1", "1": "        return 1"}
    source = PythonSource("m.py", code.format(body.get(old, f"        return {old}")).encode())
    unit = source.units[0]
    start = source.content.rindex(old.encode())
    candidate = Candidate((SourceEdit("m.py", start, start + len(old), new),), ("x",), 1.7, 1, "", (unit,))
    plausibility = Plausibility({"m.py": source}, frozenset(), ())
    assert ("the same result for every input" in plausibility.doubt(candidate)) == doubtful


@pytest.mark.parametrize(
    ("old", "new", "idle"),
    [
        ("a = b", "a = a", True),
        ("self.a = b", "self.a = self.a", True),
        ("a, b = b, a", "a, b = a, b", True),
        ("a: int = b", "a: int = a", True),
        ("a = g(b) if b < a else 0", "a = g(b) if b < b else 0", True),
        ("a = g(b) if len(b) < a - 1 else 0", "a = g(b) if len(b) < len(b) - 1 else 0", True),
        ("a = g(b) if a + 1 > b else 0", "a = g(b) if b + 1 > b else 0", True),
        ("a = g(a and b)", "a = g(b and b)", True),
        ("a = b", "a = b + 1", False),
        ("a = g(b) if b < a - 1 else 0", "a = g(b) if b < a * b - 1 else 0", False),
        ("a = a\n    b = g(b)", "a = a\n    b = g(a)", False),
    ],
)
def test_an_edit_after_which_a_statement_or_condition_does_nothing_is_doubtful(old: str, new: str, idle: bool) -> None:
    source = PythonSource("m.py", f"def f(self, a, b):\n    {old}\n    return g(self, a, b)\n".encode())
    start = source.content.index(old.encode())
    candidate = Candidate((SourceEdit("m.py", start, start + len(old), new),), ("x",), 1.7, 1, "", (source.units[0],))
    plausibility = Plausibility({"m.py": source}, frozenset(), ())

    assert ("does nothing" in plausibility.doubt(candidate)) == idle


def test_an_edit_away_from_the_failure_ranks_after_one_where_the_tests_fail() -> None:
    plausibility = Plausibility({"m.py": PROGRAM}, frozenset({UNITS["inner"]}), ())
    away, near = edit("inner(n)", "inner(-n)", "outer"), edit("1 // n", "1 // -n", "inner")
    assert plausibility.closest(sorted([away, near], key=plausibility.cost)) == [near]


def test_an_edit_whose_error_is_caught_does_not_stand_before_one_that_works(tmp_path: Path) -> None:
    """Swapped arguments raise, the handler takes the slow way, and every test passes."""
    code = """
def positions(items, wanted):
    return (place for place, item in enumerate(items) if item == wanted)

def last(items, wanted):
    try:
        size = len(items)
        return [size - place - 1 for place in last(reversed(items), wanted)]
    except TypeError:
        pass
    return list(reversed(list(positions(items, wanted))))
"""
    tests = "from m import last\ndef test(): assert last('abcb', 'b') == [3, 1]\ndef test_lazy(): assert last(iter('abcb'), 'b') == [3, 1]\n"
    found = search(project(tmp_path / "p", {"m.py": code, "test_m.py": tests}), seconds=15, stop_after=24)

    assert found.patches
    assert "last(wanted, reversed(items))" not in found.patches[0].files["m.py"].decode()


def test_edits_that_could_not_be_compared_are_put_to_a_person() -> None:
    patches = tuple(Patch("m.py", {}, name, "k", f"in `f` (m.py:1): {name}", 0.5, 1, "") for name in ("a", "b", "c"))
    question = question_of(SearchResult(patches=patches, plausible=3, close=2))
    assert question is not None
    assert list(question.options.values()) == [(patches[0],), (patches[1],)]
    assert question_of(SearchResult(patches=patches, plausible=3, close=1)) is None
    assert question_of(SearchResult(patches=patches, plausible=3, close=2, compared=2)) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (SearchResult(tried=7), "search exhausted: 7 candidates tried"),
        (SearchResult(tried=5, singles=5, space=10, ending="budget"), "50 % of 10 single edits"),
        (SearchResult(tried=5, singles=5, space=10, ending="budget", mode="subprocess"), "out of budget: 5 candidates"),
        (SearchResult(declined="too slow", ending="budget"), "out of budget: too slow; no candidate was tried"),
        (SearchResult(declined="no pytest", ending="cannot run"), "cannot be run here: no pytest"),
    ],
)
def test_the_reason_for_giving_up_is_one_of_four(found: SearchResult, said: str) -> None:
    assert said in _ended(found)
