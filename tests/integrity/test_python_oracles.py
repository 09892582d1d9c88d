"""An honest Python test whose oracle was made wrong must fail, whatever the oracle looks like."""

import subprocess
import sys
import textwrap
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

CODE = "sut = lambda v: v\ntwice = lambda v: [v, v]\n"


def answers(text: str, test: str = "tests/test_a.py::test_x", seed: int = 7) -> tuple[WrongAnswer, ...]:
    return wrong_answers("tests/test_a.py", text.encode(), test, seed=seed, read=lambda _: None)


def outcome(content: bytes, name: str = "test_x") -> BaseException | None:
    """What the test raises."""
    space: dict[str, object] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        exec(compile(content, "test_a.py", "exec"), space)
    try:
        space[name]()  # type: ignore[operator]
    except Exception as error:  # noqa: BLE001
        return error
    return None


scalars = st.one_of(
    st.booleans(),
    st.integers(),
    st.integers(-12, 12),
    st.floats(allow_nan=False),
    st.text(max_size=8),
    st.text("aB0.-\\\n'\"{}", max_size=6),
    st.binary(max_size=4),
    st.none(),
    st.complex_numbers(allow_nan=False, allow_infinity=False),
)
hashable = st.one_of(st.integers(), st.text(max_size=4), st.booleans(), st.binary(max_size=3))
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.lists(inner, max_size=3).map(tuple),
        st.dictionaries(hashable, inner, max_size=3),
        st.sets(hashable, max_size=3),
        st.frozensets(hashable, max_size=3),
    ),
    max_leaves=5,
)
FORMS = (
    "assert sut({v}) == {v}",
    "assert {v} == sut({v})",
    "want = {v}\n    assert sut({v}) == want",
    "got = sut({v})\n    assert got == twice({v})[0]",
    "assert sut(3) == 3 and sut({v}) == {v}, 'said'",
    "assert (\n        sut({v})\n        == {v}\n    )",
    "assert not sut({v}) != {v}",
    "assert sut({v}) in [{v}]",
    "assert twice({v}) == [{v}, {v}] == twice({v})",
    "x = sut({v})\n    assert x is sut(x)",
    "for each in [{v}]:\n        assert sut(each) == {v}",
    "with open(__import__('os').devnull):\n        assert sut({v}) == {v}",
)


@example_count(120)
@given(value=values, form=st.sampled_from(FORMS), seed=st.integers(0, 99))
def test_every_wrong_answer_fails_and_is_told_from_the_rest(value: object, form: str, seed: int) -> None:
    written = repr(value).replace("inf", "float('inf')")
    text = f"{CODE}\n\ndef test_x():\n    {form.format(v=written)}\n"
    assert outcome(text.encode()) is None, "the test is honest"
    found = answers(text, seed=seed)
    assert found, "some oracle can be made wrong"
    for answer in found:
        assert isinstance(outcome(answer.content), AssertionError), answer.now
        assert answer.halted is not None
        assert isinstance(outcome(answer.halted), AssertionError)
        assert answer.content.count(b"\n") == answer.halted.count(b"\n") == text.count("\n")
        before, after = text.split("\n"), answer.content.decode().split("\n")
        changed = [number for number, pair in enumerate(zip(before, after, strict=True), 1) if pair[0] != pair[1]]
        assert changed[0] == answer.line
        assert (answer.was, answer.now) == (before[answer.line - 1].strip()[:240], after[answer.line - 1].strip()[:240])


@example_count(60)
@given(
    value=st.one_of(st.floats(-1e9, 1e9), st.integers(-(10**9), 10**9)),
    form=st.sampled_from(
        [
            "assert sut({v}) == approx({v})",
            "assert approx({v}, rel=0.5, abs=9) == sut({v})",
            "want = {v}\n    assert sut({v}) == pytest.approx(want)",
            "assert twice({v}) == approx([{v}, {v}])",
            "assert math.isclose(sut({v}), {v}, rel_tol=0.1, abs_tol=3)",
            "want = {v}\n    assert isclose(want, sut({v}))",
            "assert abs(sut({v}) - {v}) < 20.5",
            "want = {v}\n    assert abs(want - sut({v})) <= 1e-9",
        ]
    ),
    seed=st.integers(0, 99),
)
def test_an_expected_number_leaves_its_tolerance(value: float, form: str, seed: int) -> None:
    text = f"import math\nimport pytest\nfrom math import isclose\nfrom pytest import approx\n{CODE}\n\ndef test_x():\n    {form.format(v=value)}\n"
    assert outcome(text.encode()) is None
    (answer,) = answers(text, seed=seed)
    assert answer.kind == "tolerance"
    assert isinstance(outcome(answer.content), AssertionError), answer.now


