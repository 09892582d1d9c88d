"""The verdict where chance, or a part of the tests only, is at work."""

from hypothesis import given
from hypothesis import strategies as st

from kotef.checks.types import RED, Check, CommandResult, TestStatus
from kotef.checks.verdict import Verification, compared, failure_entries, judge, judge_baseline, rank
from kotef.checks.verification import with_line
from kotef.failures.history import MAX_SUMMARY

PYTEST = Check(name="pytest", command="pytest -q", role="test", origin="detected")
A, B, C = "tests/test_a.py::test_a", "tests/test_b.py::test_b", "tests/test_c.py::test_c"


def ran(tests: dict[str, TestStatus], *, flaky: tuple[str, ...] = (), partial: bool = False) -> CommandResult:
    red = [test for test, status in tests.items() if status in RED]
    return CommandResult(
        command="pytest -q",
        exit_code=1 if red else 0,
        passed=not red,
        kind="test_failure" if red else None,
        summary=f"{red[0]}: assert 1 == 2" if red else "",
        fingerprint="f" * 12 if red else "",
        tests_executed=len(tests),
        tests=tests,
        evidence="report",
        flaky=flaky,
        partial=partial,
    )


def baseline(result: CommandResult, named: str = "") -> Verification:
    return judge_baseline([(PYTEST, result)], named_text=named, tree="t0")


def judged(before: Verification, result: CommandResult, *, visit: int = 1) -> Verification:
    return judge(before, [(PYTEST, result)], visit=visit, tree=f"t{visit}", changed=("a.py",), needs_proof=False)


def test_what_is_flaky_before_the_run_is_preexisting_and_never_fixed() -> None:
    before = baseline(ran({A: "failed", B: "failed"}, flaky=(B,)))
    after = judged(before, ran({A: "passed", B: "passed"}))
    assert (before.targets, before.preexisting, before.flaky) == ((A,), (B,), (B,))
    assert (after.passed, after.fixed) == (True, (A,))
    assert judged(before, ran({A: "passed", B: "failed"})).passed, "and it does not block"


def test_where_all_that_is_red_is_flaky_nothing_is_a_target_unless_it_is_named() -> None:
    red = ran({A: "passed", B: "failed"}, flaky=(B,))
    assert (baseline(red).targets, baseline(red).preexisting) == ((), (B,))
    assert baseline(red, named="make test_b reliable").targets == (B,)


def test_a_flaky_test_named_beside_a_steady_one_is_no_target() -> None:
    before = baseline(ran({A: "failed", B: "failed"}, flaky=(B,)), named="fix test_a and test_b")
    assert (before.targets, before.preexisting) == ((A,), (B,))


def test_a_new_failure_that_passes_alone_is_called_flaky_and_a_steady_one_comes_first() -> None:
    before = baseline(ran({A: "failed", B: "passed", C: "passed"}))
    flaky = judged(before, ran({A: "passed", B: "failed", C: "passed"}, flaky=(B,)))
    both = judged(before, ran({A: "passed", B: "failed", C: "failed"}, flaky=(B,)))
    assert (flaky.passed, flaky.detail, flaky.flaky, flaky.broken) == (False, "flaky", (B,), (B,))
    assert [(entry.check, entry.detail, entry.tests) for entry in failure_entries(flaky)][1] == (
        "verdict",
        "flaky",
        (B,),
    )
    assert (both.detail, both.flaky) == ("regression", (B,))
    assert C in both.summary.splitlines()[0]
    assert B not in both.summary.splitlines()[0]


def test_a_part_of_the_tests_says_nothing_about_the_others() -> None:
    before = baseline(ran({A: "failed", B: "passed", C: "passed"}))
    part = judged(before, ran({A: "failed"}, partial=True))
    whole = judged(before, ran({A: "failed", B: "failed", C: "passed"}))
    assert (part.passed, part.detail, part.missing, part.broken, part.regressions_known) == (
        False,
        "red",
        (),
        (),
        False,
    )
    assert [entry.check for entry in failure_entries(part)] == ["pytest"]
    assert rank(whole) < rank(part), "a known regression before an unknown one"


def test_a_part_never_passes_even_if_it_is_green() -> None:
    before = baseline(ran({A: "failed", B: "passed"}))
    assert not judged(before, ran({A: "passed"}, partial=True)).passed


def test_the_progress_is_the_last_line_of_the_summary_and_of_the_first_entry() -> None:
    before = baseline(ran({A: "failed", B: "failed", C: "passed"}))
    one = compared(judged(before, ran({A: "failed", B: "passed", C: "passed"})), before)
    two = compared(judged(before, ran({A: "failed", B: "passed", C: "failed"}), visit=2), one)
    assert one.progress == "compared with the state before the run: 1 of 2 still fails, none new"
    assert two.progress == "compared with the attempt before: 1 of 1 still fails, 1 new"
    assert one.summary.splitlines()[-1] == failure_entries(one)[0].summary.splitlines()[-1] == one.progress
    assert failure_entries(one)[0].fingerprint == "f" * 12
    assert compared(judged(before, ran({A: "passed", B: "passed", C: "passed"})), one).progress == ""


def test_only_what_both_have_seen_is_compared() -> None:
    before = baseline(ran({A: "failed", B: "passed"}))
    whole = judged(before, ran({A: "failed", B: "failed"}))
    part = compared(judged(before, ran({A: "failed"}, partial=True), visit=2), whole)
    assert part.progress == "compared with the attempt before: 1 of 1 still fails, none new"


@given(st.text(max_size=600), st.text(alphabet="abc ", min_size=1, max_size=100))
def test_a_line_more_never_makes_a_summary_too_long(summary: str, line: str) -> None:
    told = with_line(summary, line)
    assert len(told) <= MAX_SUMMARY
    assert len(told.splitlines()) <= 3
    assert told.endswith(line.strip())
