"""Complaints are read from what real tools print, whatever format was asked for, and name the right file and line."""

import shutil
import sys
from pathlib import Path

import pytest
from support.mending import Bench

from kotef.fixers.complaints import Complaint, Frame, complaints

SHOP = "== shop/__init__.py\n== shop/cart.py\ndef pay(price):\n    return prcie\n"
TEST = SHOP + "== tests/test_cart.py\nfrom shop.cart import pay\n\n\ndef test_pay():\n    assert pay(1) == 1\n"
FIXED = "def pay(price):\n    return price\n"
WHERE = Frame("shop/cart.py", 2)


def told(text: str, *paths: str) -> list[Complaint]:
    return complaints(text, lambda path: path if path in paths else None)


@pytest.mark.examples(2)
@pytest.mark.parametrize("style", ["auto", "short", "line", "native", "no"])
def test_every_traceback_style_of_pytest_leads_to_the_fix(bench: Bench, style: str) -> None:
    bench.write(TEST)
    bench.put("pytest.ini", "[pytest]\npythonpath = .\n")
    status, output = bench.pytest(f"--tb={style}")
    assert status == 1
    fix = bench.fix(output)
    assert fix is not None
    bench.apply(fix)
    assert bench.text("shop/cart.py") == FIXED
    assert fix.rationale.startswith("shop/cart.py:2: 'prcie' is misspelt; 'price'")
    assert fix.evidence in output
    assert "NameError: name 'prcie' is not defined" in fix.evidence


def test_an_error_while_collecting_leads_to_the_fix(bench: Bench) -> None:
    """pytest shows the file of a SyntaxError behind `E`; run again, the suite is green."""
    bench.write(TEST.replace("(price):", "(price)").replace("prcie", "price"))
    bench.put("pytest.ini", "[pytest]\npythonpath = .\n")
    _, output = bench.pytest()
    fix = bench.fix(output)
    assert fix is not None
    assert fix.fixer == "syntax"
    bench.apply(fix)
    assert bench.pytest()[0] == 0


def test_unittest_and_doctest_are_read_too(bench: Bench) -> None:
    bench.write(
        SHOP + "== test_cart.py\nimport unittest\nfrom shop.cart import pay\n\n\nclass T(unittest.TestCase):\n"
        "    def test(self):\n        pay(1)\n== doc.py\nfrom shop.cart import pay\n\n\ndef f():\n"
        '    """\n    >>> pay(1)\n    1\n    """\n'
    )
    for arguments in (("-m", "unittest", "test_cart"), ("-m", "doctest", "doc.py")):
        status, output = bench.run(*arguments)
        fix = bench.fix(output)
        assert status == 1
        assert fix is not None
        assert fix.files == {"shop/cart.py": FIXED.encode()}


@pytest.mark.skipif(not shutil.which("ruff", path=str(Path(sys.executable).parent)), reason="ruff is not installed")
@pytest.mark.parametrize("form", ["concise", "full"])
def test_what_ruff_says_leads_to_the_fix(bench: Bench, form: str) -> None:
    bench.write(SHOP + "== broken.py\ndef f()\n    return 1\n")
    _, output = bench.run("-m", "ruff", "check", "--isolated", "--no-cache", f"--output-format={form}", ".")
    fixes = list(bench.proposals(output, "lint_failure", "ruff check ."))
    assert {path: text for fix in fixes[:2] for path, text in fix.files.items()} == {
        "shop/cart.py": FIXED.encode(),
        "broken.py": b"def f():\n    return 1\n",
    }


@pytest.mark.parametrize(
    "line",
    [
        "shop/cart.py:2:12: F821 undefined name 'prcie'",
        'shop/cart.py:2: error: Name "prcie" is not defined  [name-defined]',
        'shop/cart.py:2:12 - error: "prcie" is not defined (reportUndefinedVariable)',
        "shop/cart.py:2:11: E0602: Undefined variable 'prcie' (undefined-variable)",
    ],
)
def test_linters_and_type_checkers_say_the_same(line: str) -> None:
    assert told(line, WHERE.path) == [Complaint("NameError", "name 'prcie' is not defined", line, (WHERE,))]