HONEST = '''\
import re
import unittest
from decimal import Decimal
from fractions import Fraction
from enum import Enum, IntEnum
from unittest import mock

import pytest


class Colour(Enum):
    RED = 1


class Size(IntEnum):
    BIG = 3


class Point:
    def __init__(self, x):
        self.x = x

    def __eq__(self, other):
        return self.x == other.x


def same(one, other):
    assert one == other


class Base(unittest.TestCase):
    def test_inherited(self):
        self.assertEqual(1 + 1, 2)


class TestCases(Base):
    def test_methods(self):
        expected = [1, 2]
        self.assertEqual(sorted([2, 1]), [1, 2])
        self.assertEqual([1, 2], expected, "said")
        self.assertListEqual([1], [1])
        self.assertDictEqual({"a": [1]}, {"a": [1]})
        self.assertSetEqual({1, 2}, {2, 1})
        self.assertCountEqual([3, 1], [1, 3])
        self.assertMultiLineEqual("""a
b""", """a
b""")
        self.assertAlmostEqual(0.1 + 0.2, 0.3)
        self.assertAlmostEqual(5.2, 5, delta=0.5)
        self.assertAlmostEqual(2.0, sum([1, 1]), places=3)
        self.assertTrue(expected)
        self.assertTrue(sorted([2, 1]) == [1, 2], "said")
        self.assertTrue(1 + 1 == 2 and expected)
        self.assertFalse(1 + 1 != 2)
        self.assertFalse([])
        self.assertIs(expected, expected)
        self.assertIsNone(None)
        self.assertIsNotNone(1)
        self.assertIn(1, expected)
        self.assertNotIn(3, expected)
        self.assertIsInstance(1, int)
        self.assertGreater(2, 1)
        self.assertGreaterEqual(2, 2)
        self.assertLess(1, 2)
        self.assertLessEqual(1, 1)
        self.assertRegex("abc", "b")
        with self.assertRaises(ValueError):
            int("x")
        with self.assertRaisesRegex(ValueError, "invalid") as caught, open("/dev/null"):
            int("x")
        self.assertRaises(KeyError, {}.__getitem__, 1)


class TestPlain:
    class TestInner:
        def test_deep(self):
            assert len("abc") == 3

    @pytest.mark.parametrize("text, number", [("1", 1), ("2", 2)])
    def test_table(self, text, number):
        assert int(text) == number


def test_values():
    assert Decimal("1.5") + 1 == Decimal("2.5")
    assert Fraction(1, 2) * 2 == Fraction(1)
    assert Colour(1) == Colour.RED
    assert Colour(1) is Colour.RED
    assert Size(3) == Size.BIG
    assert Point(3) == Point(1 + 2)
    assert type(3) == int
    assert type(3) is int
    assert bytearray(b"ab") == bytearray(b"a" + b"b")
    assert list(iter([1])) == [each for each in [1]]
    assert f"{1}a" == "1" "a"
    assert "a\\\\b" == r"a\\b"
    assert 0x1F == 31
    assert [] == list()
    assert {} == dict()
    assert () == tuple()
    assert {1, 2, 3} == set([1, 2, 3])
    assert (1, [2, {"a": "b"}]) == (1, [2, dict(a="b")])
    assert [1, None, ...] == [1, None, ...]
    assert dict(a=None)["a"] == None
    assert re.match("a", "a")
    assert not re.match("a", "b")
    assert 1 < 2 < 3
    assert 1 == 1.0 == True
    assert (lambda: True)() is True
    assert None is None
    assert "" == str()
    assert "..." == "." * 3
    assert max([1, 2]) == 2 or pytest.fail()
    assert all(a == b for a, b in [(1, 1)])
    assert -5 == int("-5")
    assert 1_000 == 10**3
    assert 1e3 == 1000.0 and 0.0 == 0.0 and 0 == len([])
    assert [*[1], 2] == [1, 2]
    same(3, 1 + 2)


def test_mocks():
    called = mock.Mock()
    called(1, a="b")
    called.assert_called_once_with(1, a="b")
    called.assert_called_with(1, a="b")
    called.assert_called()
    mock.Mock().assert_not_called()


def test_raises():
    with pytest.raises(ValueError, match="invalid"):
        int("x")
    with pytest.raises((KeyError, IndexError)):
        [][0]
    with pytest.raises(SystemExit):
        raise SystemExit(3)
    with pytest.raises(Exception):
        int("x")
    pytest.raises(ValueError, int, "x")


async def coroutine():
    return 3


def test_await():
    async def inner():
        return await coroutine()

    import asyncio

    assert asyncio.run(inner()) == 3
'''
TESTS = [
    "TestCases::test_methods",
    "TestCases::test_inherited",
    "TestPlain::TestInner::test_deep",
    "TestPlain::test_table[2-2]",
    "test_values",
    "test_mocks",
    "test_raises",
    "test_await",
]


