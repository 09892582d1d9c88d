"""Pairs of assertions that no code can meet together are found, and pairs that some code can meet are not."""

import random
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.integrity.probes.expectations import Conflict, Product, conflicts, python_expectations

PURE = "def f(*given):\n    return len(given)\n\n\ndef g(*given):\n    return given\n"
STUBS = "def f(*given):\n    raise NotImplementedError\n\n\ndef g(*given):\n    raise NotImplementedError\n"
STATEFUL = (
    "SEEN = []\n\n\ndef f(*given):\n    SEEN.append(given)\n    return len(SEEN)\n\n\ndef g(*given):\n    return 1\n"
)


def found(tests: str | dict[str, str], product: str = STUBS, **files: str) -> list[Conflict]:
    """All conflicts of these test modules."""
    modules = tests if isinstance(tests, dict) else {"test_it.py": tests}
    tree = {"shop.py": product, **modules, **{f"{name}.py": text for name, text in files.items()}}
    known = Product(frozenset(tree), lambda path: tree[path].encode() if path in tree else None)
    expected = [each for path, text in modules.items() for each in python_expectations(path, text.encode(), known)]
    return list(conflicts(expected, lambda _: True))


def lines(tests: str, product: str = STUBS) -> list[tuple[int, int]]:
    return sorted({(each.first.line, each.second.line) for each in found(tests, product)})


def two(first: str, second: str, head: str = "from shop import f, g, Cart") -> str:
    """A module with two tests of these bodies."""
    bodies = ["\n".join(f"    {line}" for line in body.splitlines()) for body in (first, second)]
    return f"{head}\n\n\ndef test_one():\n{bodies[0]}\n\n\ndef test_two():\n{bodies[1]}\n"


CONTRADICTING = {
    "==": ("assert f(1) == 2", "assert f(1) == 3"),
    "the other way round": ("assert 2 == f(1)", "assert f(1) == 3"),
    "a name for the result": ("got = f(1)\nassert got == 2", "assert f(1) == 3, 'message'"),
    "a name for the argument": ("data = [1]\nassert f(data) == 2", "assert f([1]) == 3"),
    "keywords and spaces": ("assert f(1,  b = 2) == 2", "assert f(1, b=2) == 3"),
    "quotes": ("assert f('a') == 2", 'assert f("a") == 3'),
    "is": ("assert f(1) is None", "assert f(1) == 3"),
    "truth": ("assert f(1)", "assert not f(1)"),
    "bool": ("assert f(1) is True", "assert f(1) is False"),
    "lists": ("assert f(1) == [1, 2]", "assert f(1) == [2, 1]"),
    "dictionaries": ("assert f(1) == {'a': 1}", "assert f(1) == {'a': 2}"),
    "a builtin around": ("assert sorted(f(1)) == [1]", "assert sorted(f(1)) == [2]"),
    "a part of the result": ("assert f(1)['a'].b == 1", "assert f(1)['a'].b == 2"),
    "the same beginning": (
        "cart = Cart()\ncart.add(2)\nassert cart.total(1) == 2\nassert len(cart.items) == 1",
        "basket = Cart()\nbasket.add(2)\nassert basket.total(1) == 3\nassert len(basket.items) == 1",
    ),
    "an equality and an inequality": ("assert f(1) == 2", "assert f(1) != 2"),
    "a conjunction": ("assert f(1) == 2 and f(2) == 3", "assert f(1) == 4"),
    "an import in the test": ("from shop import f as h\nassert h(1) == 2", "assert f(1) == 3"),
    "a comment between": ("'''Why.'''\nassert f(1) == 2", "pass\nassert f(1) == 3"),
}


@pytest.mark.parametrize("case", CONTRADICTING)
def test_two_tests_that_do_the_same_and_expect_different_results_contradict_each_other(case: str) -> None:
    first, second = CONTRADICTING[case]
    assert found(two(first, second))
    assert found(two(second, first))


