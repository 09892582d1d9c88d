"""What is kept of a judged visit: compared with the visit before it, and made from the state alone."""

from typing import Any

from kotef.checks.types import TestStatus
from kotef.checks.verification import CheckVerdict, Verification
from kotef.failures.visit_history import Visit, stalled
from kotef.nodes.visit_record import judged_visit, visit_of
from kotef.state import Edits

Tests = dict[str, TestStatus]


def judged(visit: int, tests: Tests | None = None, *, failing: tuple[str, ...] = (), **fields: Any) -> Verification:
    """A verification by one check: with a report when `tests` are given, else with names read from its output."""
    reported = tests or {}
    red = tuple(test for test, status in reported.items() if status in ("failed", "error"))
    passed = not (red or failing or fields.pop("red", False))
    check = CheckVerdict(
        name="suite",
        command="run-suite",
        role="test",
        required=True,
        exit_code=0 if passed else 1,
        passed=passed,
        satisfied=passed,
        advisory=False,
        executed=fields.pop("executed", 4),
        red=red,
        failing=red or failing,
        fingerprint="+".join(red or failing) or "f",
    )
    base: dict[str, Any] = {
        "visit": visit,
        "tree": f"t{visit}",
        "passed": passed,
        "checks": (check,),
        "tests": reported,
    }
    return Verification(**{"detail": "" if passed else "red", **base, **fields})


def after(first: Verification, second: Verification, **edits: Any) -> Visit:
    made = Edits(visit=second.visit, coder="model", stopped_by="finished", **edits)
    return visit_of(second, made, visit_of(first, None, None))


def test_what_an_attempt_fixed_and_broke_is_told_by_id() -> None:
    first = judged(0, {"a": "failed", "b": "error", "c": "passed"})
    second = judged(1, {"a": "passed", "b": "failed", "c": "failed"})
    visit = after(first, second, changed=("x.py",), summary="I tried.\nHard.")
    assert (visit.fixed, visit.broke, visit.red) == (("a",), ("c",), ("b", "c"))
    assert (visit.changed, visit.said) == (("x.py",), "I tried. Hard.")


def test_a_test_that_is_gone_or_skipped_is_not_fixed_but_broken() -> None:
    first = judged(0, {"a": "failed", "b": "passed", "c": "failed"})
    second = judged(1, {"a": "skipped"}, missing=("b", "c"), newly_skipped=("a",), passed=False, detail="tests_missing")
    visit = after(first, second)
    assert (visit.fixed, visit.broke) == ((), ("b",))
    assert visit.red == ("a", "b", "c")


def test_a_file_that_could_not_be_collected_stands_for_its_tests() -> None:
    first = judged(0, {"t.py": "error"})
    assert after(first, judged(1, {"t.py::a": "passed"})).fixed == ("t.py",)
    assert after(first, judged(1, {"t.py::a": "passed", "t.py::b": "failed"})).fixed == ()


def test_without_a_report_names_count_only_while_as_many_tests_run() -> None:
    first = judged(0, failing=("a", "b"))
    assert after(first, judged(1, failing=("b",))).fixed == ("a",)
    assert after(first, judged(1, failing=("loader",), executed=1)).fixed == (), "nothing of it ran"


def test_a_check_that_names_nothing_is_a_unit_itself() -> None:
    first = judged(0, red=True)
    assert visit_of(first, None, None).red == ("suite",)
    assert after(first, judged(1)).fixed == ("suite",)
    assert after(first, judged(1, failing=("a",))).fixed == (), "it fails still, only with more words"


def test_names_cut_by_their_limit_are_no_whole_set() -> None:
    many = tuple(f"t{number}" for number in range(20))
    assert not visit_of(judged(0, failing=many), None, None).whole
    assert visit_of(judged(0, failing=many[:19]), None, None).whole


def test_what_was_put_back_makes_no_other_failure_of_the_same() -> None:
    visits = {0: visit_of(judged(0, failing=("a",)), None, None)}
    visits[1] = after(judged(0, failing=("a",)), judged(1, failing=("a",), put_back=("tests/a.py",), detail="red"))
    assert "same failures" in stalled(visits, 1)


def test_two_refused_reviews_are_not_the_same_failure() -> None:
    refused = {"passed": False, "detail": "review_refused"}
    visits = {n: visit_of(judged(n, {"a": "passed"}, **(refused if n else {})), None, None) for n in range(3)}
    assert not stalled(visits, 2)


def test_only_the_visit_that_was_just_judged_is_recorded() -> None:
    """A visit that left nothing to judge adds nothing, and changes no earlier record."""
    first = judged(0, failing=("a",))
    known = {0: visit_of(first, None, None)}
    unjudged = Edits(visit=1, coder="model", stopped_by="model_error")
    state: Any = {"test_results": first, "edits": unjudged, "visits": known}
    assert judged_visit(state) == {}
    assert judged_visit({**state, "visits": {}}) == known
    state |= {"test_results": judged(1, failing=("a",)), "visits": known}
    assert judged_visit(state) == judged_visit({**state, "visits": known | judged_visit(state)}), "twice is once"
