"""A test that hangs is a failing test like any other; a suite that is only slow is declined, and nothing stays behind."""

import asyncio
import time
from pathlib import Path

import pytest
from projects import everything, left_by, project, search

from kotef.repair.budget import SearchBudget
from kotef.repair.fault_localization import ExecutionTrace, measure
from kotef.repair.session import WorkerAnswer

WALK = "def steps(n):\n    count = 0\n    while n > 0:\n        count += 1\n        n += 1\n    return count\n"
STEPS = "from walk import steps\n\ndef test_none(): assert steps(0) == 0\n"


@pytest.mark.hostile
def test_tests_that_loop_for_ever_are_repaired(tmp_path: Path) -> None:
    tests = STEPS + "".join(f"def test_{n}(): assert steps({n}) == {n}\n" for n in range(1, 4))
    root = project(tmp_path / "p", {"walk.py": WALK, "test_walk.py": tests})
    before = everything(root)

    found = search(root, seconds=30)

    assert b"        n -= 1\n" in found.patches[0].files["walk.py"]
    assert everything(root) == before
    assert not left_by(tmp_path)


@pytest.mark.hostile
def test_where_every_test_hangs_it_is_searched_all_the_same(tmp_path: Path) -> None:
    tests = "from walk import steps\n\ndef test_two(): assert steps(2) == 2\ndef test_five(): assert steps(5) == 5\n"

    found = search(project(tmp_path / "p", {"walk.py": WALK, "test_walk.py": tests}), seconds=30)

    assert b"        n -= 1\n" in found.patches[0].files["walk.py"]


def test_a_test_that_waits_for_ever_is_repaired(tmp_path: Path) -> None:
    code = (
        "import threading\n\n\ndef put(items, n):\n    ready = threading.Event()\n    if n < 4:\n        ready.set()\n"
        "    ready.wait()\n    items.append(n)\n    return items\n"
    )
    tests = "from m import put\n\ndef test_a(): assert put([], 1) == [1]\ndef test_b(): assert put([1], 4) == [1, 4]\n"

    found = search(project(tmp_path / "p", {"m.py": code, "test_m.py": tests}), seconds=20)

    assert found.declined == ""
    assert ("m.py", 8, "    ready.wait()") in [(path, line, text) for path, line, _, text, _ in found.hints.suspicious]
    assert not left_by(tmp_path)


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "body",
    [
        "while True:\n        try:\n            pass\n        except BaseException:\n            pass",
        "import time\n    time.sleep(99)",
    ],
    ids=["catches all", "sleeps"],
)
def test_a_test_that_cannot_be_interrupted_is_ended(tmp_path: Path, body: str) -> None:
    code = f"def stay(n):\n    {body}\n"
    tests = "from m import stay\n\ndef test_a(): assert stay(1) == 'left'\n"
    started = time.monotonic()

    found = search(project(tmp_path / "p", {"m.py": code, "test_m.py": tests}), seconds=1.5)

    assert time.monotonic() - started < 60
    assert not found.patches
    assert not left_by(tmp_path)


@pytest.mark.hostile
def test_a_suite_of_sleepers_is_declined_with_the_time_it_was_allowed(tmp_path: Path) -> None:
    slow = "import time\nfrom m import x\n" + "".join(f"def test_{n}(): time.sleep(0.4)\n" for n in range(60))
    started = time.monotonic()

    found = search(project(tmp_path / "p", {"m.py": "x = 1\n", "test_m.py": slow}), seconds=8)

    assert found.declined.startswith("the suite takes longer than the ")
    assert found.declined.endswith(" s allowed for one run of it")
    assert found.tried == 0
    assert time.monotonic() - started < 60
    assert not left_by(tmp_path)


def test_tests_too_slow_to_run_though_the_check_saw_some_pass_are_no_hanging_tests(tmp_path: Path) -> None:
    slow = "from m import x\n" + "".join(f"def test_{n}():\n    while True: x\n" for n in range(2))
    root = project(tmp_path / "p", {"m.py": "x = 1\n", "test_m.py": slow})

    found = search(root, seconds=4, failing=["test_m.py::test_1"])

    assert found.declined.startswith("the suite takes longer than the ")


class Timed:
    """In place of a session: each test takes this much CPU time; none passes before it."""

    def __init__(self, *cpu: float) -> None:
        self.cpu = cpu
        self.asked: list[tuple[list[int], float]] = []

    async def ask(self, request: dict[str, object]) -> WorkerAnswer:
        tests, each = request["tests"], request["each"]
        assert isinstance(tests, list)
        assert isinstance(each, float)
        self.asked.append((tests, each))
        told: list[list[object]] = []
        for test in tests:
            told.append(["begin", test])
            if self.cpu[test] > each:
                return WorkerAnswer("time", told)
            told.append(["test", test, "passed", self.cpu[test], self.cpu[test], [], [], "", False])
        return WorkerAnswer("done", told)


def measured(session: Timed, seconds: float = 6) -> dict[int, ExecutionTrace]:
    budget = SearchBudget(seconds, wall=2 * seconds, used=lambda: 0.0)
    found: dict[int, ExecutionTrace] = asyncio.run(measure(session, range(len(session.cpu)), budget=budget))  # type: ignore[arg-type]
    return found


def test_the_first_that_hangs_gets_time_enough_and_those_after_it_less() -> None:
    session = Timed(0.001, 99, 99, 0.002, 99)

    states = {test: ran.state for test, ran in measured(session).items()}

    assert states == {0: "passed", 1: "hangs", 2: "hangs", 3: "passed", 4: "hangs"}
    (_, first), (_, second), (_, third), *repeats = session.asked
    assert first == 0.75
    assert second <= first / 5
    assert third <= first / 5
    assert repeats == [([2], 0.75), ([4], 0.75)], "what was cut early is run again"


def test_a_slow_test_after_one_that_hangs_is_not_taken_for_another() -> None:
    states = {test: ran.state for test, ran in measured(Timed(0.001, 99, 0.6, 0.002, 0.7)).items()}

    assert states[1] == "hangs"
    assert {states.get(test, "unknown") for test in (2, 4)} == {"passed"}


def test_the_limit_follows_from_the_tests_that_end() -> None:
    session = Timed(0.1, 99, 0.3)

    assert {test: ran.state for test, ran in measured(session).items()} == {0: "passed", 1: "hangs", 2: "passed"}
    assert session.asked[1][0] == [2]
    assert session.asked[1][1] == pytest.approx(5 * 0.1)
