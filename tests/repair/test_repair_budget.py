"""What a search may use, and the reasons for which it gives up."""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from projects import project, search

from kotef.repair import budget as module
from kotef.repair.budget import SearchBudget, wall_seconds
from kotef.repair.coder import _ended, _is_python
from kotef.repair.search import Meter
from kotef.repair.types import SearchResult
from kotef.repair.worker.trials import Trials, _Deadline


class Clock:
    """In place of `time`: both clocks stand until they are moved."""

    def __init__(self) -> None:
        self.wall = 0.0
        self.cpu = 0.0

    def monotonic(self) -> float:
        return self.wall


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(module, "time", made)
    return made


def test_a_budget_is_used_up_by_cpu_seconds_and_not_by_a_busy_machine(clock: Clock) -> None:
    whole = SearchBudget(10, wall=40, used=lambda: clock.cpu)
    clock.cpu, clock.wall = 2, 6
    assert (whole.elapsed, whole.left, whole.waited) == (2, 8, False)
    clock.cpu = 10
    assert (whole.over, whole.waited) == (True, False)


def test_the_wall_time_bounds_a_budget_that_waits(clock: Clock) -> None:
    whole = SearchBudget(10, wall=40, used=lambda: clock.cpu)
    clock.cpu, clock.wall = 1, 20
    assert (whole.elapsed, whole.left, whole.wall_left) == (5, 5, 20)
    clock.wall = 41
    assert (whole.over, whole.waited) == (True, True)


def test_a_phase_gets_a_share_of_what_is_left_of_both(clock: Clock) -> None:
    whole = SearchBudget(10, wall=40, used=lambda: clock.cpu)
    clock.cpu, clock.wall = 6, 10
    phase = whole.part(0.5)
    assert (phase.seconds, phase.wall) == (2, 15)
    clock.cpu = 8
    assert (phase.over, whole.over) == (True, False)


def test_a_busy_machine_does_not_end_a_search_early(tmp_path: Path) -> None:
    """Twice as many busy processes as processors: the search has its CPU seconds all the same."""
    files = {
        "m.py": "def name(n):\n    return str(n) + str(n * 3) + str(n - 4)\n",
        "test_m.py": "from m import name\n\ndef test_it(): assert name(1) == 'seven thousand'\n",
    }
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(2 * (os.cpu_count() or 1))]
    try:
        found = search(project(tmp_path / "p", files), seconds=1, wall=60, jobs=1)
    finally:
        for process in busy:
            process.kill()
            process.wait()
    assert found.cpu_seconds > 0.7 or found.ending == "exhausted"
    assert not found.waited


def test_tests_that_wait_are_bounded_by_the_wall_time(tmp_path: Path) -> None:
    files = {
        "m.py": "import time\ndef name(n):\n    time.sleep(0.2)\n    return str(n) + str(n * 3) + str(n - 4)\n",
        "test_m.py": "from m import name\n\ndef test_it(): assert name(1) == 'seven thousand'\n",
    }
    started = time.monotonic()
    found = search(project(tmp_path / "p", files), seconds=20, wall=4)
    assert found.ending == "budget"
    assert found.waited
    assert found.tried > 0
    assert time.monotonic() - started < 20


def test_of_a_suite_too_long_to_run_the_failing_tests_and_those_reached_are_enough(tmp_path: Path) -> None:
    """The real check judges the edit with all of them."""
    slow = "import time\nfrom m import up\n" + "".join(f"def test_{n}(): time.sleep(0.4)\n" for n in range(60))
    tests = f"{slow}def test_up(): assert up(3) == 4\ndef test_more(): assert up(8) == 9\n"
    root = project(tmp_path / "p", {"m.py": "def up(n):\n    return n - 1\n", "test_m.py": tests})

    found = search(root, seconds=3, wall=5, failing=["test_m.py::test_up", "test_m.py::test_more"])

    assert found.declined == ""
    assert found.tried > 0


