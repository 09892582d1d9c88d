"""Which command lines start a program that is not there."""

from pathlib import Path

import pytest

from kotef.checks.missing_program import missing_program


@pytest.mark.parametrize(
    ("command", "missing"),
    [
        ("no-such-tool --now", "no-such-tool"),
        ("true && no-such-tool", "no-such-tool"),
        ("no_such() { true; }; no_such", ""),
        ("no-such () { true; }; no-such x && no-such y", ""),
        ("function no_such { true; }; no_such", ""),
        ("true;no_such(){ true; };no_such", ""),
        ("f() { true; }; no_such", "no_such"),
        ("pytest_function no_such", "pytest_function"),
    ],
)
def test_a_program_is_missing_unless_the_line_itself_makes_a_function_of_that_name(
    tmp_path: Path, command: str, missing: str
) -> None:
    assert missing_program(tmp_path, command) == missing
