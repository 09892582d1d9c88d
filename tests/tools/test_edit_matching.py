"""How edits are matched: in steps, at one place or not at all, and what a refusal shows."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from support.cpu_time import bounded_cpu
from support.example_count import example_count

from kotef.tools.apply_patch import apply_patch
from kotef.tools.block_match import MatchStep
from kotef.tools.edit import Replacement, edit_file
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard

ANYTHING = EditGuard(frozenset())
SOURCE = """\
class Cart:
    def total(self, items):
        amount = 0
        for item in items:
            amount += item.price * item.quantity
        return amount

    def label(self):
        name = self.customer.name or 'nobody'
        return f'{name}: {self.total(self.items)}'
"""


def edited(
    folder: Path, text: str, search: str, replace: str, name: str = "cart.txt"
) -> tuple[str, tuple[MatchStep, ...]]:
    """The text after the edit, and the steps that matched."""
    path = folder / name
    path.write_bytes(text.encode())
    written = edit_file(folder, name, [Replacement(search=search, replace=replace)], guard=ANYTHING)
    return path.read_bytes().decode(), written.steps


def refusal(folder: Path, text: str, search: str, replace: str, name: str = "cart.txt") -> str:
    """What the model is told; the file is as it was."""
    with pytest.raises(ToolFault) as caught:
        edited(folder, text, search, replace, name)
    assert (folder / name).read_bytes().decode() == text
    assert caught.value.category == "edit_mismatch", caught.value.message
    return caught.value.message


LOOP = "        for item in items:\n            amount += item.price * item.quantity\n        return amount\n"
ROUNDED = LOOP.replace("return amount", "return round(amount, 2)")
AFTER = SOURCE.replace("return amount", "return round(amount, 2)")


@pytest.mark.parametrize(
    ("step", "slip"),
    [
        ("exact", lambda text: text),
        ("blanks", lambda text: text.replace("\n", " \t\n")),
        ("blanks", lambda text: f"\n\n{text}\n\n"),
        ("indentation", lambda text: "".join(line[8:] for line in text.splitlines(keepends=True))),
        ("indentation", lambda text: "".join(f"  {line}" for line in text.splitlines(keepends=True))),
        ("indentation", lambda text: text.replace("    ", "\t")),
        ("elision", lambda text: text.replace("            amount += item.price * item.quantity\n", "        ...\n")),
        ("elision", lambda text: text.replace("            amount += item.price * item.quantity\n", "    # … as before …\n")),
        ("similar", lambda text: text.replace("item.quantity", "item.count")),
    ],
)  # fmt: skip
def test_each_step_finds_the_place_and_is_named(tmp_path: Path, step: str, slip: Callable[[str], str]) -> None:
    assert edited(tmp_path, SOURCE, slip(LOOP), slip(ROUNDED)) == (AFTER, (step,))


def test_typographic_quotes_are_those_of_the_file(tmp_path: Path) -> None:
    search = "        name = self.customer.name or ’nobody’\n"
    after, steps = edited(tmp_path, SOURCE, search, "        name = self.customer.name or ’guest’\n        log(’x’)\n")
    assert after == SOURCE.replace("'nobody'\n", "'guest'\n        log('x')\n")
    assert steps == ("characters",)


def test_lines_that_the_edit_does_not_change_stay_as_the_file_has_them(tmp_path: Path) -> None:
    stale = LOOP.replace("item.quantity", "item.count")
    after, _ = edited(tmp_path, SOURCE, stale, stale.replace("return amount", "return round(amount, 2)"))
    assert after == AFTER, "the stale line was kept"


@pytest.mark.parametrize(
    ("search", "replace", "says"),
    [
        (
            LOOP.replace("return amount", "return total"),
            LOOP.replace("return amount", "return 0"),
            "lines that the edit changes are different",
        ),
        ("        for item in items:\n        ...\n        return amount\n", "        pass\n", "elide the same lines"),
        ("    def total(self, items):\n    ...\n        return\n", "    def x():\n    ...\n", "is not found"),
    ],
)
def test_a_doubtful_edit_is_refused(tmp_path: Path, search: str, replace: str, says: str) -> None:
    assert says in refusal(tmp_path, SOURCE, search, replace)


def test_two_places_that_fit_are_refused_in_every_step(tmp_path: Path) -> None:
    twice = SOURCE + "\n\n" + SOURCE.replace("class Cart", "class Basket")
    for slip in (
        lambda text: text,
        lambda text: text.replace("\n", " \n"),
        lambda text: text.replace("quantity", "count"),
    ):
        words = refusal(tmp_path, twice, slip(LOOP), slip(ROUNDED))
        assert "2 times (lines 4, 16)" in words


def test_a_block_of_lines_that_stand_everywhere_is_not_taken_for_one_that_is_alike(tmp_path: Path) -> None:
    card = '<li class="card card-wide">\n  <p class="muted">{NAME.status}</p>\n</li>\n'
    text = f'{card.replace("NAME", "vercel")}<!-- -->\n<li class="card card-wide">\n</li>\n'
    search = card.replace("NAME", "server")
    assert "is not found" in refusal(tmp_path, text, search, search.replace("</li>", "  <b>new</b>\n</li>"))


def test_a_line_that_the_file_has_already_is_not_added_again(tmp_path: Path) -> None:
    names = ("money", "stock", "carts", "rates", "taxes", "orders")
    imports = "".join(f"from shop.{name} import {name.title()}\n" for name in names)
    text = imports.replace("from shop.orders", "from shop.prices import Price\nfrom shop.orders")
    words = refusal(tmp_path, text, imports, f"{imports}from shop.prices import Price\n")
    assert "the file already has a line that the edit adds" in words


def test_typographic_characters_of_new_lines_are_plain_where_the_file_has_only_plain_ones(tmp_path: Path) -> None:
    search = "        name = self.customer.name or ’nobody’\n"
    after, _ = edited(tmp_path, SOURCE, search, f"{search}        log(“it’s”)\n")
    assert after == SOURCE.replace("'nobody'\n", "'nobody'\n        log(\"it's\")\n")
    typed = SOURCE + "# “kept”\n"
    after, _ = edited(tmp_path, typed, search, f"{search}        log(“it’s”)\n")
    assert after == typed.replace("'nobody'\n", "'nobody'\n        log(“it's”)\n")


def test_a_line_searched_without_its_indentation_shifts_all_that_replaces_it(tmp_path: Path) -> None:
    after, steps = edited(tmp_path, SOURCE, "return amount", "if amount:\n    return amount\nreturn 0", "cart.py")
    assert after == SOURCE.replace("return amount", "if amount:\n            return amount\n        return 0")
    assert steps == ("indentation",)
    kept, steps = edited(
        tmp_path, SOURCE, "return amount", "if amount:\n            return amount\n        return 0", "cart.py"
    )
    assert (kept, steps) == (after, ("exact",))


def test_a_refusal_shows_the_nearest_block_not_the_nearest_longest_line(tmp_path: Path) -> None:
    text = (
        SOURCE + "# a long line that is not a part of it: amount += item.price * item.quantity_total, and much more\n"
    )
    search = LOOP.replace(
        "item.price * item.quantity\n        return amount", "item.price * item.quantity_total\n        return total"
    )
    words = refusal(tmp_path, text, search, search.replace("return total", "return 1"))
    assert "the nearest text, 8" in words
    assert "% alike (- the file, + your search)" in words
    assert "-6\t        return amount\n" in words
    assert words.endswith("+\t        return total")


def test_a_refusal_of_a_long_block_is_short(tmp_path: Path) -> None:
    text = "".join(f"value_{number} = compute({number})\n" for number in range(300))
    search = "".join(f"value_{number} = compute({number})\n" for number in range(100, 200)).replace("150", "x50")
    words = refusal(tmp_path, text, search, search.replace("value_x50 = compute(x50)", "other = 1"))
    assert "-151\tvalue_150 = compute(150)\n+\tvalue_x50 = compute(x50)" in words
    assert words.count("\n") < 10


def test_an_edit_that_was_made_already_is_said_to_be(tmp_path: Path) -> None:
    line = "        return round(amount, 2)\n"
    assert "the text of replace already exists at line 6" in refusal(tmp_path, AFTER, "        return amount\n", line)
    with pytest.raises(ToolFault, match="nothing to change, the file already has the lines of replace"):
        edited(tmp_path, AFTER, LOOP, ROUNDED)


BROKEN: list[tuple[str, ...]] = [
    ("a.py", "def f(a):\n    return a\n", "return a", "return (a", "line 2: '(' was never closed"),
    ("a.py", "def f(a):\n    return a\n", "    return a", "return a", "line 2: expected an indented block"),
    ("a.json", '{"a": 1,\n "b": 2}\n', '"b": 2', '"b": 2,', "line 2: "),
    ("a.toml", "a = 1\nb = 2\n", "b = 2", "b = ", "line 2: Invalid value"),
]


@pytest.mark.parametrize("case", BROKEN, ids=lambda case: f"{case[0]} {case[3]}")
def test_an_edit_that_breaks_the_syntax_leaves_the_file(tmp_path: Path, case: tuple[str, ...]) -> None:
    name, text, search, replace, says = case
    words = refusal(tmp_path, text, search, replace, name)
    assert "the edit would break its syntax" in words
    assert says in words


@pytest.mark.parametrize(
    ("name", "text", "search", "replace"),
    [
        ("a.ts", "function f(a: number) {\n  return a;\n}\n", "return a;\n}", "return a;\n"),
        ("a.go", "package a\n\nfunc f() int {\n\treturn 1\n}\n", "return 1", "return (1"),
        ("a.rs", "fn f() -> u8 {\n    1\n}\n", "1\n}", "1\n"),
        ("A.java", "class A {\n    int f() { return 1; }\n}\n", "return 1; }", "return 1; "),
        ("a.c", "int f(void) {\n    return 1;\n}\n", "return 1;\n}", "return 1;\n"),
    ],
)
def test_a_grammar_finds_the_break(tmp_path: Path, name: str, text: str, search: str, replace: str) -> None:
    pytest.importorskip("tree_sitter")
    assert "the edit would break its syntax: line " in refusal(tmp_path, text, search, replace, name)


def test_a_file_that_was_broken_before_can_be_edited(tmp_path: Path) -> None:
    after, _ = edited(tmp_path, "def f(:\n    x = (\n", "x = (", "x = 1", "a.py")
    assert after == "def f(:\n    x = 1\n"


def test_syntax_newer_than_this_interpreter_is_no_break(tmp_path: Path) -> None:
    pytest.importorskip("tree_sitter_python")
    after, _ = edited(tmp_path, "x = 1\n", "x = 1", "type X = int", "a.py")
    assert after == "type X = int\n"


def patched(folder: Path, *lines: str) -> tuple[str, tuple[MatchStep, ...]]:
    """What is told, and how the hunks were found."""
    steps: list[MatchStep] = []
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch"])
    told = apply_patch(
        folder, text, guard=ANYTHING, wrote=lambda _path: None, edited=lambda _path, _diff, how: steps.extend(how)
    )
    return told, tuple(steps)


@pytest.mark.parametrize(
    ("hunk", "step", "says"),
    [
        (["@@ -90,3 +1,7 @@ class Gone", "         amount = 0", "-        for item in items:", "+        for item in all_of(items):"], "exact", "no line `class Gone`"),
        (["--- a/cart.py", "+++ b/cart.py", "@@ -1,2 +1,2 @@", "         amount = 0", "-        for item in items:", "+        for item in all_of(items):"], "exact", ""),
        (["@@", "     amount = 0", "-    for item in items:", "+    for item in all_of(items):"], "indentation", "another indentation"),
        (["@@", "     def total(self, goods, all):", "         amount = 0", "-        for item in items:", "+        for item in all_of(items):", "             amount += item.price * item.quantity"], "similar", "kept as the file has them"),
    ],
)  # fmt: skip
def test_hunks_with_stale_context_land(tmp_path: Path, hunk: list[str], step: str, says: str) -> None:
    (tmp_path / "cart.py").write_text(SOURCE)
    told, steps = patched(tmp_path, "*** Update File: cart.py", *hunk)
    assert (tmp_path / "cart.py").read_text() == SOURCE.replace("in items", "in all_of(items)")
    assert steps == (step,)
    assert says in told


def test_hunks_in_another_order_than_the_file_land(tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text(SOURCE)
    told, _ = patched(
        tmp_path, "*** Update File: cart.py", "@@", "-    def label(self):", "+    def text(self):", "@@", "-        amount = 0", "+        amount = 1"
    )  # fmt: skip
    assert (tmp_path / "cart.py").read_text() == SOURCE.replace("label", "text").replace("amount = 0", "amount = 1")
    assert "matched at line 3, not where the patch has it" in told


def test_a_patch_that_breaks_the_syntax_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "cart.py").write_text(SOURCE)
    with pytest.raises(ToolFault, match="would break its syntax: line 6"):
        patched(tmp_path, "*** Update File: cart.py", "-        return amount", "+        return (amount")
    assert (tmp_path / "cart.py").read_text() == SOURCE


WORD = st.sampled_from(["alpha", "beta", "gamma", "delta", "omega", "price", "items", "total", "result"])
LINE = st.builds(
    lambda depth, words, quote: "    " * depth + f" {quote}".join(words) + quote,
    st.integers(0, 3),
    st.lists(WORD, min_size=1, max_size=4),
    st.sampled_from(["", "'", '"']),
)
BLANK = st.just("")
SLIPS: dict[str, Callable[[list[str], int], list[str]]] = {
    "trailing blanks": lambda lines, nth: [f"{line}  " if at != nth else line for at, line in enumerate(lines)],
    "line ends": lambda lines, _: [f"{line}\r" for line in lines],
    "tabs": lambda lines, _: [line.replace("    ", "\t") for line in lines],
    "more indentation": lambda lines, _: [f"  {line}" if line else line for line in lines],
    "less indentation": lambda lines, _: [line.removeprefix(" ") for line in lines],
    "elided line": lambda lines, nth: [*lines[:nth], "...", *lines[nth + 1 :]],
    "line left out": lambda lines, nth: [*lines[:nth], *lines[nth + 1 :]],
    "stale line": lambda lines, nth: [f"{line} old" if at == nth else line for at, line in enumerate(lines)],
    "typographic quotes": lambda lines, _: [line.replace("'", "’").replace('"', "“") for line in lines],
    "line numbers": lambda lines, nth: [f"{nth + at}\t{line}" for at, line in enumerate(lines)],
}  # fmt: skip


@example_count(150)
@given(
    st.lists(st.one_of(LINE, LINE, LINE, BLANK), min_size=3, max_size=30),
    st.sampled_from(sorted(SLIPS)),
    st.booleans(),
    st.data(),
)
def test_a_slip_ends_in_the_right_edit_or_a_refusal(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], slip: str, in_both: bool, data: st.DataObject
) -> None:
    low = data.draw(st.integers(0, len(lines) - 1))
    high = data.draw(st.integers(low + 1, min(len(lines), low + 8)))
    at = data.draw(st.integers(low, high - 1))
    nth = data.draw(st.integers(0, high - low - 1))
    block = lines[low:high]
    new = [*block[: at - low], "NEW LINE", *block[at - low + 1 :]]
    search = SLIPS[slip](block, nth)
    replace = SLIPS[slip](new, nth) if in_both else new
    assume(search != replace and any(line.strip() for line in search))
    folder = tmp_path_factory.mktemp("slip")
    text = "".join(f"{line}\n" for line in lines)
    ours = "".join(f"{line}\n" for line in search)
    assume(ours.replace("\r\n", "\n") not in text)
    try:
        after, steps = edited(folder, text, ours, "".join(f"{line}\n" for line in replace))
    except ToolFault:
        assert (folder / "cart.txt").read_text() == text
        return
    assert steps != ("exact",)
    whole = after.removesuffix("\n").split("\n")
    assert whole[:low] == lines[:low], "nothing above the block changes"
    assert whole[len(whole) - (len(lines) - high) :] == lines[high:], "nothing below it"
    inside = [line.strip() for line in whole[low : len(whole) - (len(lines) - high)]]
    expected = [line.strip() for line in [*lines[low:at], "NEW LINE", *lines[at + 1 : high]]]
    if slip not in {"elided line", "line left out", "stale line", "line numbers"}:
        assert [line for line in inside if line] == [line for line in expected if line]
    assert sum("NEW LINE" in line for line in inside) <= 1


@example_count(150)
@given(st.lists(st.one_of(LINE, LINE, LINE, BLANK), min_size=4, max_size=40), st.sampled_from(sorted(SLIPS)), st.data())
def test_an_inserted_line_comes_once_and_nothing_else_changes(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], slip: str, data: st.DataObject
) -> None:
    """The words are few, so many blocks are alike; whichever is taken, it is one, and the rest stays."""
    low = data.draw(st.integers(0, len(lines) - 2))
    high = data.draw(st.integers(low + 2, min(len(lines), low + 10)))
    at = data.draw(st.integers(low + 1, high - 1))
    wrong = SLIPS[slip](lines[low:high], data.draw(st.integers(0, high - low - 1)))
    assume(len(wrong) == high - low and any(line.strip() for line in wrong))
    new = [*wrong[: at - low], "NEW LINE", *wrong[at - low :]]
    folder = tmp_path_factory.mktemp("insert")
    text = "".join(f"{line}\n" for line in lines)
    try:
        after, _ = edited(folder, text, "".join(f"{line}\n" for line in wrong), "".join(f"{line}\n" for line in new))
    except ToolFault:
        assert (folder / "cart.txt").read_text() == text
        return
    whole = after.splitlines()
    assert [line.strip() for line in whole].count("NEW LINE") == 1
    left = [line for line in whole if line.strip() != "NEW LINE"]
    assert [line.rstrip() for line in left] == [line.rstrip() for line in lines]


@example_count(50)
@given(st.lists(LINE, min_size=4, max_size=12, unique=True), st.integers(0, 30), st.data())
def test_a_block_that_is_not_in_the_file_changes_nothing(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], filler: int, data: st.DataObject
) -> None:
    """The text holds other blocks of the same words, but not this one."""
    size = data.draw(st.integers(1, 3))
    others = [f"unit_{number} = {number}" for number in range(filler)] + lines[size:]
    search = "".join(f"{line}\n" for line in lines[:size])
    text = "".join(f"{line}\n" for line in others)
    assume(lines[0].strip() not in text)
    folder = tmp_path_factory.mktemp("absent")
    with pytest.raises(ToolFault):
        edited(folder, text, search, "NEW LINE\n")


@pytest.mark.parametrize("kind", ["unlike", "alike", "repeated"])
def test_a_mismatch_in_twenty_thousand_lines_takes_bounded_time(tmp_path: Path, kind: str) -> None:
    lines = {
        "unlike": [f"value_{number} = compute({number}, {number * 7})" for number in range(20_000)],
        "alike": [f"    result = compute(value, {number % 97})" for number in range(20_000)],
        "repeated": ["    result = compute(value)", "    }", ""] * 7_000,
    }[kind]
    search = "".join(f"{line}x\n" for line in lines[100:160])
    with bounded_cpu():
        refusal(tmp_path, "".join(f"{line}\n" for line in lines), search, "x\n")