def test_a_call_that_must_raise_contradicts_one_that_must_return() -> None:
    text = two("with pytest.raises(KeyError):\n    f(1)", "assert f(1) == 3", "import pytest\nfrom shop import f")
    (conflict,) = found(text)
    assert conflict.words == "test_it.py:7 expects `f(1) raises KeyError`, and test_it.py:11 expects `f(1) == 3`"


HONEST = {
    "the same value": ("assert f(1) == 2", "assert f(1) == 2"),
    "the same number of another type": ("assert f(1) == 1", "assert f(1) == 1.0 and f(1) == True"),
    "other arguments": ("assert f(1) == 2", "assert f('1') == 3"),
    "another function": ("assert f(1) == 2", "assert g(1) == 3"),
    "something before": ("assert f(1) == 2", "g(5)\nassert f(1) == 3"),
    "the same function before": ("assert f(1) == 2", "f(1)\nassert f(1) == 3"),
    "another object": ("c = Cart()\nassert c.n(1) == 2", "c = Cart()\nc.add(1)\nassert c.n(1) == 3"),
    "an attribute set before": ("assert f(1) == 2", "import shop\nshop.RATE = 2\nassert f(1) == 3"),
    "a block": ("assert f(1) == 2", "with g(1):\n    assert f(1) == 3"),
    "a condition": ("assert f(1) == 2", "if g(1):\n    assert f(1) == 3"),
    "a loop": ("assert f(1) == 2", "for n in [3]:\n    assert f(1) == n"),
    "unreachable": ("assert f(1) == 2", "return\nassert f(1) == 3"),
    "near": ("assert f(1) == 0.3", "assert f(1) == 0.30000000000000004"),
    "versions that are equal": ("assert f(1) == '1.0'", "assert f(1) == '1.0.0'"),
    "types with an equality of their own": ("assert f(1) == '1.0'", "assert f(1) == (1, 0)"),
    "not a literal": ("assert f(1) == 2", "assert f(1) == g(1)"),
    "chained": ("assert f(1) == 2", "assert 1 < f(1) == 3"),
    "alternatives": ("assert f(1) == 2", "assert f(1) == 3 or f(1) == 2"),
    "in": ("assert f(1) in [2]", "assert f(1) in [3]"),
    "not": ("assert f(1) == 2", "assert not f(1) == 3"),
    "a changed argument": ("a = [1]\nf(a)\nassert f(a) == 2", "f([1])\nassert f([1]) == 3"),
    "what was shadowed": ("f = g(1)\nassert f(1) == 2", "assert f(1) == 3"),
    "an argument from outside": ("import os\nassert f(os.getpid()) == 2", "import os\nassert f(os.getpid()) == 3"),
    "an object made twice": ("a = f(1)\nassert a.n == 1", "f(1)\nassert f(1).n == 2"),
    "a delayed look": ("a = f(1)\nf(2)\nassert a == [1]", "f(2)\nassert f(1) == [2]"),
    "near things": ("import pytest\nassert f(1) == pytest.approx(2)", "import pytest\nassert f(1) == pytest.approx(3)"),
}


@pytest.mark.parametrize("product", [STUBS, PURE], ids=["stubs", "pure"])
@pytest.mark.parametrize("case", HONEST)
def test_two_tests_that_some_code_can_pass_are_no_contradiction(case: str, product: str) -> None:
    first, second = HONEST[case]
    impossible = {"something before", "the same function before", "an object made twice"} if product is PURE else set()
    assert bool(found(two(first, second), product)) == (case in impossible)


