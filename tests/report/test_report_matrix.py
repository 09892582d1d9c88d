"""The matrix tells at a glance what became of each test."""

from typing import Any

import pytest

from kotef.checks.verification import CheckVerdict, Verification
from kotef.report.test_matrix import STATUSES, TRENDS, matrix_of


def check(name: str = "pytest -q", *, passed: bool = False, **facts: Any) -> CheckVerdict:
    given = {"role": "test", "required": True, "exit_code": 1, "satisfied": passed, "advisory": False}
    return CheckVerdict(name=name, command=name, passed=passed, **(given | facts))


def judged(visit: int, tests: dict[str, Any], **facts: Any) -> Verification:
    given = {"checks": (check(evidence="report"),), "passed": False}
    return Verification(visit=visit, tree="", tests=tests, **(given | facts))


def rows(*visits: Verification) -> dict[str, tuple[str, str, str]]:
    """By name: cells, marks and trend."""
    matrix = matrix_of({one.visit: one for one in visits})
    return {row.name: (row.cells, row.marks, row.trend) for row in (*matrix.rows, *matrix.quiet) if not row.check}


@pytest.mark.parametrize(
    ("statuses", "cells", "trend"),
    [
        (["failed", "passed"], "fp", "fixed"),
        (["passed", "failed"], "pf", "broken"),
        (["failed", "failed"], "ff", "still red"),
        (["failed", "passed", "failed"], "fpf", "back and forth"),
        (["passed", "error", "passed"], "pep", "back and forth"),
        (["passed", "skipped"], "ps", "skipped now"),
        (["passed", "passed"], "pp", ""),
        (["skipped", "skipped"], "ss", ""),
        ([None, "passed"], " p", "new"),
        ([None, "failed"], " f", "new, red"),
        (["failed"], "f", "still red"),
        (["passed"], "p", ""),
    ],
)
def test_a_row_says_what_became_of_its_test(statuses: list[str | None], cells: str, trend: str) -> None:
    visits = [judged(number, {"t": status} if status else {}) for number, status in enumerate(statuses)]
    assert rows(*visits) == {"t": (cells, " " * len(cells), trend)}


def test_a_test_that_vanished_is_gone_and_one_that_was_not_run_is_not() -> None:
    only_red = (check(evidence="report", partial=True),)
    found = rows(
        judged(0, {"a": "passed", "b": "failed"}),
        judged(1, {"b": "failed"}, checks=only_red),
        judged(2, {"b": "failed"}, missing=("a",)),
    )
    assert found == {"a": ("pom", "   ", "gone"), "b": ("fff", "   ", "still red")}


def test_flaky_new_and_put_back_are_marked() -> None:
    found = rows(
        judged(0, {"t.py::a": "passed", "u.py::b": "passed"}),
        judged(
            1,
            {"t.py::a": "failed", "u.py::b": "passed", "n.py::c": "passed"},
            flaky=("t.py::a",),
            new_tests=("n.py::c",),
            put_back=("u.py",),
        ),
    )
    assert found == {
        "t.py::a": ("pk", "  ", "flaky"),
        "n.py::c": (" p", " n", "new"),
        "u.py::b": ("pp", " b", "put back"),
    }


def test_a_check_without_a_report_shows_the_tests_that_its_output_named() -> None:
    named = check("make test", evidence="exit", failing=("test_a",))
    assert rows(judged(0, {}, checks=(named,)))["test_a"] == ("f", " ", "still red")


def test_every_check_has_a_row_and_advice_is_told_from_failure() -> None:
    visits = [
        judged(0, {}, checks=(check("pytest"), check("ruff", advisory=True))),
        judged(1, {}, checks=(check("pytest", passed=True), check("ruff", timed_out=True))),
        judged(2, {}, checks=(check("pytest", passed=True),)),
    ]
    matrix = matrix_of({one.visit: one for one in visits})
    assert [(row.name, row.cells) for row in matrix.rows if row.check] == [("pytest", "fpp"), ("ruff", "ato")]


def test_the_worst_stands_first_and_what_never_changed_is_folded() -> None:
    before = {"fixed": "failed", "quiet": "passed", "broken": "passed", "red": "failed"}
    after = {"fixed": "passed", "quiet": "passed", "broken": "failed", "red": "failed"}
    matrix = matrix_of({0: judged(0, before), 1: judged(1, after)})
    assert [row.name for row in matrix.rows if not row.check] == ["broken", "red", "fixed"]
    assert [row.name for row in matrix.quiet] == ["quiet"]
    assert [(column.green, column.red, column.other) for column in matrix.columns] == [(2, 2, 0), (2, 2, 0)]


def test_many_green_tests_of_a_file_that_was_put_back_are_folded_and_its_red_ones_stay() -> None:
    tests = {f"t.py::{number}": "passed" for number in range(40)} | {"t.py::red": "failed"}
    matrix = matrix_of({0: judged(0, tests), 1: judged(1, tests, put_back=("t.py",))})
    assert [(row.name, row.marks) for row in matrix.rows if not row.check] == [("t.py::red", " b")]
    assert (len(matrix.quiet), matrix.columns[1].put_back) == (40, 1)


def test_every_letter_has_a_sign_and_every_trend_a_place() -> None:
    assert all(said for _, said in STATUSES.values())
    assert len(set(TRENDS)) == len(TRENDS)
