"""Where the project's interpreter has no pytest, its check is run on copies: slower, and it says so."""

import os
import re
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from projects import everything, left_by, project, search

from kotef.repair.search import SearchResult

SHOP = "RATE = 10\n\n\ndef price(count, each):\n    total = count * each\n    if count > 10:\n        total -= total * RATE // 100\n    return total\n"
TESTS = """
import unittest
from shop import price


class Price(unittest.TestCase):
    def test_small(self): self.assertEqual(price(1, 5), 5)
    def test_many(self): self.assertEqual(price(10, 5), 45)
    def test_more(self): self.assertEqual(price(12, 5), 54)
"""


@pytest.fixture
def bare(tmp_path: Path) -> str:
    """An interpreter that finds the standard library only."""
    return str(interpreter(tmp_path / "bare"))


def interpreter(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def slowly(root: Path, python: str, **options: Any) -> SearchResult:
    command = f"{python} -m unittest -q"
    return search(root, **{"command": command, "python": python, "seconds": 20, **options})


def test_a_unittest_project_is_repaired_and_nothing_is_written_into_it(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS, ".git/config": "x", "data/rates.txt": "1"})
    before = everything(root)

    found = slowly(root, bare)

    assert found.mode == "subprocess"
    assert found.patches[0].files == {"shop.py": SHOP.replace("count > 10", "count >= 10").encode()}
    assert found.patches[0].rationale == "in `price` (shop.py:6): `>` → `>=`"
    assert found.tried > 1
    assert everything(root) == before, "no cache and no candidate"
    assert not left_by(root)


def test_a_constant_of_the_module_is_repaired_in_the_slow_mode_too(tmp_path: Path, bare: str) -> None:
    code = "FEE = 100\n\n\ndef price(n):\n    return n - FEE\n"
    tests = "import unittest\nfrom m import price\nclass N(unittest.TestCase):\n    def test(self): self.assertEqual([price(300), price(7)], [290, -3])\n"
    root = project(tmp_path / "p", {"m.py": code, "test_m.py": tests})

    found = slowly(root, bare)

    assert found.patches[0].files == {"m.py": code.replace("100", "10").encode()}


def test_without_a_failing_test_the_slow_mode_has_nothing_to_search_for(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS.replace("45", "50")})

    found = slowly(root, bare)

    assert (found.declined, found.mode) == (
        "no failing test: the check passes on a copy of the workspace",
        "subprocess",
    )
    assert found.tried == 0


def test_the_slow_mode_ends_in_time_with_what_it_suspects(tmp_path: Path, bare: str) -> None:
    slip = "def name(n):\n    return str(n)\n"
    tests = "import unittest\nfrom m import name\nclass N(unittest.TestCase):\n    def test(self): self.assertEqual(name(7), 'seven thousand')\n"
    root = project(tmp_path / "p", {"m.py": slip, "test_m.py": tests})
    started = time.monotonic()

    found = slowly(root, bare, seconds=2.5)

    assert time.monotonic() - started < 30, "the budget was 2.5 s; a busy machine needs some to end"
    assert found.patches == ()
    assert found.tried > 0
    assert found.mode == "subprocess"
    assert ("m.py", 2, "    return str(n)") in [(path, line, text) for path, line, _, text, _ in found.hints.suspicious]
    assert not left_by(root)


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "body", ["import time; time.sleep(60)", "while True: pass", "import os; os.system('sleep 60')"], ids=str.split
)
def test_a_check_that_does_not_end_is_declined_in_time_and_ended(tmp_path: Path, bare: str, body: str) -> None:
    tests = f"import unittest\nimport m\nclass N(unittest.TestCase):\n    def test(self):\n        {body}\n"
    root = project(tmp_path / "p", {"m.py": "x = 1\n", "test_m.py": tests})
    started = time.monotonic()

    found = slowly(root, bare, seconds=2)

    assert time.monotonic() - started < 40
    assert re.fullmatch(r"the check takes longer than the \d+(\.\d+)? s allowed for one run", found.declined)
    assert not left_by(root)


