"""Where Python would look for a module follows from its name and from the file that imports it."""

import pytest

from kotef.integrity.python_imports import module_files


@pytest.mark.parametrize(
    ("name", "path", "first"),
    [
        ("shop.cart", "", ["shop/cart.py", "shop/cart/__init__.py", "src/shop/cart.py"]),
        (
            "helpers",
            "tests/unit/test_a.py",
            ["tests/unit/helpers.py", "tests/unit/helpers/__init__.py", "tests/helpers.py"],
        ),
        (".helpers", "tests/test_a.py", ["tests/helpers.py", "tests/helpers/__init__.py"]),
        ("..shop", "tests/test_a.py", ["shop.py", "shop/__init__.py"]),
        (".", "shop/cart.py", ["shop/__init__.py"]),
        ("....shop", "tests/test_a.py", []),
    ],
)
def test_files_of_a_module_nearest_first(name: str, path: str, first: list[str]) -> None:
    found = list(module_files(name, path))

    assert found[: len(first)] == first
    assert not name.startswith(".") or found == first
