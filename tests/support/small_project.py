from pathlib import Path

import pytest


class Open:
    """A guard that lets everything be edited but names in `closed`; it remembers what it was asked."""

    def __init__(self, *closed: str) -> None:
        self.closed = closed
        self.asked: list[str] = []

    def may_edit(self, path: str) -> str | None:
        self.asked.append(path)
        return f"{path} is closed; leave it" if path in self.closed else None


@pytest.fixture
def guard() -> Open:
    return Open()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small project."""
    top = tmp_path / "project"
    for name, text in {
        "README.md": "# Shop\n",
        "src/cart.py": "import os\n\n\ndef total(items):\n    result = 0\n    for item in items:\n        result += item.price\n    return result\n",
        "src/__pycache__/cart.pyc": "x",
        "tests/test_cart.py": "from cart import total\n\n\ndef test_total():\n    assert total([]) == 0\n",
        ".git/config": "[core]\n",
        ".sdd/runs/r1/events.jsonl": "{}\n",
        ".sdd/project.md": "# total\n",
        "node_modules/left/index.js": "total\n",
        "env/pyvenv.cfg": "home = /usr\n",
        "env/lib/total.py": "total\n",
        ".env": "TOTAL_KEY=total\n",
    }.items():
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text)
    return top
