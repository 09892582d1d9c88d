"""A claim that something cannot be done honestly is held against the tree and the newest verification."""

from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

from kotef.checks.verification import CheckVerdict, Verification
from kotef.coders.claims import ClaimCheck
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard

TESTS = """\
from shop import total


class TestCart:
    def test_sum(self):
        assert total([1]) == 1

    def test_other(self):
        for _ in range(3):
            assert total([1]) == 2


def test_green():
    assert total([]) == 0


def test_old():
    assert total([7]) == 0
"""
TREE = {
    "shop.py": "def total(p): ...\n",
    "tests/test_shop.py": TESTS,
    "tests/data.json": "{}\n",
    "it.test.js": "x\ny\n",
}
STATUS = {
    "tests/test_shop.py::TestCart::test_sum": "failed",
    "tests/test_shop.py::TestCart::test_other[1-2]": "failed",
    "tests/test_shop.py::test_green": "passed",
    "tests/test_shop.py::test_old": "failed",
    "it.test.js::adds": "failed",
}
SUM = "tests/test_shop.py::TestCart::test_sum"


@dataclass
class Tree:
    """One tree in memory."""

    files: dict[str, str] = field(default_factory=lambda: dict(TREE))

    def paths(self, _: str) -> frozenset[str]:
        return frozenset(self.files)

    def read(self, _: str, path: str) -> bytes:
        return self.files[path].encode()


def check(place: str, other: str = "") -> str:
    verdict = CheckVerdict(
        name="pytest", command="pytest -q", role="test", required=True, exit_code=1, passed=False, satisfied=False,
        advisory=False, red=tuple(test for test, status in STATUS.items() if status == "failed"),
    )  # fmt: skip
    judged = Verification(
        visit=0,
        tree="tree",
        passed=False,
        checks=(verdict,),
        tests=STATUS,
        targets=tuple(test for test, status in STATUS.items() if status == "failed" and "old" not in test),
        preexisting=("tests/test_shop.py::test_old",),
    )
    done = SimpleNamespace(text="Prices are rounded up")
    ticket = SimpleNamespace(path=".sdd/backlog/tickets/open/1-x.md", title="Sums", context="", objective="Sum them.",
                             done=(done,), steps=(), sketch="", risks="", non_goals="")  # fmt: skip
    guard = EditGuard(frozenset(path for path in TREE if "test" in path))
    brief: Any = SimpleNamespace(
        task=SimpleNamespace(goal="make the sums right", ticket=ticket), judged=judged, tree="tree", guard=guard
    )
    snapshots: Any = Tree()
    return ClaimCheck(brief, snapshots).check(place, other)


@pytest.mark.parametrize(
    "place",
    [
        SUM,
        "test_sum",
        "TestCart::test_sum",
        "tests/test_shop.py::TestCart",
        "tests/test_shop.py::TestCart::test_other",
        "tests/test_shop.py::TestCart::test_other[1-2]",
        "tests/test_shop.py:6",
        "tests/test_shop.py",
        "tests/test_shop.py:1",
        "it.test.js::adds",
        "it.test.js:2",
        "prices are ROUNDED up.",
        "make the sums right",
    ],
)
def test_failing_tests_their_lines_and_words_of_the_ticket_are_places(place: str) -> None:
    check(place)


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("test_nowhere", "names no failing test"),
        ("up", "names no failing test"),
        ("", "names no failing test"),
        ("tests/test_shop.py::test_green", "passes"),
        ("test_green", "passes"),
        ("test_old", "is not one of the tests that this run must turn green"),
        (
            "tests/test_shop.py:14",
            "none of the tests that this run must turn green is at tests/test_shop.py::test_green",
        ),
        ("tests/test_shop.py:99", "has no line 99"),
        ("tests/nothing.py:3", "names no failing test"),
        ("shop.py:1", "none of the tests that this run must turn green is at shop.py"),
    ],
)
def test_other_places_are_refused_with_what_fails(place: str, why: str) -> None:
    with pytest.raises(ToolFault) as refused:
        check(place)
    assert why in refused.value.message
    assert refused.value.kind == "exec_error"


def test_what_is_in_the_way_must_be_there_and_protected() -> None:
    assert check(SUM, "tests/data.json") == "tests/data.json is there and protected"
    for other, why in {
        "shop.py": "shop.py is not protected: this run may change it",
        "tests/none.json": "no such file, line or test: 'tests/none.json'",
        "tests/test_shop.py::test_none": "no such file, line or test:",
        "tests/test_shop.py:400": "has no line 400",
    }.items():
        with pytest.raises(ToolFault, match=why):
            check(SUM, other)


def test_two_lines_that_expect_different_results_are_checked_by_code() -> None:
    both = "tests/test_shop.py:6 expects `total([1]) == 1`, and tests/test_shop.py:10 expects `total([1]) == 2`"
    assert check(SUM, "tests/test_shop.py:10") == both
    assert check("tests/test_shop.py:10", "tests/test_shop.py:6") == both
    assert check(SUM, "TestCart::test_other") == both
    assert check("test_other") == both
    assert check(SUM, "tests/test_shop.py:14") == "tests/test_shop.py is there and protected"


def test_what_code_cannot_check_is_taken_without_a_finding() -> None:
    assert check("Prices are rounded up") == ""
    assert check("it.test.js::adds", "nobody says what rounding is meant") == ""