TWO = two("assert f(1) == 2", "assert f(1) == 3")
PREPARED = {
    "an automatic fixture": TWO.replace("\n\n\n", "\n\n\n@pytest.fixture(autouse=True)\ndef x():\n    ...\n\n\n", 1),
    "a fixture": TWO.replace("test_two()", "test_two(patched)"),
    "a decorator": TWO.replace("def test_two", "@patch('shop.RATE', 2)\ndef test_two"),
    "a mark": TWO.replace("def test_two", "@pytest.mark.slow\ndef test_two"),
    "a set-up of the module": f"{TWO}\n\ndef setup_module():\n    ...\n",
    "a set-up of each test": f"{TWO}\n\ndef setup_function(function):\n    ...\n",
    "a second function of this name": f"{TWO}\n\ndef test_two():\n    assert f(1) == 2\n",
    "a function below a condition": TWO.replace("def test_two():\n    ", "if X:\n    def test_two():\n        "),
    "an import below a condition": TWO.replace(
        "from shop import f,", "try:\n    from a import f\nexcept E:\n    from shop import f\nfrom shop import"
    ),
    "a name bound again": TWO.replace("Cart\n", "Cart\n\nf = g(f)\n", 1),
    "a name that a function binds": f"{TWO}\n\ndef test_three():\n    global f\n    f = 1\n",
    "an import of all names": TWO.replace("import f, g, Cart", "import *"),
    "marks of the module": f"{TWO}\npytestmark = pytest.mark.usefixtures('patched')\n",
    "a helper of the tests": TWO.replace("from shop", "from tests.helpers"),
    "the standard library": TWO.replace("from shop import f, g, Cart", "from random import randint as f"),
    "another package": TWO.replace("from shop", "from numpy"),
    "a test of another kind": TWO.replace("def test_two", "async def test_two"),
    "a coroutine": TWO.replace("assert f", "assert await f").replace("def test", "async def test"),
    "no test": TWO.replace("test_two", "check_two"),
    "defaults": TWO.replace("test_two()", "test_two(n=1)"),
}


@pytest.mark.parametrize("case", PREPARED)
def test_tests_whose_start_is_not_surely_the_same_are_no_contradiction(case: str) -> None:
    assert found(TWO)
    text = PREPARED[case]
    assert text != TWO
    assert not found(text)


CLASS = """\
import unittest
from shop import f


class Both(unittest.TestCase):
    def test_one(self):
        self.assertEqual(f(1), 2)

    def test_two(self):
        self.assertEqual(3, f(1), msg="x")
"""


def test_methods_of_a_plain_test_case_contradict_each_other() -> None:
    assert lines(CLASS) == [(7, 10)]
    assert not found(CLASS.replace("    def test_two", "    def setUp(self):\n        ...\n\n    def test_two"))
    assert not found(CLASS.replace("(unittest.TestCase)", "(Base)"))
    assert not found(CLASS.replace("class Both", "@patched\nclass Both"))
    assert not found(CLASS.replace("self.assertEqual(3", "self.helper(); self.assertEqual(3"))
    assert not found(CLASS.replace("assertEqual(3, f(1)", "assertAlmostEqual(3, f(1)"))
    assert lines(CLASS.replace("(unittest.TestCase)", "").replace("Both", "TestBoth")) == []


def test_a_conftest_with_hooks_or_automatic_fixtures_leaves_nothing_sure() -> None:
    inside = {"tests/test_it.py": TWO}
    assert found(inside)
    assert not found({**inside, "tests/conftest.py": "@pytest.fixture(autouse=True)\ndef x(): ...\n"})
    assert not found({**inside, "conftest.py": "def pytest_runtest_setup(item): ...\n"})
    assert found({**inside, "conftest.py": "def pytest_addoption(parser): ...\n"})
    assert found({**inside, "other/conftest.py": "def pytest_runtest_setup(item): ...\n"})


def test_modules_are_compared_only_if_loading_them_does_nothing() -> None:
    head, one, other = (
        "from shop import f\n",
        "\n\ndef test_a():\n    assert f(1) == 2\n",
        "\n\ndef test_b():\n    assert f(1) == 3\n",
    )
    assert found({"test_a.py": head + one, "test_b.py": head + other})
    assert found({"test_a.py": head + one, "test_b.py": "import shop\n" + other.replace("f(1)", "shop.f(1)")})
    assert not found({"test_a.py": head + one, "test_b.py": f"{head}\nshop.configure(strict=True)\n{other}"})


