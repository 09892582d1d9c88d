"""What the planner is shown of a repository: source around failing places, the diff so far, a map for the task."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.example_count import example_count

from kotef.tools.planning_excerpts import MAX_EXCERPTS, planning_excerpts

FILES = {
    "shop/cart.py": "\n" * 40 + "class Cart:\n    def total(self):\n        return sum(self.prices)\n",
    "shop/order.py": "from shop.cart import Cart\n\n\ndef place_order(cart: Cart):\n    return cart.total()\n",
    "shop/bill.py": "from shop.cart import Cart\n\n\ndef bill():\n    return Cart().total()\n",
    "shop/tax.py": "RATE = 19\n\n\ndef net_of(gross):\n    return gross * 100 / (100 + RATE)\n",
    "tests/test_order.py": "from shop.order import place_order\n\n\ndef test_empty():\n    assert place_order(None) == 0\n",
}


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


def mapped(text: str) -> list[str]:
    """The files of the map, in order."""
    lines = text.partition("line: definition\n")[2].splitlines()
    return [line for line in lines if not line.startswith(" ")]


def test_source_around_a_failing_line_and_a_named_test_is_shown(shop: Path) -> None:
    failing = ["tests/test_order.py::test_empty", "shop/cart.py:43: TypeError: unsupported"]
    text = planning_excerpts(shop, task="make the tests pass", failing=failing)
    assert "shop/cart.py: lines 39-43 of 43\n" in text
    assert "43\t        return sum(self.prices)" in text
    assert "4\tdef test_empty():" in text


def test_the_map_begins_with_what_the_task_means(shop: Path) -> None:
    assert mapped(planning_excerpts(shop, task="net_of() rounds wrongly", failing=()))[0] == "shop/tax.py"
    assert mapped(planning_excerpts(shop, task="mend shop/bill.py", failing=()))[0] == "shop/bill.py"
    of_test = mapped(planning_excerpts(shop, task="go", failing=["tests/test_order.py::test_empty"]))
    assert of_test[:2] == ["tests/test_order.py", "shop/order.py"]


def test_the_diff_so_far_is_shown_and_cut_at_a_line(shop: Path) -> None:
    patch = "diff --git a/x b/x\n" + "".join(f"+line {number}\n" for number in range(2000))
    text = planning_excerpts(shop, task="go", failing=(), patch=patch)
    assert "What this run has changed so far\ndiff --git" in text
    assert "more characters]\n" in text
    assert "shop/cart.py" in text


def test_files_with_secrets_and_places_outside_are_not_shown(shop: Path, tmp_path: Path) -> None:
    (tmp_path / "outside.py").write_text("private = 1\n")
    (shop / ".env.py").symlink_to(tmp_path / "outside.py")
    (shop / "id_rsa.py").symlink_to("/etc/passwd")
    failing = ["../outside.py:1: oops", f"{tmp_path}/outside.py:1: oops", ".env.py:1: x", "id_rsa.py:1: y"]
    text = planning_excerpts(shop, task="go", failing=failing)
    assert "private" not in text
    assert "root:" not in text


@example_count(25)
@given(
    task=st.text(max_size=300),
    failing=st.lists(st.one_of(st.text(max_size=80), st.sampled_from([f"{name}:2: x" for name in FILES])), max_size=12),
    patch=st.text(max_size=3000),
    most=st.integers(300, MAX_EXCERPTS),
)
def test_the_excerpts_stay_within_their_budget(
    task: str, failing: list[str], patch: str, most: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.getbasetemp() / "budget"
    root.mkdir(exist_ok=True)
    (root / "a.py").write_text("def a():\n    return 1\n" * 50)
    (root / "shop").mkdir(exist_ok=True)
    (root / "shop" / "cart.py").write_text(FILES["shop/cart.py"])
    assert len(planning_excerpts(root, task=task, failing=failing, patch=patch, most=most)) <= most


def test_a_folder_without_source_has_none(tmp_path: Path) -> None:
    assert planning_excerpts(tmp_path, task="go", failing=["a.py:1: x"]) == ""
