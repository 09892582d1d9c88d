"""A box is ticked only where code has seen it done, and the evidence is named."""

import pytest

from kotef.checks.verdict import CheckVerdict, Verification
from kotef.sdd.done_evidence import trace, unproved
from kotef.sdd.ticket import DoneLine


def check(command: str, role: str = "test", **facts) -> CheckVerdict:
    known = {
        "name": command, "command": command, "role": role, "required": True, "exit_code": 0, "passed": True, "satisfied": True,
        "advisory": False, "executed": 3 if role == "test" else None,
    }  # fmt: skip
    return CheckVerdict(**(known | facts))


def judged(*checks: CheckVerdict, passed: bool = True, **tests: str) -> Verification:
    known = {
        "tests/test_cart.py::test_total": "passed",
        "tests/test_cart.py::test_tax[1.5]": "passed",
        "cart adds up": "passed",
    }
    return Verification(
        visit=1, tree="t", passed=passed, checks=checks or (check("python -m pytest -q"),), tests={**known, **tests}
    )


def of(text: str, verification: Verification | None = None, *written: str, checked: bool = False):
    (found,) = trace((DoneLine(text=text, checked=checked, line=7),), verification or judged(), written)
    assert (found.line, found.text) == (7, text)
    return found


@pytest.mark.parametrize(
    ("line", "by", "why"),
    [
        ("`python -m pytest  -q`", "check", "`python -m pytest -q` is satisfied"),
        ("python -m pytest -q exits 0", "check", "`python -m pytest -q` is satisfied"),
        ("all tests pass", "check", "every test check is satisfied: `python -m pytest -q`"),
        ("the whole suite is green", "check", "every test check is satisfied: `python -m pytest -q`"),
        ("`test_total` passes", "tests", "1 named test passed"),
        ("See tests/test_cart.py.", "tests", "2 named tests passed"),
        ("test_tax passes", "tests", "1 named test passed"),
        ("`cart adds up`", "tests", "1 named test passed"),
        ("the cart adds up", "person", ""),
        ("the code is readable", "person", ""),
        ("pytest is documented", "person", ""),
        ("the total is right", "person", ""),
    ],
)
def test_a_line_is_proved_by_what_it_names(line: str, by: str, why: str) -> None:
    found = of(line)
    assert (found.proved_by, found.why) == (by, why)
    assert found.proved is (by != "person")


def test_evidence_names_the_tests() -> None:
    assert of("tests/test_cart.py is green").tests == (
        "tests/test_cart.py::test_total",
        "tests/test_cart.py::test_tax[1.5]",
    )


def test_a_named_test_that_did_not_pass_proves_nothing() -> None:
    found = of("`test_slow` and `test_total` pass", judged(**{"t.py::test_slow": "skipped"}))
    assert (found.proved, found.why) == (False, "a named test did not pass")


@pytest.mark.parametrize(
    ("line", "proved"),
    [
        ("ruff is clean", True),
        ("no errors from ruff", True),
        ("rewrite the ruff configuration", False),
        ("`make`", True),
        ("make passes", True),
        ("make the total right", False),
        ("mypy passes", False),
    ],
)
def test_a_tool_or_a_command_of_one_word_proves_only_where_it_is_meant(line: str, proved: bool) -> None:
    checks = (check("ruff check .", "lint"), check("make", "build"), check("mypy .", "types", satisfied=False))
    assert of(line, judged(*checks)).proved is proved


def test_an_advisory_check_and_a_suite_that_ran_nothing_prove_nothing() -> None:
    assert not of("`ruff check .`", judged(check("ruff check .", "lint", advisory=True))).proved
    assert not of("all tests pass", judged(check("pytest", executed=0))).proved
    assert not of("all tests pass", judged(check("ruff check .", "lint"))).proved


@pytest.mark.parametrize(
    ("line", "proved"),
    [
        ("`CHANGELOG.md` is updated", True),
        ("Add `docs/usage.md` and CHANGELOG.md", True),
        ("- `docs/usage.md` exists.", True),
        ("CHANGELOG.md", True),
        ("`CHANGELOG.md` names the new flag", False),
        ("`CHANGELOG.md` and `README.md` are updated", False),
        ("README.md is updated", False),
        ("CHANGELOG.md is removed", False),
    ],
)
def test_a_file_in_the_diff_proves_only_a_line_that_asks_for_nothing_else(line: str, proved: bool) -> None:
    found = of(line, None, "CHANGELOG.md", "docs/usage.md")
    assert found.proved is proved
    assert found.proved_by == ("file" if proved else "person")


def test_a_line_for_a_person_says_where_to_look() -> None:
    found = of("`CHANGELOG.md` names the new flag", None, "CHANGELOG.md")
    assert (found.why, found.files) == ("look at CHANGELOG.md, which the run wrote", ("CHANGELOG.md",))
    assert of("done by hand", checked=True).why == "ticked before the run"


@pytest.mark.parametrize(
    ("line", "why", "tests"),
    [
        ("`test_total` and `test_slow` pass", "1 named test failed", ("t.py::test_slow",)),
        ("`python -m pytest -q` is green", "`python -m pytest -q` is not satisfied", ()),
        ("all tests pass", "`python -m pytest -q` is not satisfied", ()),
    ],
)
def test_a_line_that_is_seen_not_to_be_so_says_by_what(line: str, why: str, tests: tuple[str, ...]) -> None:
    red = judged(check("python -m pytest -q", satisfied=False), passed=False, **{"t.py::test_slow": "failed"})
    found = of(line, red)
    assert (found.proved_by, found.proved, found.why, found.tests) == ("refuted", False, why, tests)


@pytest.mark.parametrize("line", ["`test_total` passes", "CHANGELOG.md", "it is fast"])
def test_what_a_run_that_is_not_verified_did_proves_nothing_and_refutes_nothing(line: str) -> None:
    found = of(line, judged(check("python -m pytest -q", satisfied=False), passed=False), "CHANGELOG.md")
    assert (found.proved_by, found.why) == ("person", "")


def test_without_a_passed_verification_nothing_is_proved() -> None:
    assert not of("all tests pass", judged(passed=False)).proved
    (found,) = trace((DoneLine(text="CHANGELOG.md", checked=False, line=1),), None, ["CHANGELOG.md"])
    assert not found.proved


def test_a_reviewer_is_asked_about_what_the_checks_do_not_prove() -> None:
    done = [
        DoneLine(text=text, checked=False, line=n) for n, text in enumerate(("all tests pass", "CHANGELOG.md", "x"))
    ]
    assert unproved(done, judged()) == ("CHANGELOG.md", "x")
