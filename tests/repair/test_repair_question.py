"""Which passing edits are rivals, what a person is asked about them, and in which words."""

import ast
import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from projects import project, search
from support.example_count import example_count

from kotef.repair.arguments import around, generated, like, varied
from kotef.repair.candidates import Candidate, needed, pair
from kotef.repair.phrase import answers_of, choice_of, phrase_of
from kotef.repair.question import question_of
from kotef.repair.source import PythonSource
from kotef.repair.types import Disagreement, Patch, SearchResult
from kotef.source import SourceEdit

ACCOUNT = """class Account:
    def __init__(self, owner, overdraft=0):
        self.owner = owner
        self.overdraft = overdraft
        self.balance = 0

    def deposit(self, amount):
        self.balance += amount

    def may_pay(self, amount):
        return amount {} self.balance + self.overdraft

    def pay(self, amount):
        if not self.may_pay(amount):
            raise ValueError("not enough money")
        self.balance -= amount
"""
THROUGH_A_FRAME = """import pytest
from bank import Account

def test_all():
    account = Account("ann")
    account.deposit(100)
    account.pay(100)
    assert account.balance == 0

def test_overdraft():
    account = Account("bob", overdraft=500)
    account.pay(500)
    assert account.balance == -500

def test_too_much():
    with pytest.raises(ValueError):
        Account("eve", overdraft=10).pay(20)
"""
IN_THE_TEST = """from bank import Account

def test_overdraft():
    account = Account("bob", overdraft=500)
    allowed = account.may_pay(500)
    assert allowed
    assert not account.may_pay(600)
"""


@pytest.mark.parametrize("tests", [THROUGH_A_FRAME, IN_THE_TEST], ids=["through a frame", "in the test"])
def test_a_flipped_comparison_where_the_test_fails_is_not_asked_about_for_an_edit_elsewhere(
    tmp_path: Path, tests: str
) -> None:
    root = project(tmp_path / "p", {"bank.py": ACCOUNT.format("<"), "test_bank.py": tests})

    found = search(root, seconds=15, stop_after=8)

    assert found.plausible > 1, "edits elsewhere pass as well"
    assert found.patches[0].files["bank.py"].decode() == ACCOUNT.format("<=")
    assert question_of(found) is None


def unit_called(name: str) -> object:
    source = PythonSource("bank.py", ACCOUNT.format("<").encode())
    return next(unit for unit in source.units if unit.node.name == name)


@pytest.mark.parametrize(
    ("name", "literal", "given", "call"),
    [
        (
            "may_pay",
            "{'self': {'owner': 'bob', 'overdraft': 500, 'balance': 0}, 'amount': 500}",
            "With Account('bob', overdraft=500)",
            "may_pay(500)",
        ),
        (
            "may_pay",
            "{'self': {'owner': 'bob', 'overdraft': 0, 'balance': 7}, 'amount': 5}",
            "With Account('bob') and balance 7",
            "may_pay(5)",
        ),
        ("may_pay", "{'self': {'limit': 3}, 'amount': 5}", "With an Account of limit 3", "may_pay(5)"),
        ("__init__", "{'self': {}, 'owner': 'bob', 'overdraft': 2}", "", "Account('bob', overdraft=2)"),
    ],
)
def test_a_call_is_put_as_a_person_would_write_it(name: str, literal: str, given: str, call: str) -> None:
    phrase = phrase_of(unit_called(name), literal)  # type: ignore[arg-type]
    assert (phrase.given, phrase.call) == (given, call)


@pytest.mark.parametrize(
    ("results", "answers", "choice"),
    [
        (("True", "False"), ("True", "False"), "return True or False"),
        (("5", "raises ValueError"), ("5", "raises ValueError"), "return 5 or raise ValueError"),
        (("5", "it does not finish"), ("5", "it does not finish"), "return 5 or not end"),
        (
            ("5 with arguments left as {'self': {'n': 1}}", "6 with arguments left as {'self': {'n': 2}}"),
            ("5", "6"),
            "return 5 or 6",
        ),
        (
            (
                "None with arguments left as {'self': {'n': 1, 'm': 0}, 'k': 3}",
                "None with arguments left as {'self': {'n': 2, 'm': 0}, 'k': 3}",
            ),
            ("n 1", "n 2"),
            "leave n 1 or n 2",
        ),
    ],
)
def test_answers_tell_what_differs_and_no_more(results: tuple[str, ...], answers: tuple[str, ...], choice: str) -> None:
    short, verb = answers_of(results)
    assert short == answers
    assert choice_of(short, verb) == choice