def test_one_name_for_two_modules_is_nothing_sure() -> None:
    """As in a folder of exercises, each with a `solution.py` of its own."""
    tests = {"a/test_it.py": TWO.replace("shop", "solution")}
    assert not found(tests, **{"a/solution": STUBS, "b/solution": STUBS})
    assert found(tests, **{"a/solution": STUBS})


def test_a_function_is_the_same_by_whatever_import() -> None:
    tests = {
        "test_a.py": "import market\n\n\ndef test_a():\n    assert market.f(1) == 2\n",
        "test_b.py": "from market.inner import f\n\n\ndef test_b():\n    assert f(1) == 3\n",
    }
    package = {"market/__init__": "from .inner import *\n", "market/inner": STUBS}
    assert found(tests, **package)
    assert found(tests, **{**package, "market/__init__": "from market.inner import f\n"})
    assert not found(tests, **{**package, "market/__init__": "def __getattr__(name): ...\n"})
    assert not found(tests, **{**package, "market/__init__": "f = make()\n"})


def test_an_object_of_the_product_is_no_function() -> None:
    text = two("assert cart.count('a') == 0", "assert cart.count('a') == 1", "from shop import cart")
    assert not found(text, "class Cart: ...\n\n\ncart = Cart()\n")


SAME_TEST = "from shop import f\n\n\ndef test_one():\n    assert f({0}) == {1}\n    assert f({0}) == {2}\n"


def test_one_test_contradicts_itself_only_where_the_function_is_pure_and_no_stub() -> None:
    text = SAME_TEST.format("'ab'", 1, 2)
    assert lines(text, PURE) == [(5, 6)]
    assert not found(text, STUBS), "a function that is to be written may count"
    assert not found(text, STATEFUL)
    assert not found(text, "def f(x):\n    return 1\n"), "a stub"
    assert not found(text, "import random\n\n\ndef f(x):\n    return random.choice(x)\n")
    assert not found(text, "def f(x, seen=[]):\n    seen.append(x)\n    return len(seen)\n")
    assert not found(text, "N = 0\n\n\ndef f(x):\n    global N\n    N += len(x)\n    return N\n")
    assert not found(text, "from functools import cache\n\n\n@cache\ndef f(x):\n    return len(x)\n")
    assert not found(text, "class C: n = 0\n\n\ndef f(x):\n    C.n += len(x)\n    return C.n\n")
    assert not found(text, "def f(x):\n    f.n = len(x)\n    return f.n\n")
    assert not found(text, "TABLE = {}\n\n\ndef f(x):\n    return TABLE.get(x)\n")
    assert not found(text, "def f(x):\n    yield x\n")
    assert lines(
        text, "import math\nRATE = 2\n\n\ndef h(x):\n    return x * RATE\n\n\ndef f(x):\n    return h(len(x))\n"
    )


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (True, False),
        ("'a-b'", "'a-b-2'"),
        ("[]", "['a']"),
        (50, 0),
        ("'ok'", None),
        ("[1]", "[1, 2]"),
        ("{1: 2}", "{1: 3}"),
    ],
)
def test_values_that_look_like_states_are_no_contradiction_in_one_test(one: object, other: object) -> None:
    """A ticket may ask for a state that the function does not have yet: names become unique, seats are taken."""
    assert not found(SAME_TEST.format("'ab'", one, other), PURE)
    assert found(two(f"assert f('ab') == {one}", f"assert f('ab') == {other}"), PURE)


def test_state_that_is_there_already_is_no_contradiction() -> None:
    """Tests that depend on their order are bad, and can pass all the same."""
    assert not found(two("assert f(1) == 1", "assert f(1) == 2"), STATEFUL)