def test_the_worker_counts_while_it_is_at_work() -> None:
    meter = Meter()
    before = meter.used()
    sum(number * number for number in range(300_000))
    assert meter.used() >= before


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (SearchResult(tried=7, singles=7, space=7), "search exhausted: 7 candidates tried"),
        (SearchResult(tried=30, ending="budget", singles=30, space=120), "25 % of 120 single edits"),
        (
            SearchResult(tried=30, ending="budget", singles=30, space=3000, counted=False),
            "less than 1 % of over 3,000 single",
        ),
        (SearchResult(tried=90, ending="budget", singles=60, space=60), "among them all 60 single edits"),
        (SearchResult(ending="budget", declined="the suite is long"), "out of budget: the suite is long"),
        (SearchResult(ending="cannot run", declined="no fork"), "cannot be run here: no fork"),
        (SearchResult(declined="nothing to edit"), "search exhausted: nothing to edit"),
    ],
)
def test_each_way_to_give_up_has_its_own_words(found: SearchResult, said: str) -> None:
    assert said in _ended(found)


def test_a_search_out_of_its_budget_says_so_and_knows_how_much_of_the_space_it_tried(tmp_path: Path) -> None:
    lines = "".join(f"    if n == {k}:\n        n = n * {k} - {k + 1}\n" for k in range(2, 300))
    files = {
        "m.py": f"def name(n):\n{lines}    return str(n)\n",
        "test_m.py": "from m import name\n\ndef test_it(): assert name(1) == 'seven thousand'\n",
    }
    found = search(project(tmp_path / "p", files), seconds=1.5)
    assert found.ending == "budget"
    assert found.late
    assert not found.patches
    assert 0 < found.singles < found.space


def test_tests_that_run_an_installed_copy_are_told_so(tmp_path: Path) -> None:
    installed = tmp_path / "env" / "site-packages"
    package = {"shop/__init__.py": "", "shop/price.py": "def up(n):\n    return n - 1\n"}
    project(installed, package)
    files = {f"src/{name}": text for name, text in package.items()}
    tests = "from shop.price import up\n\ndef test_up(): assert up(3) == 4\n"
    root = project(tmp_path / "p", {**files, "tests/test_shop.py": tests})

    found = search(root, env={**os.environ, "PYTHONPATH": str(installed)})

    assert found.ending == "cannot run"
    assert found.declined == (
        "the tests run an installed copy of shop, not src/shop: install it editable (pip install -e .)"
    )


def test_other_languages_are_known_by_their_command() -> None:
    assert _is_python("python -m pytest -q")
    assert not _is_python("go test ./...")


def test_the_time_of_a_call_is_what_it_computes_not_what_a_busy_machine_takes() -> None:
    def outlasts(work: Callable[[], object]) -> bool:
        deadline = _Deadline(0.1)
        with deadline:
            work()
        return deadline.over

    assert not outlasts(lambda: time.sleep(0.15)), "waiting for a processor is not computing"
    assert outlasts(lambda: time.sleep(2)), "but what waits for ever ends too"
    assert outlasts(lambda: sum(1 for _ in iter(int, 1)))


@pytest.mark.parametrize(("blind", "seen"), [(2, 0), (4, 2)])
def test_a_second_look_sees_what_an_edit_fixes_between_tests_that_still_fail(blind: int, seen: int) -> None:
    trials = object.__new__(Trials)
    trials._kills, trials._seconds = {}, {}
    told: list[Any] = []
    fixed = {2, 3}
    request = {"failing": [0, 1, 2, 3, 4, 5], "looks": 6, "blind": blind}

    with patch.object(Trials, "_one", lambda _, __, test, ___, tell: tell(test) or test in fixed):
        assert not trials._failing_pass(0, request, told.append)

    assert len(fixed & set(told)) == seen


@pytest.mark.parametrize(("load", "wall"), [(0.0, 30), (2.0, 30), (4.0, 60), (60.0, 120)])
def test_a_busy_machine_gives_a_search_more_wall_time(
    monkeypatch: pytest.MonkeyPatch, load: float, wall: float
) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (load, 0.0, 0.0))

    assert wall_seconds(10) == wall
