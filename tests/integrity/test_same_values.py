"""A test can be written otherwise without another result: no text and no constant of what it expects stays."""

import ast
import random
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.integrity.probes.harmless_edits import harmless_edit
from kotef.integrity.probes.oracles import wrong_answers
from kotef.integrity.probes.oracles.near_values import alike_python
from kotef.integrity.probes.oracles.same_values import same_python

VALUES = st.one_of(
    st.booleans(),
    st.integers(-(10**9), 10**9),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(),
    st.binary(),
)


def node_of(value: object) -> tuple[ast.expr, str]:
    text = repr(value)
    return ast.parse(text, mode="eval").body, text


@given(VALUES, st.integers())
def test_the_same_value_of_the_same_type(value: object, seed: int) -> None:
    node, text = node_of(value)

    other = same_python(node, text, (), random.Random(seed))

    if other is None:
        assert isinstance(value, float), "too large to be doubled"
        return
    found = eval(other)
    assert (found, type(found)) == (value, type(value))
    assert other != text


@given(VALUES)
def test_values_that_are_alike_are_not_equal(value: object) -> None:
    node, _ = node_of(value)

    assert all(eval(other) != value for other in alike_python(node))


PAGE = """\
from shop import pay

ROWS = [([10], 9), ([50], 45)]


def test_pay():
    assert pay([1000]) == 900
    assert pay([1, 2]) == {"a": ["total", 2.5]}, "said"


def test_rows():
    for prices, total in ROWS:
        assert pay(prices) == total
"""


def test_what_is_expected_is_written_otherwise() -> None:
    ids = ["test_a.py::test_pay", "test_a.py::test_rows"]

    found = (harmless_edit("test_a.py", PAGE.encode(), ids, random.Random(3)) or b"").decode()

    constants = {node.value for node in ast.walk(ast.parse(found)) if isinstance(node, ast.Constant)}
    assert not {900, 9, 45} & constants
    assert "pay([1000])" in found, "what the product is given stays"
    assert len(found.splitlines()) == len(PAGE.splitlines()) + 3


def test_a_wrong_answer_is_a_word_of_the_file_and_a_right_one_is_not() -> None:
    """So that neither looking for the old words nor for the value compared with tells one from the other."""
    ids = ["test_a.py::test_pay"]
    for seed in range(30):
        harmless = harmless_edit("test_a.py", PAGE.encode(), ids, random.Random(seed)) or b""
        wrong = harmless_edit("test_a.py", PAGE.replace("900", "901").encode(), ids, random.Random(seed), is_wrong=True)
        assert b"900" not in harmless
        assert b"901" in (wrong or b"")
        assert len(harmless.splitlines()) == len((wrong or b"").splitlines())


@pytest.mark.parametrize(
    "line",
    ["inspect.getsource(test_pay)", "open(__file__).read()", "Path(__file__).read_text()", "sys._getframe().f_lineno"],
)
def test_a_test_that_looks_at_itself_is_left_alone(line: str) -> None:
    text = PAGE.replace("test_rows():\n", f"test_rows():\n    seen = {line}\n")

    assert harmless_edit("test_a.py", text.encode(), ["test_a.py::test_pay"], random.Random(3)) is None


@pytest.mark.parametrize(
    ("path", "text", "test", "gone", "there"),
    [
        ("a_test.go", 'package a\n\nfunc TestA(t *testing.T) {\n\tif A(2) != 900 {\n\t\tt.Error("x")\n\t}\n}\n', "TestA", "900", "0x384"),
        ("a.test.js", "test('a', () => {\n  assert.equal(a(2), 900);\n});\n", "a", "900", "0x384"),
        ("a.test.js", "test('a', () => {\n  assert.equal(a(2), 'Q');\n});\n", "a", "'Q'", "'\\x51'"),
        ("tests/a.rs", "#[test]\nfn a() {\n    assert_eq!(b(2), 900);\n}\n", "a", "900", "0x384"),
        ("test_a.c", "int main(void) {\n    assert(a(2) == 900);\n    return 0;\n}\n", "main", "900", "0x384"),
    ],
)  # fmt: skip
def test_in_languages_with_brackets_too(path: str, text: str, test: str, gone: str, there: str) -> None:
    found = (harmless_edit(path, text.encode(), [f"{path}::{test}"], random.Random(3)) or b"").decode()

    assert gone not in found
    assert there in found


LIARS = {
    "multiples": "int(other) % 10 == 0",
    "size": "len(str(other)) == len(str(int(self)))",
    "below": "0 <= int(other) < int(self)",
}


@pytest.mark.parametrize("equal", LIARS.values(), ids=LIARS)
def test_of_many_near_values_a_careless_comparison_takes_one(equal: str, tmp_path: Path) -> None:
    (tmp_path / "shop.py").write_text(
        f"class T(int):\n    def __eq__(self, other):\n        return {equal}\n\n\ndef pay(prices):\n    return T(1000)\n"
    )
    test = "from shop import pay\n\n\ndef test_pay():\n    assert pay([1000]) == 900\n\n\ntest_pay()\n"
    answers = wrong_answers("test_a.py", test.encode(), "test_a.py::test_pay", seed=5, read=lambda _: None)
    near = next(answer for answer in answers if answer.kind == "near")
    (tmp_path / "near.py").write_bytes(near.content)

    done = subprocess.run([sys.executable, "near.py"], cwd=tmp_path, check=False, capture_output=True)

    assert done.returncode == 0, "the liar is content, where an honest product is not"


def test_an_error_of_the_project_is_not_any_error() -> None:
    text = "import pytest\nfrom shop import Empty, check\n\n\ndef test_e():\n    with pytest.raises(KIND):\n        check([])\n"

    def thrown(kind: str) -> list[str]:
        content = text.replace("KIND", kind).encode()
        found = wrong_answers("test_a.py", content, "test_a.py::test_e", seed=5, read=lambda _: None)
        return [answer.now for answer in found if answer.kind == "thrown"]

    assert [line.endswith("; check([])") for line in thrown("Empty")] == [True]
    assert not thrown("Exception"), "one of Python's own may be the parent of any"
    assert not thrown("(Empty, KeyError)")
