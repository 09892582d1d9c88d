"""On any text and any file: nothing is raised, and what is proposed compiles and touches what it may."""

import string
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.fixers import python2_syntax
from kotef.fixers.complaints import complaints
from kotef.fixers.similarity import closest, likeness
from kotef.fixers.source import PythonText, shape, syntax_error
from kotef.fixers.table import FailingCheck, Fix, commands, propose
from kotef.source import SourceEdit

ROOT = Path("/w/project")
SHOP = '''"""A shop."""
import collections
from .rates import discount as off


class Cart:
    size: int = 0

    def __init__(self, items, *, colour="red"):
        self.items = {"apple": items}

    def total(self, rate):
        return sum(itmes.price for itmes in self.items["appel"]) + math.sqrt(rate) + f"{ratee}" + tax(1)

    def tax(self, rate):
        return rate

    def show():
        return total(Cart(colr=1).itmes, lambda *a, **k: print(a), Path(__file__))


def first(values):
    global COUNT
    COUNT = [value for value in valuse if (n := value) > 1]
    match values:
        case {"a": x, **rest} | [x, *rest]:
            return xrange(n), {}.has_key(x), values.next()
    return off(COUNT)
'''
BROKEN = 'def f(x)\n    print "a"\n    if x <> 1:\n    return f(x\nclass A:\n  def g(self:\n   pass\n'
FILES = {
    "shop/__init__.py": "",
    "shop/cart.py": SHOP,
    "shop/rates.py": "import shop.cart\n\ndef discuont(price):\n    return price\n\nPRICES = {'pear': 1}\n",
    "shop/broken.py": BROKEN,
    "tests/test_cart.py": "from shop.cart import Cart\nfrom shop.rates import discount\nCart([]).totl(1)\n",
}
WORDS = sorted(
    {
        *("Cart", "items", "itmes", "total", "colr", "valuse", "ratee", "math", "Path", "xrange", "next", "has_key"),
        *("discount", "discuont", "shop", "show", "appel", "self", "rates", "totl", "é", "x" * 300, ""),
    }
)
SENTENCES = (
    ("NameError", "name '{}' is not defined"),
    ("UnboundLocalError", "cannot access local variable '{}' where it is not associated with a value"),
    ("AttributeError", "'{}' object has no attribute '{}'"),
    ("AttributeError", "module '{}' has no attribute '{}'"),
    ("ImportError", "cannot import name '{1}' from '{0}' (x.py)"),
    ("ModuleNotFoundError", "No module named '{}'"),
    ("ModuleNotFoundError", "No module named 'shop.{}'"),
    ("KeyError", "'{}'"),
    ("TypeError", "{}() got an unexpected keyword argument '{}'"),
    ("TypeError", "Cart.{}() takes 0 positional arguments but 1 was given"),
    ("SyntaxError", "invalid syntax"),
    ("IndentationError", "{}"),
)

words = st.sampled_from(WORDS) | st.text(max_size=8)
owners = st.sampled_from(["Cart", "dict", "str", "math", "shop.cart", "shop.rates", "generator", "NoneType"]) | words
SITES = [
    (path, number, word)
    for path, text in FILES.items()
    for number, line in enumerate(text.splitlines(), 1)
    for word in WORDS
    if word and word in line
]
places = st.tuples(st.sampled_from(["cart.py", "/usr/lib/x.py", "", "shop"]) | words, st.integers(0, 40), words)


@st.composite
def tracebacks(draw: st.DrawFn) -> str:
    """Mostly about a word that stands on the line it names: then there is something to fix."""
    path, line, word = draw(st.sampled_from(SITES) | st.sampled_from(SITES) | places)
    error, sentence = draw(st.sampled_from(SENTENCES))
    arguments = (draw(owners), word) if sentence.count("{") > 1 else (word,)
    error = f"{error}: {sentence.format(*arguments)}"
    return draw(
        st.sampled_from(
            [
                f'Traceback (most recent call last):\n  File "{path}", line {line}, in f\n    x\n{error}\n',
                f"{path}:{line}: in f\n    x\nE   {error}\n",
                f"E   {error}\n\n{path}:{line}: {error.partition(':')[0]}\n",
                f"FAILED {path}::t - {error}\n",
                f"{path}:{line}:1: F821 undefined name '{word}'\n",
            ]
        )
    )


