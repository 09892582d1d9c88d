"""Files that a plan names and the workspace does not have."""

from kotef.nodes.plan_material import unknown_files

KNOWN = frozenset({"shop/cart.py", "shop/order.py", "tests/test_cart.py", "README.md"})


def missing(description: str, *files: str) -> list[tuple[str, tuple[str, ...]]]:
    return [tuple(each) for each in unknown_files([(description, files)], KNOWN)]  # type: ignore[misc]


def test_a_file_that_does_not_exist_is_named_with_the_nearest() -> None:
    assert missing("fix the sum", "shop/carts.py") == [("shop/carts.py", ("shop/cart.py",))]
    assert missing("fix the sum", "src/very/far/away/order.py") == [("src/very/far/away/order.py", ("shop/order.py",))]


def test_files_folders_patterns_and_new_files_are_not_missing() -> None:
    assert missing("fix", "shop/cart.py", "./README.md", "shop", "shop/", "tests/*.py") == []
    for words in ("Create shop/tax.py", "add a module for taxes", "move Cart to its own file", "write a new helper"):
        assert missing(words, "shop/tax.py") == []