def test_the_question_names_the_rivals_and_ends_with_what_is_asked() -> None:
    patches = tuple(Patch("m.py", {}, name, "k", f"in `f` (m.py:1): {name}", 0.5, 1, "") for name in ("a", "b"))
    differ = Disagreement("may_pay(500)", "", ("True", "False"), "With Account('bob', overdraft=500)", "return")
    question = question_of(SearchResult(patches=patches, plausible=2, compared=2, disagreements=(differ,)))
    assert question is not None
    assert question.text == (
        "several edits pass every test, but disagree: "
        "With Account('bob', overdraft=500), should may_pay(500) return True or False?"
    )
    assert question.rivals == ("True: in `f` (m.py:1): a", "False: in `f` (m.py:1): b")


SOURCE = PythonSource("m.py", b"a = 1\nb = 2\nc = 3\n")
SINGLES = [Candidate((SourceEdit("m.py", at, at + 1, "9"),), ("number",), 1.0, 1, "", (None,)) for at in (4, 10, 16)]


@given(st.sets(st.integers(0, 2)))
def test_what_passes_is_reduced_to_what_is_needed(enough: set[int]) -> None:
    """Edits that pass alone are kept alone, however they were put together; else the whole is."""
    both = pair(SINGLES[0], SINGLES[1])
    assert both is not None
    three = pair(SINGLES[2], both)
    assert three is not None

    async def passes(candidate: Candidate) -> bool:
        return any(edit in candidate.edits for number in enough for edit in SINGLES[number].edits)

    kept = asyncio.run(needed(three, passes))

    assert kept == ([SINGLES[number] for number in (2, 0, 1) if number in enough] or [three])


@given(st.lists(st.integers(-9, 9), min_size=3, max_size=6).map(sorted), st.randoms(use_true_random=False))
def test_a_sorted_list_of_the_tests_stays_sorted(values: list[int], chance: object) -> None:
    made = like([values], varied(values, chance))  # type: ignore[arg-type]
    assert made == sorted(made)
    made = like([tuple(values)], varied(tuple(values), chance))  # type: ignore[arg-type]
    assert list(made) == sorted(made)


@pytest.mark.parametrize(
    ("seen", "tell"),
    [
        ("{'s': 'a '}", lambda row: row["s"].lstrip() != row["s"]),
        ("{'s': b'a='}", lambda row: row["s"].lstrip(b"=") != row["s"]),
        ("{'n': 70000}", lambda row: row["n"].to_bytes(8, "big").endswith(b"\0")),
        ("{'n': 5000}", lambda row: row["n"] in (10, 100, 1000)),
    ],
)
def test_generated_arguments_reach_both_ends_of_texts_and_round_numbers(seen: str, tell: object) -> None:
    made = [ast.literal_eval(text) for text in generated([seen])]
    assert any(tell(row) for row in made)  # type: ignore[operator]


@example_count(30)
@given(
    st.lists(st.integers(1, 60), min_size=1, max_size=12, unique=True),
    st.integers(2, 60),
    st.integers(2, 60),
)
def test_constants_that_edits_put_in_are_among_what_tells_them_apart(seen: list[int], first: int, second: int) -> None:
    made = [ast.literal_eval(text)["n"] for text in around([repr({"n": n}) for n in seen], [first, second])]
    assert {first, second, first + 1, second + 1} <= {*made, *seen} or len(made) == 80
    assert min(made) >= 0, "no negative number where there was none"


def test_a_text_is_made_as_long_as_a_constant() -> None:
    made = [ast.literal_eval(text)["s"] for text in around(["{'s': 'abc'}"], [5, 9])]
    assert {len(text) for text in made} == {4, 5, 6, 8, 9, 10}


PLACE = """\
def place(n):
    if n % 10 in (11, 12, 13):
        return "th"
    return {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th")
"""
PLACES = """\
import pytest
from places import place


@pytest.mark.parametrize("n", [1, 2, 3, 4, 11, 12, 13, 14, 21, 22, 23, 100, 101, 110, 111, 112, 113, 114])
def test_place(n):
    assert place(n) == ("th" if 10 < n % 100 < 20 else {1: "st", 2: "nd", 3: "rd"}.get(n % 10, "th"))
"""


def test_a_constant_that_the_tests_leave_open_is_asked_about(tmp_path: Path) -> None:
    """`% 20` and `% 100` pass these tests, and differ on 31."""
    root = project(tmp_path / "p", {"places.py": PLACE, "test_places.py": PLACES})
    found = search(root, seconds=20, stop_after=20)
    assert found.compared > 1
    assert any("n % 100 in" in patch.diff for patch in found.patches)
    assert any(patch.diff.count("n % 20 in") for patch in found.patches)
    assert found.disagreements
