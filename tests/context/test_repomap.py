"""What the repository map knows of one file, and of which files the others lean on."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.context.repomap import symbols as reading
from kotef.context.repomap.languages import BY_ENDING, language_of
from kotef.context.repomap.rank import AMBIGUOUS, links, pagerank, rank
from kotef.context.repomap.sketch import Sketch, sketch
from kotef.context.repomap.symbols import read_by, symbols

PYTHON = b"""\
class Cart:
    def total(self, items):
        def price(item):
            return item.price
        return sum(map(price, items))

async def checkout(cart):
    return cart.total([])
"""
SAMPLES = {
    "js": ("class Cart {\n  total() {}\n}\nexport const pay = (x) => x;\n", {"Cart", "Cart.total", "pay"}),
    "ts": (
        "interface Shape { area(): number }\nexport type Id = string;\nfunction f(): void {}\n",
        {"Shape", "Id", "f"},
    ),
    "tsx": ("export function App() { return <div/>; }\n", {"App"}),
    "go": ("package m\nfunc (c *Cart) Total() int { return 0 }\ntype Cart struct{}\n", {"Total", "Cart"}),
    "rs": ("pub struct Cart;\nimpl Cart {\n    pub fn total(&self) -> u32 { 0 }\n}\n", {"Cart", "total"}),
    "java": ("public class Cart {\n  public int total() { return 0; }\n}\n", {"Cart", "Cart.total"}),
    "c": ("int total(int a) {\n  return a;\n}\nchar *name(void) {\n  return 0;\n}\n", {"total", "name"}),
    "cpp": (
        "namespace shop {\nclass Cart {\n  int total() { return 0; }\n};\n}\n",
        {"shop", "shop.Cart", "shop.Cart.total"},
    ),
    "rb": ("class Cart\n  def total\n  end\nend\n", {"Cart", "Cart.total"}),
    "php": ("<?php\nclass Cart {\n  function total() {}\n}\n", {"Cart", "Cart.total"}),
    "cs": ("class Cart {\n  public int Total() { return 0; }\n}\n", {"Cart", "Cart.Total"}),
}
WORDS = st.text("abcXYZ_09 \n(){}:=.,'\"\\$#\t", max_size=200)


@pytest.fixture
def no_grammars(monkeypatch: pytest.MonkeyPatch):
    """As where the extra `map` is not installed."""
    monkeypatch.setitem(sys.modules, "tree_sitter", None)
    reading._parser.cache_clear()
    yield
    reading._parser.cache_clear()


@pytest.mark.parametrize("ending", sorted(SAMPLES))
def test_each_grammar_tells_the_definitions_and_what_is_around_them(ending: str) -> None:
    pytest.importorskip("tree_sitter")
    source, names = SAMPLES[ending]
    assert read_by(BY_ENDING[ending]).startswith("tree-sitter")
    assert {symbol.name for symbol in symbols(source.encode(), BY_ENDING[ending])} == names


@pytest.mark.parametrize("ending", sorted({*SAMPLES} - {"java", "cs", "js", "cpp"}))
def test_without_grammars_the_lines_that_begin_a_definition_still_tell(ending: str, no_grammars: None) -> None:
    source, names = SAMPLES[ending]
    assert read_by(BY_ENDING[ending]) == "lines"
    assert {symbol.name for symbol in symbols(source.encode(), BY_ENDING[ending])} == {
        name.rpartition(".")[2] for name in names
    }


@pytest.mark.parametrize("installed", [True, False])
def test_python_is_told_alike_with_the_extra_and_without(installed: bool, request: pytest.FixtureRequest) -> None:
    if not installed:
        request.getfixturevalue("no_grammars")
        assert read_by(BY_ENDING["py"]) == "ast"
    found = symbols(PYTHON, BY_ENDING["py"])
    assert [(symbol.name, symbol.kind, symbol.line) for symbol in found] == [
        ("Cart", "class", 1),
        ("Cart.total", "function", 2),
        ("Cart.total.price", "function", 3),
        ("checkout", "function", 7),
    ]
    assert found[1].text == "    def total(self, items):"


@pytest.mark.parametrize("installed", [True, False])
def test_a_file_that_does_not_parse_is_not_lost(installed: bool, request: pytest.FixtureRequest) -> None:
    if not installed:
        request.getfixturevalue("no_grammars")
    broken = b"def whole(a):\n    return a\n\ndef half(:\n    return\n"
    assert "whole" in {symbol.name for symbol in symbols(broken, BY_ENDING["py"])}


def test_a_doubtful_escape_in_the_file_is_no_warning_of_ours(no_grammars: None) -> None:
    assert symbols(b"def f():\n    return '\\d'\n", BY_ENDING["py"])[0].name == "f"


def test_only_source_is_looked_into() -> None:
    assert language_of("README.md") is None
    assert language_of("Makefile") is None
    assert language_of("a/B.PY") is BY_ENDING["py"]


def test_a_sketch_has_the_names_defined_and_every_word() -> None:
    found = sketch(PYTHON, BY_ENDING["py"])
    assert set(found.defines.split()) == {"Cart", "total", "price", "checkout"}
    assert {"Cart", "items", "sum", "return"} <= set(found.uses.split())


@pytest.mark.parametrize("ending", sorted(SAMPLES))
def test_a_sketch_finds_what_lines_can_tell(ending: str) -> None:
    source, names = SAMPLES[ending]
    defined = set(sketch(source.encode(), BY_ENDING[ending]).defines.split())
    assert defined & {name.rpartition(".")[2] for name in names}


@given(st.sampled_from(sorted(BY_ENDING)), st.one_of(st.binary(max_size=300), WORDS.map(str.encode)))
def test_no_content_is_too_strange_for_a_sketch_or_for_the_symbols(ending: str, content: bytes) -> None:
    language = BY_ENDING[ending]
    lines = content.count(b"\n") + 1
    assert all(1 <= symbol.line <= lines for symbol in symbols(content, language))
    assert all(" " not in word for word in sketch(content, language).uses.split(" "))


def test_a_file_that_many_use_is_above_those_that_use_it() -> None:
    files = {
        "cart.py": Sketch("Cart", "Cart class"),
        "a.py": Sketch("one", "Cart one"),
        "b.py": Sketch("two", "Cart two"),
        "c.py": Sketch("three", "one three"),
    }
    ranks = rank(files)
    assert sorted(files, key=lambda path: -ranks[path])[:2] == ["cart.py", "a.py"]
    assert ranks["b.py"] == pytest.approx(ranks["c.py"])


def test_a_name_that_is_defined_everywhere_counts_for_nothing() -> None:
    many = [Sketch("main", "main") for _ in range(AMBIGUOUS + 1)]
    assert links(many) == [{}] * (AMBIGUOUS + 1)
    assert links(many[:2]) == [{1: 30}, {0: 30}], "two that define it count half each"


NAMES = st.sampled_from(["alpha", "beta", "gamma", "delta", "omega"])
SKETCHES = st.builds(
    lambda defines, uses: Sketch(" ".join(defines), " ".join(defines | uses)), st.sets(NAMES), st.sets(NAMES)
)


@given(st.dictionaries(st.text("abc/", min_size=1, max_size=4), SKETCHES, max_size=12), st.randoms())
def test_ranks_sum_to_one_and_do_not_depend_on_the_order_of_the_files(files: dict[str, Sketch], chance) -> None:
    shuffled = list(files.items())
    chance.shuffle(shuffled)
    ranks = rank(files)
    assert rank(dict(shuffled)) == ranks
    assert sum(ranks.values()) == pytest.approx(1 if files else 0)
    assert all(value > 0 for value in ranks.values())


def test_no_file_has_no_rank() -> None:
    assert pagerank([]) == []


def test_nothing_of_the_map_is_imported_before_it_is_asked_for() -> None:
    code = "import sys, kotef.tools.registry; print([m for m in sys.modules if 'tree_sitter' in m or 'repomap' in m])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