def raised(path: str, word: str, error: str) -> str:
    """Python's traceback to the last line of a file that has the word."""
    line = max(number for number, row in enumerate(FILES[path].splitlines(), 1) if word in row)
    return f'Traceback (most recent call last):\n  File "{path}", line {line}, in f\n{error}\n'


TELLING = [
    raised("shop/cart.py", "math", "NameError: name 'math' is not defined"),
    raised("shop/cart.py", "ratee", "NameError: name 'ratee' is not defined"),
    raised("shop/cart.py", "valuse", "NameError: name 'valuse' is not defined"),
    raised("shop/cart.py", "xrange", "NameError: name 'xrange' is not defined"),
    raised("shop/cart.py", "tax(1)", "NameError: name 'tax' is not defined"),
    raised("shop/cart.py", "Path", "NameError: name 'Path' is not defined"),
    raised("shop/cart.py", "itmes", "AttributeError: 'Cart' object has no attribute 'itmes'"),
    raised("shop/cart.py", "has_key", "AttributeError: 'dict' object has no attribute 'has_key'"),
    raised("shop/cart.py", "next", "AttributeError: 'generator' object has no attribute 'next'"),
    raised("shop/cart.py", "appel", "KeyError: 'appel'"),
    raised("shop/cart.py", "colr", "TypeError: Cart.__init__() got an unexpected keyword argument 'colr'"),
    raised("shop/cart.py", "show", "TypeError: Cart.show() takes 0 positional arguments but 1 was given"),
    raised("shop/cart.py", "discount", "ImportError: cannot import name 'discount' from 'shop.rates' (x.py)"),
    raised("tests/test_cart.py", "totl", "AttributeError: 'Cart' object has no attribute 'totl'"),
    raised("shop/broken.py", "pass", "IndentationError: unindent does not match any outer indentation level"),
]
outputs = st.lists(st.sampled_from(TELLING) | tracebacks() | st.text(max_size=60), max_size=5).map("".join)


def fixes_for(output: str, files: dict[str, str], command: str = "pytest") -> list[Fix]:
    failure = FailingCheck(command, output, "lint_failure", "")
    commands([failure])
    return list(
        propose(
            ROOT,
            [failure],
            read=lambda path: files[path].encode(),
            paths=files,
            may_edit=lambda path: path != "shop/rates.py",
        )
    )


def holds(fix: Fix, files: dict[str, str]) -> None:
    assert fix.files
    for path, content in fix.files.items():
        assert path in files
        assert not path.startswith("tests/")
        assert path != "shop/rates.py"
        assert content != files[path].encode()
        assert syntax_error(content.decode()) is None
    assert fix.rationale.split(":")[0] in files
    assert len(fix.rationale.splitlines()) == 1
    assert fix.evidence


@pytest.mark.parametrize("output", TELLING)
def test_the_outputs_below_are_worth_reading(output: str) -> None:
    """Each alone leads to a fix: the property that follows is about something."""
    assert fixes_for(output, FILES)


@example_count(150)
@given(outputs)
def test_any_output_is_answered_with_compiling_files_or_nothing(output: str) -> None:
    fixes = fixes_for(output, FILES)
    for fix in fixes:
        holds(fix, FILES)
    assert len({tuple(sorted(fix.files.items())) for fix in fixes}) == len(fixes), "each is proposed once"


def mended(text: str) -> list[Fix]:
    """What Python says of `shop/cart.py` with this text, answered; each answer is held."""
    error = syntax_error(text)
    if error is None:
        return []
    output = f'  File "shop/cart.py", line {error.lineno}\n{type(error).__name__}: {error.msg or "?"}\n'
    files = {**FILES, "shop/cart.py": text}
    fixes = fixes_for(output, files)
    for fix in fixes:
        holds(fix, files)
    return fixes


