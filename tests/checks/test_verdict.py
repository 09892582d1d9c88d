"""The verdict: what passes, what does not, and what it is called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.types import RED, Check, CommandResult, TestStatus
from kotef.checks.verdict import Verification, environment_fault, failure_entries, judge, judge_baseline, rank

PYTEST = Check(name="pytest", command="pytest -q", role="test", origin="ticket")
DETECTED = PYTEST.model_copy(update={"origin": "detected"})
RUFF = Check(name="ruff check", command="ruff check .", role="lint", origin="detected")


def ran(tests: dict[str, TestStatus], **facts: object) -> CommandResult:
    """What pytest with these tests leaves."""
    red = [test for test, status in tests.items() if status in RED]
    executed = sum(status != "skipped" for status in tests.values())
    defaults: dict[str, object] = {
        "command": "pytest -q",
        "exit_code": 1 if red else 0,
        "passed": not red and executed > 0,
        "kind": "test_failure" if red else None,
        "detail": "assertion" if red else "",
        "summary": f"{red[0]}: assert 1 == 2" if red else "",
        "fingerprint": "f" * 12 if red else "",
        "tests_executed": executed,
        "tests": tests,
        "evidence": "report",
    }
    return CommandResult.model_validate(defaults | facts)


def ended(exit_code: int | None, **facts: object) -> CommandResult:
    """What a command without any count leaves."""
    passed = exit_code == 0
    kind = None if passed else "unknown"
    defaults: dict[str, object] = {"command": "x", "exit_code": exit_code, "passed": passed, "kind": kind}
    return CommandResult.model_validate(defaults | facts)


def baseline(result: CommandResult, *, named: str = "", check: Check = PYTEST) -> Verification:
    return judge_baseline([(check, result)], named_text=named, tree="t0")


def judged(
    before: Verification, result: CommandResult, *, check: Check = PYTEST, needs_proof: bool = True, **facts: object
) -> Verification:
    arguments: dict[str, object] = {"visit": 1, "tree": "t1", "changed": ("a.py",)}
    return judge(before, [(check, result)], needs_proof=needs_proof, **(arguments | facts))  # type: ignore[arg-type]


A, B, C = "tests/test_a.py::test_a", "tests/test_b.py::test_b", "tests/test_c.py::test_c[1-2]"


def test_a_red_target_that_is_green_now_passes():
    after = judged(baseline(ran({A: "failed", B: "passed"})), ran({A: "passed", B: "passed"}))

    assert (after.passed, after.detail, after.fixed) == (True, "", (A,))
    assert failure_entries(after) == []


def test_a_target_that_is_still_red_does_not_pass_and_says_which():
    after = judged(baseline(ran({A: "failed", B: "passed"})), ran({A: "failed", B: "passed"}))

    assert (after.passed, after.detail) == (False, "red")
    assert A in after.summary
    assert [entry.check for entry in failure_entries(after)] == ["pytest"]
    assert failure_entries(after)[0].tests == (A,)


def test_reds_that_nobody_named_are_preexisting_and_do_not_block():
    before = baseline(ran({A: "failed", B: "failed", C: "passed"}), named=f"make {A} pass")
    after = judged(before, ran({A: "passed", B: "failed", C: "passed"}))

    assert (before.targets, before.preexisting) == ((A,), (B,))
    assert after.passed
    assert after.checks[0].satisfied
    assert not after.checks[0].passed
    assert B in after.summary


def test_a_preexisting_red_in_an_incomplete_run_blocks():
    before = baseline(ran({A: "failed", B: "failed", C: "passed"}), named=A)

    for facts in (
        {"exit_code": 2},
        {"exit_code": None, "timed_out": True},
        {"detail": "contradiction"},
        {"evidence": "counts"},
    ):
        assert not judged(before, ran({A: "passed", B: "failed", C: "passed"}, **facts)).passed, facts


def test_a_newly_failing_test_is_a_regression():
    after = judged(baseline(ran({A: "failed", B: "passed"})), ran({A: "passed", B: "failed"}))

    assert (after.passed, after.detail, after.broken) == (False, "regression", (B,))


def test_a_check_that_newly_fails_without_naming_a_test_is_a_regression():
    before = judge_baseline([(PYTEST, ran({A: "failed"})), (RUFF, ended(0))], named_text="", tree="t0")
    results = [(PYTEST, ran({A: "passed"})), (RUFF, ended(1, kind="lint_failure"))]
    after = judge(before, results, visit=1, tree="t1", changed=("a.py",), needs_proof=True)

    assert (after.passed, after.detail, after.broken) == (False, "regression", ("ruff check",))


@pytest.mark.parametrize("status", ["skipped", "xfailed"])
def test_a_test_set_aside_is_a_regression_even_where_it_was_red(status: TestStatus):
    for was in ("passed", "failed"):
        after = judged(baseline(ran({A: was, B: "passed"})), ran({A: status, B: "passed"}), needs_proof=False)

        assert (after.passed, after.newly_skipped) == (False, (A,))
        assert after.detail == "regression"
        assert [entry.check for entry in failure_entries(after)] == ["verdict"]


def test_a_missing_test_does_not_pass():
    after = judged(baseline(ran({A: "failed", B: "passed"})), ran({A: "passed"}))

    assert (after.passed, after.detail, after.missing) == (False, "tests_missing", (B,))
    assert failure_entries(after)[0].detail == "tests_missing"


def test_a_test_gone_from_a_file_this_run_may_edit_is_listed_and_does_not_block():
    before = baseline(ran({A: "failed", B: "passed"}))
    after = judged(before, ran({A: "passed"}), allow=("tests/test_b.py",))

    assert (after.passed, after.missing, after.removed) == (True, (), (B,))
    assert not judged(before, ran({A: "passed"}), allow=("tests/test_a.py",)).passed


def test_removing_the_only_red_test_proves_nothing():
    after = judged(baseline(ran({A: "failed", B: "passed"})), ran({B: "passed"}), allow=("tests/**",))

    assert (after.passed, after.detail) == (False, "nothing_proves_the_goal")


def test_a_file_that_could_not_be_collected_is_fixed_by_the_tests_in_it():
    before = baseline(ran({"tests/test_a.py": "error"}, exit_code=2, tests_executed=0))
    after = judged(before, ran({A: "passed"}))

    assert (after.passed, after.missing, after.fixed) == (True, (), ("tests/test_a.py",))
    assert not judged(before, ran({A: "skipped"})).passed
    assert not judged(before, ran({B: "passed"})).passed


def test_fewer_executed_tests_without_ids_do_not_pass():
    cargo = Check(name="cargo test", command="cargo test", role="test", origin="option")
    before = baseline(ended(101, kind="test_failure", tests_executed=5, evidence="counts"), check=cargo)

    after = [judged(before, ended(0, tests_executed=n, evidence="counts"), check=cargo) for n in (5, 4, None)]

    assert [one.passed for one in after] == [True, False, False]
    assert after[1].detail == after[2].detail == "tests_missing"


def test_a_green_baseline_needs_a_diff_and_a_proof():
    before = baseline(ran({A: "passed"}))
    new = ran({A: "passed", B: "passed"})

    assert before.passed
    assert judged(before, new).detail == "nothing_proves_the_goal"
    assert judged(before, new).new_tests == (B,)
    assert judged(before, new, proved=(B,)).passed
    assert judged(before, new, proved=(B,)).proved == (B,)
    assert judged(before, ran({A: "passed"}), review_accepted=True).passed
    assert not judged(before, new, proved=(B,), changed=()).passed
    assert not judged(before, new, review_accepted=True, changed=()).passed
    assert not judged(before, new, proved=(A,)).passed, "an old test is no new one"
    assert not judged(before, ran({A: "passed", B: "failed"}), proved=(B,)).passed, "a proof passes now"
    assert judged(before, ran({A: "passed"}), needs_proof=False).passed, "a task that is only its checks"


def test_commands_that_execute_no_test_prove_nothing():
    true = Check(name="true", command="true", role="other", origin="option")
    before = baseline(ended(0), check=true)

    assert not before.passed
    assert judged(before, ended(0), check=true, review_accepted=True).detail == "no_proof_of_work"


def test_a_named_command_that_goes_from_red_to_green_is_proof_of_work():
    script = Check(name="run", command="./run_tests.sh", role="other", origin="option")
    missing = ended(127, detail="command_not_found", stderr="bash: line 1: ./run_tests.sh: No such file or directory\n")
    before = baseline(missing, check=script)

    assert before.targets == ("run",)
    assert before.environment == "", "the task may create a path of the workspace"
    assert judged(before, ended(0), check=script).passed


def test_a_green_for_which_nothing_was_changed_proves_nothing():
    """Chance, or a built file that no patch holds, made it green."""
    before = baseline(ran({A: "failed"}))
    after = judged(before, ran({A: "passed"}), changed=())

    assert (after.passed, after.detail) == (False, "no_proof_of_work")
    assert "no change that a patch could contain" in after.summary


def test_files_that_could_not_be_put_back_do_not_pass():
    after = judged(baseline(ran({A: "failed"})), ran({A: "passed"}), left=("tests/test_a.py",))

    assert (after.passed, after.detail) == (False, "put_back_left")
    assert "tests/test_a.py" in failure_entries(after)[0].summary


def test_what_was_put_back_is_an_entry_only_when_it_did_not_pass():
    before = baseline(ran({A: "failed"}))
    red = judged(before, ran({A: "failed"}), put_back=("tests/test_a.py",))
    green = judged(before, ran({A: "passed"}), put_back=("tests/test_a.py",))

    assert [(entry.check, entry.kind, entry.detail) for entry in failure_entries(red)][1:] == [
        ("put_back", "unknown", "put_back")
    ]
    assert green.passed
    assert green.put_back == ("tests/test_a.py",)
    assert failure_entries(green) == []


def test_a_detected_lint_check_that_was_red_is_advisory_unless_named():
    red_lint, tests = (RUFF, ended(1, kind="lint_failure")), (PYTEST, ran({A: "failed"}))
    after = [(PYTEST, ran({A: "passed"})), red_lint]
    quiet = judge_baseline([tests, red_lint], named_text="fix test_a", tree="t0")
    named = judge_baseline([tests, red_lint], named_text="fix test_a and what ruff says", tree="t0")

    assert judge(quiet, after, visit=1, tree="t1", changed=("a",), needs_proof=True).passed
    assert quiet.targets == (A,)
    assert named.targets == (A, "ruff check")
    assert not judge(named, after, visit=1, tree="t1", changed=("a",), needs_proof=True).passed


def test_a_check_that_is_not_required_never_blocks_and_its_tests_do_not_count():
    extra = PYTEST.model_copy(update={"name": "slow", "required": False, "command": "pytest slow"})
    before = judge_baseline([(PYTEST, ran({A: "failed"})), (extra, ran({B: "passed"}))], named_text="", tree="t0")
    results = [(PYTEST, ran({A: "passed"})), (extra, ran({B: "failed"}))]
    after = judge(before, results, visit=1, tree="t1", changed=("a",), needs_proof=True)

    assert after.passed
    assert after.checks[1].advisory
    assert after.checks[1].red == (B,)


def test_ids_of_two_checks_are_kept_apart_and_stay_apart():
    other = PYTEST.model_copy(update={"name": "old", "command": "python3.9 -m pytest"})
    before = judge_baseline([(PYTEST, ran({A: "passed"})), (other, ran({A: "failed"}))], named_text="", tree="t0")
    gone = [(PYTEST, ran({A: "passed"})), (other, ended(0, tests_executed=1, evidence="counts"))]
    green = [(PYTEST, ran({A: "passed"})), (other, ran({A: "passed"}))]

    assert before.targets == (f"old: {A}",)
    assert judge(before, green, visit=1, tree="t1", changed=("a",), needs_proof=True).passed
    assert judge(before, gone, visit=1, tree="t1", changed=("a",), needs_proof=True).missing == (f"old: {A}",)


def test_a_precise_name_wins_over_the_named_command():
    results = ran({A: "failed", B: "failed", C: "failed"})

    assert baseline(results, named="pytest must pass").targets == (A, B, C)
    assert baseline(results, named="fix tests/test_b.py").targets == (B,)
    assert baseline(results, named="make test_c work").targets == (C,)
    assert baseline(results, check=DETECTED).targets == (A, B, C)


def test_an_environment_fault_is_told_by_its_detail_and_only_of_required_checks():
    fault = ended(127, detail="command_not_found", stderr="bash: line 1: pytest: command not found\n")
    optional = PYTEST.model_copy(update={"required": False})
    inner = ended(127, detail="command_not_found", stderr="./t.sh: line 3: foo: command not found\n")
    venv = ended(127, detail="command_not_found", stderr="bash: line 1: .venv/bin/python: No such file or directory\n")

    assert environment_fault([(PYTEST, fault)]) == "command_not_found"
    assert environment_fault([(optional, fault)]) == ""
    assert environment_fault([(PYTEST.model_copy(update={"command": "./t.sh"}), inner)]) == "command_not_found"
    assert environment_fault([(PYTEST.model_copy(update={"command": ".venv/bin/python -m pytest"}), venv)])
    assert environment_fault([(PYTEST, ended(4, detail="path_not_found"))]) == ""


def test_a_missing_linter_that_nobody_asked_for_is_no_fault_of_the_environment():
    fault = ended(127, detail="command_not_found")
    before = judge_baseline([(PYTEST, ran({A: "failed"})), (RUFF, fault)], named_text="", tree="t0")

    assert before.environment == ""


def test_the_best_visit_is_known_then_least_broken_then_most_fixed():
    before = baseline(ran({A: "failed", B: "failed", C: "passed"}))
    one = judged(before, ran({A: "passed", B: "failed", C: "passed"}))
    breaking = judged(before, ran({A: "passed", B: "passed", C: "failed"}))
    crashed = judged(before, ended(2))
    slow = judged(before, ran({A: "passed", B: "failed", C: "passed"}, exit_code=None, timed_out=True))
    done = judged(before, ran({A: "passed", B: "passed", C: "passed"}))

    assert sorted([crashed, breaking, before, done, one], key=rank) == [done, one, before, breaking, crashed]
    assert rank(slow) > rank(breaking)


def test_the_baseline_says_green_without_being_a_success_of_a_run():
    green = baseline(ran({A: "passed"}))

    assert (green.visit, green.passed, green.green, green.targets) == (0, True, True, ())
    assert not baseline(ran({A: "failed"})).green


STATUSES = st.sampled_from(["passed", "failed", "error", "skipped", "xfailed"])
IDS = st.sampled_from(
    [f"tests/test_{file}.py::test_{name}" for file in "ab" for name in ("one", "two")] + ["tests/test_a.py"]
)
SUITES = st.dictionaries(IDS, STATUSES, max_size=5)
RESULTS = st.builds(
    lambda tests, code, report: ran(tests) if report else ended(code),
    SUITES,
    st.sampled_from([0, 1, 2, None]),
    st.booleans(),
)
CHECKS = st.sampled_from(
    [
        PYTEST,
        DETECTED,
        RUFF,
        PYTEST.model_copy(update={"name": "make", "command": "make test", "origin": "option"}),
    ]
)
PAIRS = st.lists(st.tuples(CHECKS, RESULTS, RESULTS), min_size=1, max_size=3, unique_by=lambda pair: pair[0].name)
TEXTS = st.sampled_from(["", "fix test_one", "tests/test_a.py fails", "ruff", "tests/test_b.py::test_two"])


@example_count(80)
@given(
    pairs=PAIRS,
    text=TEXTS,
    needs_proof=st.booleans(),
    accepted=st.booleans(),
    changed=st.sampled_from([(), ("a.py",)]),
    left=st.sampled_from([(), ("t",)]),
)
def test_whatever_passes_has_nothing_against_it(*, pairs, text, needs_proof, accepted, changed, left):
    before = judge_baseline([(check, old) for check, old, _ in pairs], named_text=text, tree="t0")
    results = [(check, new) for check, _, new in pairs]
    after = judge(
        before,
        results,
        visit=1,
        tree="t1",
        changed=changed,
        needs_proof=needs_proof,
        review_accepted=accepted,
        left=left,
    )

    if after.passed:
        assert (after.broken, after.missing, after.newly_skipped, after.left) == ((), (), (), ())
        assert all(check.satisfied for check in after.checks if not check.advisory)
        assert after.executed > 0 or any(check.name in after.targets for check in after.checks)
        assert set(after.targets) <= set(after.fixed)
        assert failure_entries(after) == []
        assert not needs_proof or before.targets or (accepted and changed)
        assert after.detail == ""
    else:
        assert failure_entries(after)
        assert after.detail
        assert after.summary
    assert Verification.model_validate_json(after.model_dump_json()) == after


@example_count(60)
@given(PAIRS, TEXTS)
def test_the_baselines_own_results_never_pass_a_task_with_a_goal(pairs, text):
    results = [(check, old) for check, old, _ in pairs]
    before = judge_baseline(results, named_text=text, tree="t0")
    after = judge(before, results, visit=1, tree="t0", changed=(), needs_proof=True, review_accepted=True)

    assert not after.passed
    assert (after.broken, after.missing, after.newly_skipped, after.fixed) == ((), (), (), ())
    assert set(before.targets).isdisjoint(before.preexisting)


@example_count(60)
@given(PAIRS, TEXTS)
def test_a_baseline_is_green_or_has_targets_or_no_proof(pairs, text):
    before = judge_baseline([(check, old) for check, old, _ in pairs], named_text=text, tree="t0")

    assert before.passed == (not before.targets and before.executed > 0)
    assert before.passed == (failure_entries(before) == [])


VOLATILE = [
    ("test_a[08:07:11 2026-11-23]", "test_a[08:09:54 2026-11-23]"),
    ("test_a[2026-11-23T08:07:11.123456+00:00]", "test_a[2026-11-23T08:09:54.6+00:00]"),
    ("test_a[<object at 0x7f3a2b1c4d50>]", "test_a[<object at 0x7f11223344aa>]"),
    ("test_a[1b4e28ba-2fa1-11d2-883f-0016d3cca427]", "test_a[6ba7b810-9dad-11d1-80b4-00c04fd430c8]"),
    ("test_a[/tmp/pytest-of-me/pytest-1/x]", "test_a[/tmp/pytest-of-me/pytest-22/x]"),
    ("test_a[1700000001]", "test_a[1700000099]"),
]


@pytest.mark.parametrize(("then", "now"), VOLATILE, ids=range(len(VOLATILE)))
def test_a_test_whose_id_holds_the_time_or_an_address_is_the_same_test_the_next_time(then: str, now: str):
    then, now = f"tests/test_a.py::{then}", f"tests/test_a.py::{now}"
    after = judged(baseline(ran({then: "failed", B: "passed"})), ran({now: "passed", B: "passed"}))
    broken = judged(baseline(ran({A: "failed", then: "passed"})), ran({A: "passed", now: "failed"}))

    assert (after.passed, after.fixed, after.missing, after.new_tests) == (True, (then,), (), ())
    assert (broken.passed, broken.broken) == (False, (then,))


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (["test_a[1]", "test_a[2]"], ["test_a[1]", "test_a[3]"]),
        (["test_a[one]"], ["test_a[two]"]),
        (["test_a[1700000001]", "test_a[1700000002]"], ["test_a[1700000099]"]),
        (["test_a[0x7f3a2b1c4d50]"], ["test_b[0x7f3a2b1c4d51]"]),
    ],
    ids=range(4),
)
def test_any_other_test_that_is_gone_is_missing(then: list[str], now: list[str]):
    before = baseline(ran({A: "failed", **dict.fromkeys((f"tests/t.py::{test}" for test in then), "passed")}))
    after = judged(before, ran({A: "passed", **dict.fromkeys((f"tests/t.py::{test}" for test in now), "passed")}))

    assert after.missing
    assert not after.passed