def test_what_mypy_says_of_attributes_and_syntax() -> None:
    found = told(
        'a.py:5: error: "Cart" has no attribute "itmes"; maybe "items"?  [attr-defined]\n'
        "a.py:6: error: Expected `:`, found newline  [syntax]\n",
        "a.py",
    )
    assert [(one.error, one.message) for one in found] == [
        ("AttributeError", "'Cart' object has no attribute 'itmes'"),
        ("SyntaxError", "Expected `:`, found newline"),
    ]


def test_chained_errors_are_two_complaints_with_their_own_places() -> None:
    text = (
        'Traceback (most recent call last):\n  File "a.py", line 3, in f\n    d["x"]\nKeyError: \'x\'\n\n'
        "During handling of the above exception, another exception occurred:\n\n"
        'Traceback (most recent call last):\n  File "a.py", line 9, in <module>\n    f()\n'
        "  File \"/usr/lib/python3/lib.py\", line 5, in g\n    y\nNameError: name 'y' is not defined\n"
    )
    first, second = told(text, "a.py")
    assert (first.error, first.where) == ("KeyError", Frame("a.py", 3))
    assert (second.error, second.where) == ("NameError", None), "a library raised"
    assert second.frames[0] == Frame("a.py", 9)


def test_a_sentence_about_an_error_is_no_complaint() -> None:
    assert (
        told("we saw a NameError: name 'x' is not defined yesterday\nFAILED a.py::t - KeyError: 'x...\n", "a.py") == []
    )


def test_one_complaint_however_often_it_is_printed() -> None:
    one = "Traceback (most recent call last):\n  File \"a.py\", line 3, in f\nNameError: name 'y' is not defined\n"
    assert len(told(one * 50, "a.py")) == 1


def test_several_failures_get_a_fix_each_and_then_one_for_all(bench: Bench) -> None:
    """Each step is readable alone; together they need one run of the checks."""
    bench.write(
        "== shop.py\nimport re\n\n\ndef f(price):\n    return prcie\n\n\ndef g():\n    return math.pi, json.dumps(1)\n"
        "\n\ndef h():\n    return json.dumps(2)\n"
        "== test_it.py\nimport shop\nfor call in (lambda: shop.f(1), shop.g, shop.h):\n    try:\n        call()\n"
        "    except Exception:\n        import traceback\n        traceback.print_exc()\n        red = True\nassert 'red' not in globals()\n"
    )
    _, output = bench.check()
    fixes = list(bench.proposals(output))
    assert [fix.fixer for fix in fixes] == [
        "misspelt-name",
        "missing-import",
        "missing-import",
        "misspelt-name+missing-import",
    ]
    assert (
        fixes[-1]
        .files["shop.py"]
        .startswith(b"import json\nimport math\nimport re\n\n\ndef f(price):\n    return price\n")
    )
    assert all("\n" not in fix.rationale for fix in fixes)
    bench.apply(fixes[-1])
    assert bench.check()[0] == 0


def test_outputs_are_matched_to_files_by_any_spelling(bench: Bench) -> None:
    """Absolute, relative, from a directory below, under a link; never a file elsewhere with the same name."""
    bench.write(SHOP)
    error = ", line 2, in pay\nNameError: name 'prcie' is not defined\n"
    for path in (
        "shop/cart.py",
        "./shop/cart.py",
        "cart.py",
        f"{bench.root}/shop/cart.py",
        "/private/project/shop/cart.py",
    ):
        assert bench.fix(f'Traceback (most recent call last):\n  File "{path}"{error}'), path
    for path in ("/usr/lib/python3/site-packages/project/shop/cart.py", "/elsewhere/shop/cart.py", "<string>"):
        assert bench.fix(f'Traceback (most recent call last):\n  File "{path}"{error}') is None, path


def test_nothing_is_read_for_an_output_that_names_nothing(bench: Bench) -> None:
    bench.write(SHOP)
    assert bench.fix("1 failed\nAssertionError: 1 != 2\n") is None
    assert bench.reads == []