@pytest.mark.parametrize(
    ("right", "slip"),
    [
        ("rate):", "rate)"),
        ("return off(COUNT)", 'print "off"'),
        ("    def tax", "   def tax"),
        ("    global COUNT", "\tglobal COUNT"),
        ("items}", "items]"),
    ],
)
def test_the_slips_below_are_worth_making(right: str, slip: str) -> None:
    """Slips of these kinds are mended: the property that follows is about something."""
    assert mended(SHOP.replace(right, slip, 1))


@example_count(100)
@given(st.data())
def test_any_slip_in_a_file_is_mended_into_something_that_compiles_or_left(data: st.DataObject) -> None:
    """A character or a line is dropped, doubled, or put in; Python's own message is the output."""
    text = SHOP
    for _ in range(data.draw(st.integers(1, 2))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.sampled_from([at, at + 1, text.find("\n", at) + 1 or at]))
        new = data.draw(
            st.sampled_from(["", "", "(", ")", "]", ":", "    ", "\t", "\n", "'", "print 1\n", "§", text[at:end] * 2])
        )
        text = text[:at] + new + text[end:]
    fixes = mended(text)
    assert len({tuple(sorted(fix.files.items())) for fix in fixes}) == len(fixes), "each is proposed once"


@example_count(100)
@given(st.text(max_size=400))
def test_reading_complaints_never_raises_and_is_bounded(output: str) -> None:
    assert len(complaints(output * 50, lambda path: path)) <= 40


@example_count(100)
@given(st.text(alphabet="print exec raise except,`<>0L'\"#(){}[]:;\\\n\r\t ex=§é", max_size=120))
def test_writing_python_2_anew_never_raises_and_leaves_python_3_alone(text: str) -> None:
    source = PythonText("a.py", text)
    assert len(source.masked) == len(text)
    after, found = python2_syntax.rewritten(text)
    assert bool(found) == (after != text)
    if syntax_error(text) is None and "print" not in text:
        assert shape(after) == shape(text)


@example_count(150)
@given(st.text(alphabet="ab\r\n\x0c\té", max_size=40), st.text(alphabet="ab\r\n\x0c\té", max_size=40))
def test_the_edits_from_one_text_to_another_lead_there(before: str, after: str) -> None:
    source = PythonText("a.py", before)
    assert "".join(source.lines) == before
    edited = source.merged(source.rewritten(after))
    assert edited is not None
    assert edited.text == after


@example_count(100)
@given(
    st.binary(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 5), st.text(max_size=3)), max_size=3)
)
def test_bytes_outside_of_the_edits_are_kept(content: bytes, spans: list[tuple[int, int, str]]) -> None:
    source = PythonText.of("a.py", content)
    if source is None:
        return
    assert source.content == content
    edits = [SourceEdit("a.py", at, at + length, text) for at, length, text in spans if at + length <= len(source.text)]
    edited = source.merged(edits)
    if edited is None:
        assert any(one.start < other.end for one, other in pairwise(sorted(set(edits)))), "only an overlap is refused"
        return
    expected = source.text
    for edit in sorted(set(edits), reverse=True):
        expected = expected[: edit.start] + edit.text + expected[edit.end :]
    bom = content[:3] if content.startswith(b"\xef\xbb\xbf") else b""
    assert edited.content == bom + expected.encode()


names = st.text(alphabet=string.ascii_letters + string.digits + "_", max_size=12)


@example_count(200)
@given(names, st.lists(names, max_size=6), st.integers(0, 12))
def test_the_closest_name_is_a_known_one_and_the_only_best(name: str, others: list[str], at: int) -> None:
    """Among the known ones is the name without one letter, so that mostly there is something to be found."""
    known = [*others, name[:at] + name[at + 1 :]]
    found = closest(name, known)
    if found is not None:
        assert found in known
        assert found != name
        assert [one for one in set(known) - {name} if likeness(name, one) >= likeness(name, found)] == [found]