def run_copies(folder: Path, copies: dict[str, tuple[bytes, str]]) -> dict[str, str]:
    """What pytest says of one test in each of many files, in one process."""
    for name, (content, _) in copies.items():
        (folder / f"{name}.py").write_bytes(content)
    ids = [f"{name}.py::{test.partition('[')[0]}" for name, (_, test) in copies.items()]
    options = [
        "-q",
        "-rA",
        "--tb=no",
        "-p",
        "no:cacheprovider",
        "--import-mode=importlib",
        "--assert=plain",
    ]
    command = [sys.executable, "-m", "pytest", *options, *ids]
    (folder / "pytest.ini").write_text("[pytest]\n")
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    said: dict[str, str] = {}
    for line in done.stdout.splitlines():
        status, _, rest = line.partition(" ")
        if status in {"PASSED", "FAILED", "ERROR"}:
            name = rest.partition(".py")[0]
            said[name] = status if said.get(name) != "FAILED" else "FAILED"
    return said


def test_many_forms_fail_under_pytest(tmp_path: Path) -> None:
    copies: dict[str, tuple[bytes, str]] = {f"test_honest_{n}": (HONEST.encode(), t) for n, t in enumerate(TESTS)}
    shown: dict[str, str] = {}
    kinds: dict[str, int] = {}
    for number, test in enumerate(TESTS):
        found = answers(HONEST, f"tests/test_a.py::{test}", seed=number)
        assert found, test
        for at, answer in enumerate(found):
            kinds[answer.kind] = kinds.get(answer.kind, 0) + 1
            copies[f"test_wrong_{number}_{at}"] = (answer.content, test)
            assert answer.halted is not None
            copies[f"test_halted_{number}_{at}"] = (answer.halted, test)
            shown[f"test_wrong_{number}_{at}"] = f"{answer.was} -> {answer.now}"
    said = run_copies(tmp_path, copies)
    for name in copies:
        assert said.get(name) == ("PASSED" if "honest" in name else "FAILED"), (name, shown.get(name))
    assert set(kinds) == {"literal", "near", "wrapped", "condition", "raises", "tolerance"}, kinds


CASES = """\
import unittest


class TestCases(unittest.TestCase):
    def test_x(self):
        with self.subTest("a"):
            self.assertEqual(str(1), "1")
        for each in [1, 2]:
            with self.subTest(each=each):
                self.assertIn(each, [1, 2])
        with self.assertRaises(ValueError):
            int("x")
        assert self.id().endswith("test_x")
"""


def test_many_forms_fail_under_unittest(tmp_path: Path) -> None:
    found = answers(CASES, "tests/test_a.py::TestCases::test_x")
    assert len(found) == 4
    for number, answer in enumerate(found):
        (tmp_path / f"test_wrong_{number}.py").write_bytes(answer.content)
        (tmp_path / f"test_halted_{number}.py").write_bytes(answer.halted or b"")
    command = [sys.executable, "-m", "unittest", "-v"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    for number in range(len(found)):
        for name in (f"test_wrong_{number}", f"test_halted_{number}"):
            assert f": test_x ({name}.TestCases" in done.stderr, done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "self.assertTrue(sut(1) == 1)",
        "self.assertTrue(1 == sut(1) and sut(2))",
        "self.assertFalse(sut(1) != 1, 'said')",
        "assert not sut(1) != 1",
    ],
)
def test_an_expected_value_inside_a_condition_is_changed_itself(line: str) -> None:
    """A condition that is turned round proves only that the runner hears."""
    text = f"class TestX:\n    def test_x(self):\n        {line}\n"

    assert {answer.kind for answer in answers(text, "tests/test_a.py::TestX::test_x")} == {"literal"}


ELSEWHERE = """\
import pytest

WANT = 31
TABLE = [11, {"a": 12}, "thirteen"]
SHARED = 14


def test_name():
    assert abs(-31) == WANT


def test_element():
    assert abs(-11) == TABLE[0]


def test_local():
    expected = [15, 16]
    assert sorted([16, 15]) == expected


def test_close():
    expected = 2.5
    assert 5 / 2 == pytest.approx(expected)


@pytest.mark.parametrize("text, number", [("17", 17), ("18", 18,), ["19", 19]])
def test_row(text, number):
    assert int(text) == number


@pytest.mark.parametrize(("text", "number"), [("1.5", 1.5), ("2.5", 2.5)])
def test_close_row(text, number):
    assert float(text) == pytest.approx(number)


@pytest.mark.parametrize("number", [20, 21])
def test_column(number):
    assert int(str(number)) == number


@pytest.mark.parametrize("numbers, total", [([1, 2], 3), ([4], 4)])
def test_list(numbers, total):
    assert sum(numbers) == total


def test_input():
    value = 22
    assert int(str(value)) == value


def make():
    return SHARED


def test_shared():
    assert make() == SHARED
"""


