"""Which failing tests and checks a text names."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.checks.targets import named_tests, names_check
from kotef.checks.types import Check

A, A2, B = "tests/test_a.py::test_one", "tests/test_a.py::TestX::test_two", "tests/unit/test_b.py::test_one"
P1, P2 = "tests/test_p.py::test_p[1-2]", "tests/test_p.py::test_p[3]"
JS = "src/cart.test.js::adds"
IDS = (A, A2, B, P1, P2, JS)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("", ()),
        (f"`{A}` has to pass.", (A,)),
        ("fix test_one", (A, B)),
        ("fix test_one_more", ()),
        ("my_test_one fails", ()),
        ("tests/test_a.py fails", (A, A2)),
        ("see test_a.py.", (A, A2)),
        ("see other/test_a.py", ()),
        ("see tests/test_a.pyx", ()),
        ("test_two in tests/test_a.py", (A2,)),
        (f"{A} in tests/test_a.py", (A,)),
        (f"only {P1}", (P1,)),
        ("tests/test_p.py::test_p fails", (P1, P2)),
        ("TestX.test_two and tests/unit/test_b.py", (A2, B)),
        ("it adds numbers", ()),
        ("src/cart.test.js is red", (JS,)),
    ],
)
def test_the_more_precise_mention_wins(text: str, named: tuple[str, ...]):
    assert named_tests(text, IDS) == named


@example_count(60)
@given(st.text(max_size=80), st.lists(st.text(max_size=30), max_size=5))
def test_any_text_and_any_ids_are_fine_and_an_id_written_out_is_named(text: str, ids: list[str]):
    assert set(named_tests(text, ids)) <= set(ids)
    assert named_tests(f"{text} {A} {text}", [A]) == (A,)


def check(command: str, role: str = "test") -> Check:
    return Check.model_validate({"name": "x", "command": command, "role": role, "origin": "detected"})


@pytest.mark.parametrize(
    ("text", "command", "role", "named"),
    [
        ("run `make test` to see", "make test", "test", True),
        ("run make testing", "make test", "test", False),
        ("make it work", "make test", "test", False),
        ("pytest fails", ".venv/bin/python -m pytest", "test", True),
        ("edit pytest.ini", "uv run pytest", "test", False),
        ("clean up what ruff says", "ruff check .", "lint", True),
        ("fix all lint errors", "ruff check .", "lint", True),
        ("the linked list", "ruff check .", "lint", False),
        ("fix the type errors", "mypy .", "types", True),
        ("a new type of user", "mypy .", "types", False),
    ],
)
def test_a_check_is_named_by_its_command_its_tool_or_its_purpose(text: str, command: str, role: str, named: bool):
    assert names_check(text, check(command, role)) is named