def test_candidates_that_never_end_cost_their_share_only(tmp_path: Path, bare: str) -> None:
    slip = "def count(n):\n    k = 0\n    while n > 1:\n        n -= 1\n        k += 1\n    return k\n"
    tests = "import unittest\nfrom m import count\nclass N(unittest.TestCase):\n    def test(self): self.assertEqual(count(3), 3)\n"
    root = project(tmp_path / "p", {"m.py": slip, "test_m.py": tests})
    started = time.monotonic()

    found = slowly(root, bare, seconds=4, stop_after=40)

    assert time.monotonic() - started < 60
    assert found.tried > 3
    assert not left_by(root)


def test_the_interpreter_inside_the_workspace_is_used_by_the_copies(tmp_path: Path) -> None:
    root = project(
        tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS, ".venv/pyvenv.cfg": "", ".venv/lib/a.py": "b = 1"}
    )
    python = interpreter(root / ".venv/bin/python")
    before = everything(root)

    found = slowly(root, str(python), command=".venv/bin/python -m unittest -q")

    assert found.patches[0].rationale == "in `price` (shop.py:6): `>` → `>=`"
    assert everything(root) == before


def test_imports_by_way_of_the_environment_reach_the_copies(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"src/shop.py": SHOP, "test_shop.py": TESTS})

    found = slowly(root, bare, env={**os.environ, "PYTHONPATH": str(root / "src")})

    assert list(found.patches[0].files) == ["src/shop.py"]


def test_a_check_that_runs_the_workspace_itself_is_declined(tmp_path: Path, bare: str) -> None:
    path = f"import sys\nsys.path.insert(0, {str(tmp_path / 'p')!r})\n"
    code = SHOP.replace("total -= total", "total -= nothing")
    root = project(tmp_path / "p", {"shop.py": code, "tests/__init__.py": path, "tests/test_shop.py": TESTS})

    found = slowly(root, bare, command=f"{bare} -m unittest tests.test_shop")

    assert found.declined == "without pytest edits are tried on a copy, but the check runs the files of the workspace"


def test_a_check_that_cannot_be_started_is_named(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS})

    found = slowly(root, bare, command="no-such-runner -m unittest")

    assert found.declined.startswith("the check cannot run on a copy of the workspace: ")
    assert "no-such-runner" in found.declined


def test_a_workspace_too_large_to_copy_is_declined(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS})
    with (root / "large.bin").open("wb") as file:
        file.truncate(60 << 20)

    found = slowly(root, bare)

    assert found.declined == "without pytest each edit is tried on a copy of the workspace, and it has over 50 MB"


def test_links_and_pipes_of_the_workspace_are_not_followed(tmp_path: Path, bare: str) -> None:
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS})
    (root / "loop").symlink_to(root)
    (root / "gone").symlink_to(tmp_path / "nowhere")
    os.mkfifo(root / "pipe")

    assert slowly(root, bare).patches


def test_protected_files_and_unreadable_ones_are_not_edited_by_the_slow_mode(tmp_path: Path, bare: str) -> None:
    root = project(
        tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS, "old.py": "print 'hello'\n", "latin.py": b"# \xe9\n"}
    )

    found = slowly(root, bare, protected=lambda path: path in {"shop.py", "test_shop.py"})

    assert found.declined.startswith("no function of the workspace is suspicious; latin.py (line 1 is not UTF-8), ")
    assert "old.py (line 1: Missing parentheses" in found.declined


def test_a_system_that_cannot_fork_is_searched_in_the_slow_mode(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(os, "fork")
    root = project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": TESTS})

    found = search(root, command=f"{sys.executable} -m unittest -q", seconds=8)

    assert found.mode == "subprocess"
    assert found.patches[0].rationale == "in `price` (shop.py:6): `>` → `>=`"


def test_the_slow_mode_tells_the_share_of_the_space_that_it_tried(tmp_path: Path, bare: str) -> None:
    tests = TESTS + "    def test_never(self): self.assertEqual(price(3, 5), object())\n"
    found = slowly(project(tmp_path / "p", {"shop.py": SHOP, "test_shop.py": tests}), bare, seconds=2)

    assert found.ending == "budget"
    assert 0 < found.singles == found.tried < found.space
