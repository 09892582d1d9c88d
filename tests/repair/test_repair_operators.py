"""Operators propose edits that parse, keep what they do not mean to change, and hold the usual slips."""

import ast
from itertools import islice, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.repair.candidates import Suspects, first_order, pair, pairs
from kotef.repair.operators.table import OPERATORS
from kotef.repair.scope import FileScope, FunctionScope
from kotef.repair.source import PythonSource

SAMPLE = '''
LIMIT = 10


class Bag:
    """Things."""

    def __init__(self, items=()):
        self.items = list(items)
        self.count = 0

    def first(self, start=1):
        return self.items[start]  # from 1

    def total(self, rate):
        total = 0
        for item in self.items:
            if item is None or item.price < LIMIT:
                continue
            total = total + item.price * rate
        return total // 100


def halves(text, sep=","):
    low, high = 0, len(text)
    parts = []
    while low < high:
        mid = (low + high) // 2
        parts.append(text[low:mid])
        low = mid + 1
    if parts:
        return sep.join(sorted(parts, reverse=True))
    return f"{low}: {high}"


def walk(tree):
    match tree:
        case [left, right]:
            yield from walk(left)
            yield walk(right)
        case _:
            with open(tree) as file:
                yield {line: int(line) for line in file if line.strip()}
    try:
        assert min(1, 2) and not tree
    except ValueError:
        raise KeyError from None
'''


def candidates(code: str, types: dict[str, frozenset[str]] | None = None):
    source = PythonSource("m.py", code.encode())
    around = FileScope(source, frozenset({7}), frozenset({"ValueError"}))
    lines = dict.fromkeys(range(1, code.count("\n") + 2), 1.0)
    units = [Suspects(FunctionScope(around, unit, types or {}), lines) for unit in source.units]
    outside = tuple(node for node in source.tree.body if isinstance(node, ast.Assign))
    return source, first_order([*units, Suspects(FunctionScope(around, None, {}, outside), lines)])


def results(code: str, most: int = 4000, types: dict[str, frozenset[str]] | None = None) -> dict[str, str]:
    source, found = candidates(code, types)
    return {source.content_with(each.edits).decode(): each.operators[0] for each in islice(found, most)}


def test_every_proposal_is_a_new_program_that_parses() -> None:
    source, found = candidates(SAMPLE)
    broken = 0
    seen: set[bytes] = set()
    for candidate in islice(found, 4000):
        new = source.content_with(candidate.edits)
        assert new != source.content
        assert new not in seen, "each text is tried once"
        seen.add(new)
        try:
            ast.parse(new)
        except SyntaxError:
            broken += 1
    assert len(seen) == 4000
    assert broken < len(seen) / 200, "`break` outside a loop and the like are left to the compiler, but are rare"


