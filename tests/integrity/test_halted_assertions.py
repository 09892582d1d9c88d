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
    ("lines", "line", "decider"),
    [
        ((9,), 9, "nothing"),
        ((11, 8), 9, "nothing"),
        ((14,), 14, "rounds"),
        ((14, 9), 14, "rounds"),
        ((19,), 19, "rounds"),
    ],
)
def test_the_last_assertion_on_the_lines_is_found(lines: tuple[int, ...], line: int, decider: str) -> None:
    found = halted_assertion("test_shop.py", TEST.encode(), lines)

    assert found is not None
    assert (found.line, found.decider) == (line, decider)
    for changed in (found.failing, found.ending):
        ast.parse(changed)
        assert changed != TEST.encode()
        assert len(changed.splitlines()) == len(TEST.splitlines())


@pytest.mark.parametrize("lines", [(), (8,), (20,), (21,), (26,), (30,), (99,)])
def test_what_is_no_assertion_that_fails_its_test_is_left_alone(lines: tuple[int, ...]) -> None:
    """A `with` that expects an error, a test that is expected to fail, and an assertion that always fails are none."""
    assert halted_assertion("test_shop.py", TEST.encode(), lines) is None


def test_a_failure_in_its_place_fails_the_test() -> None:
    found = halted_assertion("test_shop.py", b"def test_pay():\n    assert 1 == 1\n", [2])

    assert found is not None
    space: dict = {}
    exec(found.failing, space)
    with pytest.raises(AssertionError):
        space["test_pay"]()


def test_what_cannot_be_read_is_left_alone() -> None:
    assert halted_assertion("test_shop.py", b"def (", [1]) is None


CALLS = {
    "shop.test.js": (
        "const test = require('node:test');\n"
        "test('pays', () => {\n"
        "  for (const [price, total] of CASES) {\n"
        "    assert.strictEqual(pay(price), total);\n"
        "  }\n"
        "  each([1], (one) => assert.notEqual(pay(one), 9));\n"
        "  if (isLate) { expect(late()).toBe(3) }\n"
        "  expect(pay(4))\n"
        "    .toEqual(3);\n"
        "});\n"
    ),
    "shop_test.go": (
        'package shop\n\nimport "testing"\n\n'
        "func TestPay(t *testing.T) {\n"
        "\tWith(1000, func(got int) {\n"
        "\t\tif got != 900 {\n"
        '\t\t\tt.Fatalf("got %d", got)\n'
        "\t\t}\n"
        "\t})\n"
        "\tfor _, c := range []row{{1, 2}, {3, 4}} {\n"
        "\t\tif _, err := Pay(c.a); err != nil {\n"
        "\t\t\tt.Error(err)\n"
        "\t\t} else if c.b == 5 {\n"
        '\t\t\tt.Fatal("five")\n'
        "\t\t}\n"
        "\t}\n"
        "\tif len(Split(10)) != 3 {\n"
        '\t\tt.Fatal("not three")\n'
        "\t}\n"
        "}\n"
    ),
    "shop.rs": (
        "#[test]\nfn status() {\n"
        "    for a in list() { assert_eq!(a.price, 3); }\n"
        "    assert_eq!(paid(true), Status::Paid);\n"
        "    match x { A => assert_ne!(paid(true), 3), B => {} }\n"
        "}\n"
    ),
    "shop.c": "int main(void) {\n  for (int i = 0; i < 3; i++)\n    assert(area(i) == i);\n  assert(area(1) == 2);\n}\n",
}


@pytest.mark.parametrize(
    ("path", "line", "first", "decider", "asks"),
    [
        ("shop.test.js", 4, 4, "rounds", True),
        ("shop.test.js", 6, 6, "rounds", False),
        ("shop.test.js", 7, 7, "branch", True),
        ("shop.test.js", 9, 8, "nothing", True),
        ("shop_test.go", 8, 7, "rounds", True),
        ("shop_test.go", 13, 12, "rounds", False),
        ("shop_test.go", 15, 14, "branch", False),
        ("shop_test.go", 19, 18, "nothing", True),
        ("shop.rs", 3, 3, "rounds", True),
        ("shop.rs", 4, 4, "nothing", True),
        ("shop.rs", 5, 5, "branch", False),
        ("shop.c", 3, 3, "rounds", True),
        ("shop.c", 4, 4, "nothing", True),
    ],
)
def test_the_same_of_languages_with_brackets(path: str, line: int, first: int, decider: str, asks: bool) -> None:
    found = halted_assertion(path, CALLS[path].encode(), [line])

    assert found is not None
    assert (found.line, found.decider, found.asks_for_equality) == (first, decider, asks)
    for changed in (found.failing, found.ending):
        lines = changed.decode().splitlines()
        assert len(lines) == len(CALLS[path].splitlines())
        assert lines[first - 1] != CALLS[path].splitlines()[first - 1]
