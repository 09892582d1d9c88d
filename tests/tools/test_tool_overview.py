"""What the model is told of a repository it has not seen, and what is kept of it between two questions."""

import os
from pathlib import Path

import pytest
from support.loop import git

from kotef.files import state_dir
from kotef.tools import repository
from kotef.tools.errors import ToolFault
from kotef.tools.overview import MAX_HITS, MAX_TEXT, overview, search_symbols

SHOP = {
    "shop/cart.py": "class Cart:\n    def total(self):\n        return 0\n",
    "shop/order.py": "from shop.cart import Cart\n\n\ndef order(cart: Cart):\n    return cart.total()\n",
    "shop/bill.py": "from shop.cart import Cart\n\n\ndef bill():\n    return Cart().total()\n",
    "web/app.ts": "export function render(): void {}\n",
    "README.md": "# Cart\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name, text in SHOP.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.fixture
def looked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read, in order."""
    names: list[str] = []
    read = repository._content
    monkeypatch.setattr(repository, "_content", lambda top, path: (names.append(Path(path).name), read(top, path))[1])
    return names


def test_the_overview_begins_with_what_the_rest_leans_on(shop: Path) -> None:
    text = overview(shop)
    assert text.splitlines()[:5] == [
        "5 files: 3 Python, 1 TypeScript",
        "Folders: shop/ (3), web/ (1)",
        "Files that others use most, most used first; line: definition",
        "shop/cart.py",
        "  1: class Cart:",
    ]
    assert "  2:   def total(self):" in text


def test_an_overview_of_a_directory_is_of_that_directory(shop: Path) -> None:
    assert "cart" not in overview(shop, "web")
    assert overview(shop, "web").startswith("1 file: 1 TypeScript\n")


def test_what_git_ignores_is_not_part_of_the_map(shop: Path) -> None:
    (shop / "build").mkdir()
    (shop / "build" / "made.py").write_text("def made(): pass\n")
    (shop / ".gitignore").write_text("build/\n")
    assert "made.py" in overview(shop)
    git(shop, "init", "-q")
    assert "made.py" not in overview(shop)
    assert "no definition matches made" in search_symbols(shop, "made")


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("total", "shop/cart.py:2: def total(self):  [function Cart.total, in 3 files]"),
        ("Cart.total", "shop/cart.py:2: "),
        ("Cart::total()", "shop/cart.py:2: "),
        ("cart", "shop/cart.py:1: class Cart:"),
        ("tot", "shop/cart.py:2: "),
        ("REND", "web/app.ts:1: export function render"),
    ],
)
def test_a_definition_is_found_by_all_or_part_of_its_name(shop: Path, asked: str, first: str) -> None:
    assert search_symbols(shop, asked).startswith(first)


def test_an_exact_name_comes_before_longer_ones(shop: Path) -> None:
    (shop / "shop" / "a.py").write_text("def render_all(): pass\n\n\ndef pre_render(): pass\n")
    lines = search_symbols(shop, "render").splitlines()
    assert [line.split(": ")[0] for line in lines] == ["web/app.ts:1", "shop/a.py:1", "shop/a.py:4"]


def test_what_is_only_used_is_not_a_definition(shop: Path) -> None:
    assert search_symbols(shop, "print") == "no definition matches print; grep searches all text"
    assert "no definition" in search_symbols(shop, "Order.total")


@pytest.mark.parametrize("name", ["", "a b", "100%", "*", "()"])
def test_what_is_no_name_is_refused(shop: Path, name: str) -> None:
    with pytest.raises(ToolFault) as caught:
        search_symbols(shop, name)
    assert caught.value.kind == "schema_reject"


@pytest.mark.parametrize(
    ("path", "kind"),
    [("..", "permission_denied"), ("shop/cart.py", "exec_error"), ("nowhere", "exec_error")],
)
def test_a_path_that_is_no_directory_of_the_workspace_is_refused(shop: Path, path: str, kind: str) -> None:
    for ask in (lambda: overview(shop, path), lambda: search_symbols(shop, "Cart", path)):
        with pytest.raises(ToolFault) as caught:
            ask()
        assert caught.value.kind == kind


def test_nothing_is_read_twice_and_a_change_is_seen(shop: Path, looked: list[str]) -> None:
    first = overview(shop)
    assert sorted(looked) == ["app.ts", "bill.py", "cart.py", "order.py"]
    looked.clear()
    assert overview(shop) == first
    assert looked == []
    (shop / "shop" / "bill.py").write_text("def invoice():\n    return 1\n")
    assert search_symbols(shop, "invoice").startswith("shop/bill.py:1")
    assert looked == ["bill.py"]
    assert "no definition matches bill;" in search_symbols(shop, "bill")
    (shop / "shop" / "bill.py").unlink()
    assert "bill.py" not in overview(shop)


def test_a_known_content_is_not_looked_into_again(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As after `git checkout`, which makes every file newer."""
    overview(shop)
    for name in SHOP:
        os.utime(shop / name, ns=(1, 1))
    monkeypatch.setattr(repository, "sketch", lambda *_: pytest.fail("the content is known by its hash"))
    monkeypatch.setattr(repository, "symbols", lambda *_: pytest.fail("and so are its definitions"))
    assert "class Cart" in overview(shop)


def test_the_map_is_outside_of_the_workspace(shop: Path) -> None:
    before = sorted(shop.rglob("*"))
    overview(shop)
    assert sorted(shop.rglob("*")) == before
    assert (state_dir(shop) / "map-1.sqlite").exists()


def test_a_map_that_cannot_be_read_is_done_without(shop: Path) -> None:
    (state_dir(shop) / "map-1.sqlite").write_bytes(b"no database" * 100)
    assert "class Cart" in overview(shop)


def test_a_workspace_that_an_outer_repository_ignores_is_on_its_own(shop: Path) -> None:
    git(shop.parent, "init", "-q")
    (shop.parent / ".gitignore").write_text("shop/\n")
    assert "class Cart" in overview(shop)


def test_a_large_repository_is_told_in_a_bounded_text(tmp_path: Path) -> None:
    for number in range(300):
        (tmp_path / f"m{number}.py").write_text("".join(f"def f_{number}_{each}(): pass\n" for each in range(30)))
    assert MAX_TEXT / 2 < len(overview(tmp_path)) <= MAX_TEXT
    found = search_symbols(tmp_path, "f_").splitlines()
    assert len(found) == MAX_HITS + 1
    assert found[-1].startswith("[8960 more")


def test_what_there_is_no_time_for_is_left_to_the_next_call(shop: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as hurry:
        hurry.setattr(repository, "SECONDS", -1)
        assert "[4 files not indexed yet; call again]" in overview(shop)
        assert "not indexed yet" in search_symbols(shop, "Cart")
    assert "not indexed" not in overview(shop)


def test_links_and_secrets_are_not_looked_into(shop: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside.py"
    outside.write_text("def hidden_outside(): pass\n")
    (shop / "link.py").symlink_to(outside)
    (shop / ".env.py").write_text("def hidden_inside(): pass\n")
    text = overview(shop) + search_symbols(shop, "hidden_outside") + search_symbols(shop, "hidden_inside")
    assert "def hidden" not in text


def test_an_empty_workspace_says_so(tmp_path: Path) -> None:
    assert overview(tmp_path) == "no files in ."
    (tmp_path / "notes.txt").write_text("hello\n")
    assert overview(tmp_path).startswith("1 file; no source file in a known language")