def test_cheaper_edits_come_first_and_every_operator_has_its_turn() -> None:
    _, found = candidates(SAMPLE)
    every = list(islice(found, 30_000))
    costs = [candidate.cost for candidate in every]
    late = sum(later < earlier - 0.5 for earlier, later in pairwise(costs))
    assert late < len(costs) / 20, "an operator looks one proposal ahead, no further"
    silent = {operator.name for operator in OPERATORS} - {each.operators[0] for each in every}
    assert silent <= {
        "fresh default",
        "variable throughout",
        "targets swapped",
        "elif",
        "infinity",
        "moved before a loop",
        "last group",
        "filter",
        "update added at a block's end",
        "parentheses",
    }


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("def f(a, b):\n    return a < b\n", "def f(a, b):\n    return a <= b\n"),
        ("def f(a, b):\n    return a - b\n", "def f(a, b):\n    return b - a\n"),
        ("def f(a, b):\n    return a + b * 60\n", "def f(a, b):\n    return b + a * 60\n"),
        ("def f(a, b):\n    return int(a) + 60 * int(b)\n", "def f(a, b):\n    return int(b) + 60 * int(a)\n"),
        ("def f(a, b):\n    return a + b * 2\n", "def f(a, b):\n    return (a + b) * 2\n"),
        ("def f(n):\n    return n\n", "def f(n):\n    return n + 1\n"),
        ("def f(n):\n    return g(n, 1)\n", "def f(n):\n    return g(1, n)\n"),
        ("def f(xs):\n    for x in xs:\n        if x:\n            return x\n        return None\n", "def f(xs):\n    for x in xs:\n        if x:\n            return x\n    return None\n"),
        ("def f(xs):\n    n = 0\n    for x in xs:\n        n = x\n    return n\n", "def f(xs):\n    n = 0\n    for x in xs:\n        n += x\n    return n\n"),
        ("def f(n):\n    return n * f(n - 1)\n", "def f(n):\n    if n == 0:\n        return 1\n    return n * f(n - 1)\n"),
        ("def f(xs):\n    xs.append([1])\n", "def f(xs):\n    xs.extend([1])\n"),
        ("def f(a, b):\n    return a and b\n", "def f(a, b):\n    return a or b\n"),
        ("def f(a, b):\n    return a and \\\n        b\n", "def f(a, b):\n    return a or \\\n        b\n"),
        ("def f(a, b):\n    return a \\\n        and b\n", "def f(a, b):\n    return a \\\n        or b\n"),
        ("class A:\n    @property\n    def a(self):\n        return 1\n\n    @functools.cached_property\n    def b(self):\n        return 2\n\n    def f(self):\n        return self.a\n", "class A:\n    @property\n    def a(self):\n        return 1\n\n    @functools.cached_property\n    def b(self):\n        return 2\n\n    def f(self):\n        return self.b\n"),
        ("def f(xs, ys):\n    return xs[1:]\n", "def f(xs, ys):\n    return xs[:]\n"),
        ("def f(n, m):\n    if n:\n        return m\n", "def f(n, m):\n    if not n:\n        return m\n"),
        ("def f(n, m):\n    if 0 < n < m:\n        return m\n", "def f(n, m):\n    if not 0 < n < m:\n        return m\n"),
        ("def f(xs):\n    return max(xs)\n", "def f(xs):\n    return min(xs)\n"),
        ("def f(s):\n    return s\n", "def f(s):\n    return s.strip()\n"),
        ("def f(n):\n    while n:\n        print(n)\n", "def f(n):\n    while n:\n        print(n)\n        n -= 1\n"),
        ("def f(n):\n    return range(n)\n", "def f(n):\n    return range(1, n + 1)\n"),
        ("def f(a, xs=[]):\n    return xs\n", "def f(a, xs=[]):\n    xs = list(xs)\n    return xs\n"),
        ("def f(x):\n    if x.y is None:\n        return 0\n", "def f(x):\n    if x is None or x.y is None:\n        return 0\n"),
        ("def f(xs):\n    g(xs)\n", "def f(xs):\n    return g(xs)\n"),
        ("RATE = 100\n\n\ndef f(n):\n    return n // RATE\n", "RATE = 10\n\n\ndef f(n):\n    return n // RATE\n"),
    ],
)  # fmt: skip
def test_the_usual_slips_are_among_the_proposals(wrong: str, right: str) -> None:
    assert right in results(wrong)


def test_types_seen_at_run_time_prune() -> None:
    code = "def f(a, b, c):\n    return a\n"
    types = {"a": frozenset({"int"}), "b": frozenset({"list"}), "c": frozenset({"int"})}

    swapped = {text for text, operator in results(code, types=types).items() if operator == "variable"}

    assert swapped == {"def f(a, b, c):\n    return c\n"}
    assert "def f(a, b, c):\n    return len(a)\n" not in results(code, types=types)


