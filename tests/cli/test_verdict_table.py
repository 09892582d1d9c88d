"""The verdict says of each check what it was before the run and what it is now."""

from io import StringIO

from rich.console import Console

from kotef.checks.verification import CheckVerdict, Verification
from kotef.cli.screen.verdict import table_of, unit_lines, verdict_lines, verdict_of


def check(name: str = "pytest -q", **facts: object) -> CheckVerdict:
    passed = bool(facts.pop("passed", False))
    base = {"name": name, "command": name, "role": "test", "required": True, "exit_code": 0 if passed else 1}
    base |= {"passed": passed, "satisfied": passed, "advisory": False, "executed": 4}
    return CheckVerdict.model_validate(base | facts)


def state(*checks: CheckVerdict, visit: int = 1, **facts: object) -> Verification:
    return Verification.model_validate({"visit": visit, "tree": "t", "passed": False, "checks": checks, **facts})


BEFORE = state(check(red=("t::a", "t::b")), visit=0)


def lines(after: Verification, before: Verification = BEFORE) -> list[str]:
    verdict = verdict_of(before, after)
    return [text for text, _ in (*verdict_lines(verdict, "attempt 1"), *unit_lines(verdict))]


def test_each_check_is_told_before_and_after_with_its_tests_and_failures() -> None:
    after = state(check(passed=True, executed=5), fixed=("t::a", "t::b"), new_tests=("t::c", "t::d"), proved=("t::c",))
    assert lines(after) == [
        "  attempt 1",
        "    pytest -q: exit 1 → passed (4 → 5 ran, 2 → 0 failing)",
        "    fixed: t::a, t::b",
        "    new: t::c (fails on the code before the run), t::d",
    ]


def test_what_broke_what_is_gone_and_what_is_skipped_is_named() -> None:
    after = state(check(red=("t::x",)), broken=("t::x",), missing=("t::b",), newly_skipped=("t::a",))
    assert lines(after)[2:] == ["    broken: t::x", "    missing: t::b", "    skipped now: t::a"]


def test_a_check_that_tells_no_tests_a_timeout_and_an_accepted_red_are_told_as_such() -> None:
    silent = check("ruff", role="lint", executed=None, passed=True)
    after = state(silent, check(exit_code=None, timed_out=True), check("tox", satisfied=True, red=("t::old",)))
    assert lines(after)[1:] == [
        "    ruff: not run → passed",
        "    pytest -q: exit 1 → timed out (4 ran, 2 → 0 failing)",
        "    tox: not run → exit 1, accepted (? → 4 ran, ? → 1 failing)",
    ]


def test_the_table_fits_a_narrow_terminal_and_steers_no_wide_one() -> None:
    after = state(check("py\x1b[31mtest " + 20 * "long ", passed=True))
    for width in (60, 100):
        out = StringIO()
        Console(file=out, width=width, force_terminal=True, color_system=None).print(
            table_of(verdict_of(BEFORE, after))
        )
        assert "\x1b[31m" not in out.getvalue()
        assert max(map(len, out.getvalue().splitlines())) <= width
        assert "exit 1" not in out.getvalue()
        assert all(word in out.getvalue() for word in ("before", "after", "tests run", "failing", "passed"))