def test_rows_of_a_table_contradict_each_other() -> None:
    text = (
        "import pytest\nfrom shop import f\n\nROWS = [\n    (1, 2),\n    (2, 3),\n    (1, 3),\n]\n\n\n"
        "@pytest.mark.parametrize(('given', 'expected'), ROWS)\ndef test_f(given, expected):\n    assert f(given) == expected\n"
    )
    assert lines(text) == [(5, 7)]
    assert not found(text.replace("(1, 3)", "pytest.param(1, 3, marks=pytest.mark.xfail)"))
    assert not found(text.replace(", ROWS)", ", ROWS, indirect=['given'])"))
    assert not found(text.replace("test_f(given,", "test_f(patched, given,"))
    assert not found(text.replace("(1, 3)", "(3, 3)"))


# -- generated pairs: the truth is computed, never parsed

CALLS = st.tuples(st.sampled_from("fg"), st.integers(0, 2))
STEP = st.tuples(CALLS, st.integers(0, 2))
TEST = st.lists(STEP, min_size=1, max_size=3)


def body(steps: list, style: int) -> str:
    """Assertions in one of several styles of writing."""
    chance = random.Random(style)
    written = []
    for number, ((name, argument), value) in enumerate(steps):
        call = f"{name}({argument})"
        forms = [
            f"assert {call} == {value}",
            f"assert {value} == {call}",
            f"got{number} = {call}\nassert got{number} == {value}",
        ]
        forms.append(f"x{number} = {argument}\nassert {name}(x{number}) == {value}")
        written.append(chance.choice(forms))
    return "\n".join(written)


def can_pass_together(one: list, other: list) -> bool:
    """Whether some machine, with any memory, answers both tests rightly, each begun afresh."""
    answers: dict[tuple, int] = {}
    for steps in (one, other):
        asked: tuple = ()
        for call, value in steps:
            asked += (call,)
            if answers.setdefault(asked, value) != value:
                return False
    return True


@example_count(150)
@given(TEST, TEST, st.integers(0, 9))
def test_a_pair_contradicts_exactly_if_no_machine_can_pass_both_tests(one: list, other: list, style: int) -> None:
    text = two(body(one, style), body(other, style + 1))
    assert bool(found(text)) == (not can_pass_together(one, other))


@example_count(100)
@given(TEST, TEST, st.integers(0, 9))
def test_of_pure_functions_a_pair_contradicts_exactly_if_no_function_can_pass_both(
    one: list, other: list, style: int
) -> None:
    answers: dict = {}
    value_of = [(call, value + 5) for call, value in (*one, *other)]
    possible = all(answers.setdefault(call, value) == value for call, value in value_of)
    text = two(body([(c, v + 5) for c, v in one], style), body([(c, v + 5) for c, v in other], style + 1))
    assert bool(found(text, PURE)) == (not possible)


def test_what_python_itself_can_hardly_read_is_no_crash() -> None:
    deep = "-" * 3000 + "1"
    number = "0x" + "f" * 9000
    for text in (deep, number, "[" * 80 + "]" * 80, "'\\ud800'", "1e999", "b'\\xff'"):
        with suppress(RecursionError, ValueError):  # the caller takes it for nothing found
            found(two(f"assert f(1) == {text}", f"assert f({text}) == 2"))


def test_the_id_of_each_expectation_is_the_runners() -> None:
    text = CLASS + "\n\n@pytest.mark.parametrize('n', [1, 2])\ndef test_n(n):\n    assert f(n) == 7\n"
    product = Product({"shop.py"}, lambda path: STUBS.encode() if path == "shop.py" else None)
    ids = [each.test for each in python_expectations("test_it.py", f"import pytest\n{text}".encode(), product)]
    assert ids == ["Both::test_one", "Both::test_two", "test_n[1]", "test_n[2]"]
