"""An assertion on a known line is replaced by a failure, or by the end of the process, and the lines stay where they are."""

import ast

import pytest

from kotef.integrity import halted_assertion

TEST = """\
import unittest
import pytest

from shop import each, pay, session


def test_pay():
    with session() as cart:
        assert (
            pay(cart)
            == 900
        )
    for one in cart:
        assert one


class Pay(unittest.TestCase):
    def test_each(self):
        each([1], lambda one: self.assertEqual(pay(one), 9))
        with self.assertRaises(ValueError):
            pay(-1)


@pytest.mark.xfail
def test_later():
    assert pay(0) == 1


def test_never():
    assert False
"""


@pytest.mark.parametrize(
    ("lines", "line", "is_unconditional"),
    [((9,), 9, True), ((11, 8), 9, True), ((14,), 14, False), ((14, 9), 14, False), ((19,), 19, False)],
)
def test_the_last_assertion_on_the_lines_is_found(lines: tuple[int, ...], line: int, is_unconditional: bool) -> None:
    """Conditional is what a loop, a branch or an inner function decides."""
    found = halted_assertion(TEST.encode(), lines)

    assert found is not None
    assert (found.line, found.is_unconditional) == (line, is_unconditional)
    for changed in (found.failing, found.ending):
        ast.parse(changed)
        assert changed != TEST.encode()
        assert len(changed.splitlines()) == len(TEST.splitlines())


@pytest.mark.parametrize("lines", [(), (8,), (20,), (21,), (26,), (30,), (99,)])
def test_what_is_no_assertion_that_fails_its_test_is_left_alone(lines: tuple[int, ...]) -> None:
    """A `with` that expects an error, a test that is expected to fail, and an assertion that always fails are none."""
    assert halted_assertion(TEST.encode(), lines) is None


def test_a_failure_in_its_place_fails_the_test() -> None:
    found = halted_assertion(b"def test_pay():\n    assert 1 == 1\n", [2])

    assert found is not None
    space: dict = {}
    exec(found.failing, space)
    with pytest.raises(AssertionError):
        space["test_pay"]()


def test_what_cannot_be_read_is_left_alone() -> None:
    assert halted_assertion(b"def (", [1]) is None