@pytest.mark.parametrize("place", ["return [flag] * n", "g(n, key=flag)", "x = flag", "return {n: flag}", "g(flag)"])
def test_a_truth_is_negated_wherever_it_is_read(place: str) -> None:
    code = f"def f(flag, n):\n    {place}\n"
    negated = code.replace("flag", "not flag").replace("f(not flag, n)", "f(flag, n)")
    assert negated in results(code, types={"flag": frozenset({"bool", "list"})})
    assert negated not in results(code, types={"flag": frozenset({"int"})})


@pytest.mark.parametrize("place", ["if flag:\n        return 1", "return flag", "return xs[flag:]"])
def test_nobody_counts_with_what_is_only_true_or_false(place: str) -> None:
    code = f"def f(flag, xs):\n    {place}\n"
    marks = ("flag +", "flag -", "flag *", "flag //", "flag %", "+ flag", "- flag")

    seen = results(code, types={"flag": frozenset({"bool"}), "xs": frozenset({"list"})})
    unknown = results(code)

    assert not [text for text in seen if any(mark in text for mark in marks)]
    assert [text for text in unknown if any(mark in text for mark in marks)]


def test_comments_line_ends_and_tabs_stay() -> None:
    code = "def f(a):\r\n\t# keep\r\n\tif a > 0:  # why\r\n\t\treturn a\r\n"
    for text in results(code, 300):
        assert "# keep" in text
        assert "\n" not in text.replace("\r\n", "")


def test_two_edits_are_paired_only_where_they_do_not_touch() -> None:
    source, found = candidates("def f(a, b):\n    return a < b\n\ndef g(a):\n    return a + 1\n")
    some = list(islice(found, 40))
    both = list(pairs(some, some))
    assert both
    for each in both:
        assert source.content_with(each.edits) != source.content
        assert each.cost > max(one.cost for one in some if one.edits[0] in each.edits)
    assert pair(some[0], some[0]) is None


NAMES = st.sampled_from(["a", "b", "xs", "n"])
EXPRESSIONS = st.recursive(
    NAMES | st.integers(0, 9).map(str),
    lambda inner: (
        st.tuples(inner, st.sampled_from(["+", "-", "*", "//", "**", "<", "and", "or", "in", "&"]), inner).map(lambda each: f"({each[0]} {each[1]} {each[2]})")
        | st.tuples(NAMES, inner).map(lambda each: f"{each[0]}[{each[1]}]")
        | st.tuples(NAMES, inner, inner).map(lambda each: f"{each[0]}({each[1]}, {each[2]})")
        | st.tuples(inner, inner, inner).map(lambda each: f"({each[0]} if {each[1]} else {each[2]})")
        | inner.map(lambda each: f"(not {each})")
        | inner.map(lambda each: f"-{each}")
    ),
    max_leaves=8,
)  # fmt: skip


@example_count(25)
@given(EXPRESSIONS, EXPRESSIONS)
def test_an_edit_changes_its_own_place_only_whatever_the_expression(first: str, second: str) -> None:
    """What stands outside the edited statement parses to the same tree as before."""
    code = f"def f(a, b, xs, n):\n    before = {first}\n    x = {second}\n    return before\n"
    source, found = candidates(code)
    old = ast.parse(code).body[0]
    for candidate in islice(found, 150):
        try:
            new = ast.parse(source.content_with(candidate.edits)).body[0]
        except SyntaxError:
            continue
        assert isinstance(old, ast.FunctionDef)
        assert isinstance(new, ast.FunctionDef)
        kept = {ast.dump(node) for node in old.body} & {ast.dump(node) for node in new.body}
        assert len(kept) >= 1


@pytest.mark.parametrize(
    ("slice_", "other"),
    [("1:", ":-1"), (":-1", "1:"), (":n", "-n:"), ("-n:", ":n"), ("n + 1:", ":-(n + 1)"), ("2:", ":-2")],
)
def test_a_slice_is_cut_at_its_other_end_too(slice_: str, other: str) -> None:
    found = results(f"def f(text, n):\n    return text[{slice_}]\n")

    assert f"def f(text, n):\n    return text[{other}]\n" in found