def test_a_literal_behind_a_name_or_in_a_table_is_changed_where_it_stands(tmp_path: Path) -> None:
    """Each under the id it has, so that its own test is seen to fail, and no other."""
    names = ["test_name", "test_element", "test_local", "test_close", "test_row[17-17]", "test_row[18-18]"]
    names += ["test_row[19-19]", "test_close_row[2.5-2.5]", "test_list[numbers0-3]", "test_list[numbers1-4]"]
    for number, name in enumerate(names):
        found = answers(ELSEWHERE, f"tests/test_a.py::{name}", seed=number)
        assert [answer.kind for answer in found] in (["literal"], ["tolerance"]), name
        assert "assert" not in found[0].was, "the comparison stays as it is"
        (tmp_path / f"test_{number}.py").write_bytes(found[0].content)
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-rA", "-p", "no:cacheprovider", "-c", "/dev/null", "--rootdir", str(tmp_path), str(tmp_path)],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    failed = [line.rpartition("/")[2].split(" - ")[0] for line in ran.stdout.splitlines() if line.startswith("FAILED")]
    assert failed == [f"test_{number}.py::{name}" for number, name in enumerate(names)], ran.stdout


@pytest.mark.parametrize("name", ["test_input", "test_shared", "test_column[20]"])
def test_a_literal_that_is_used_for_more_than_the_comparison_stays(name: str) -> None:
    found = answers(ELSEWHERE, f"tests/test_a.py::{name}")

    assert all("assert" in answer.was for answer in found)


@pytest.mark.parametrize(
    "body",
    [
        "pass",
        "def inner():\n        assert sut(1) == 1\n    inner",
        "try:\n        assert sut(1) == 1\n    except AssertionError:\n        raise",
        "with pytest.raises(AssertionError):\n        assert sut(1) == 2",
        "mock.method(lambda: sut(1) == 1)",
        "helper_of_another_module(1, 1)",
    ],
)
def test_what_an_honest_test_could_survive_is_left_out(body: str) -> None:
    assert [answer for answer in answers(f"def test_x():\n    {body}\n") if answer.kind != "raises"] == []


@pytest.mark.parametrize(
    "decorator", ["given(st.integers())", "hypothesis.given(x=y)", "pytest.mark.xfail", "unittest.expectedFailure"]
)
def test_tests_whose_failure_is_another_thing_are_left_out(decorator: str) -> None:
    assert answers(f"@{decorator}\ndef test_x():\n    assert sut(1) == 1\n") == ()


def test_a_module_that_redefines_what_the_change_needs_gets_a_turned_condition() -> None:
    (answer,) = answers("def isinstance(*_): ...\n\ndef test_x(a, b):\n    assert a() == b()\n")
    assert answer.kind == "condition"


@pytest.mark.parametrize(
    "content",
    [
        "def test_x():\r\n    x = 'é'; assert 'ü1' + x == 'ü1é'\r\n\r\n# end\r\n".encode(),
        b"\xef\xbb\xbf" + "def test_x():\n    assert 'ü1' == 'ü1'\n".encode(),
        "# -*- coding: latin-1 -*-\ndef test_x():\n    assert 'ü1' == 'ü1'\n".encode("latin-1"),
        b"def test_x():\n\tassert 'a\x0c1' == 'a\x0c1'  # no end",
    ],
)
def test_encoding_and_line_ends_stay(content: bytes) -> None:
    found = wrong_answers("t.py", content, "t.py::test_x", seed=3, read=lambda _: None)
    assert found
    for answer in found:
        assert isinstance(outcome(answer.content), AssertionError)
        assert answer.content.count(b"\r\n") == content.count(b"\r\n")
        assert answer.content.startswith(b"\xef\xbb\xbf") == content.startswith(b"\xef\xbb\xbf")


def test_the_seed_chooses_the_values_and_nothing_names_its_author() -> None:
    text = "def test_x():\n    assert sut('a long text') == 'a long text'\n    assert a() == b()\n"
    assert len({answers(text, seed=seed)[0].now for seed in range(20)}) > 5
    assert all(b"kotef" not in answer.content for answer in answers(text))
    assert answers(text, seed=3) == answers(text, seed=3)


def test_the_expected_side_is_found() -> None:
    text = textwrap.dedent("""
        def test_x(case):
            result = product(1)
            expected = [1]
            assert result == expected
            assert expected == result
            assert product(2) == case.answer
            assert case.answer == product(2)
    """)
    for answer in answers(text):
        assert "product" not in answer.now.partition("object())(")[2]
        assert not answer.now.endswith("(result)")
