"""The map in CONTRIBUTING.md: the names and files that it gives exist."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
MAP = (ROOT / "CONTRIBUTING.md").read_text()
DECIDED = MAP.partition("## Where it is decided")[2].partition("\n## ")[0]


@pytest.mark.parametrize("line", [line for line in DECIDED.splitlines() if line.startswith("| ")][2:])
def test_what_decides_is_where_the_map_says(line: str) -> None:
    named = re.findall(r"`([\w.]+)`(?: \([^)]*\))? in `([\w/]+\.py)`", line)
    files = re.findall(r"`([\w/]+\.py)`", line)
    assert files
    for file in files:
        found = [*ROOT.glob(f"kotef/{file.removeprefix('kotef/')}"), *ROOT.glob(f"kotef/**/{file}")]
        assert found, file
    for name, file in named:
        text = (ROOT / "kotef" / file).read_text()
        for part in name.split("."):
            assert re.search(rf"^\s*(?:async )?(?:def|class) {part}\b|^{part}\b", text, re.MULTILINE), (name, file)


def test_each_package_has_a_row() -> None:
    packages = [path.parent.name for path in (ROOT / "kotef").glob("*/__init__.py")]
    missing = [name for name in packages if f"`{name}/`" not in MAP and f"`{name}`" not in MAP]
    assert not missing
