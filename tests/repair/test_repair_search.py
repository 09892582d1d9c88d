"""A slip in a small project is found and repaired in memory; what cannot be searched is declined with its reason."""

import ast
import asyncio
import os
import stat
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from projects import everything, left_by, project, search

from kotef.repair.arguments import generated
from kotef.repair.session import WorkerSession

TESTS = """
from shop import price

def test_small(): assert price(1, 5) == 5
def test_many(): assert price(10, 5) == 45
def test_more(): assert price(12, 5) == 54
"""


def test_a_slip_is_repaired_byte_for_byte_and_nothing_is_written(tmp_path: Path) -> None:
    source = (
        b"RATE = 10  # per cent\r\n\r\n\r\ndef price(count, each):\r\n    total = count * each  # \xc3\xa9\r\n"
        b"    if count > 10:   # from ten on\r\n        total -= total * RATE // 100\r\n    return total\r\n"
    )
    root = project(tmp_path / "p", {"shop.py": source, "test_shop.py": TESTS})
    before = everything(root)

    found = search(root)

    assert everything(root) == before, "nothing is written, no cache either"
    best = found.patches[0]
    assert best.files == {"shop.py": source.replace(b"count > 10", b"count >= 10")}
    assert best.path == "shop.py"
    assert best.operator == "comparison"
    assert best.rationale == "in `price` (shop.py:6): `>` → `>=`"
    assert best.covering_tests == 3
    assert best.doubt == ""
    assert best.diff.startswith("--- a/shop.py\n+++ b/shop.py\n@@")
    assert "-    if count > 10:   # from ten on" in best.diff
    assert found.declined == ""
    assert found.mode == "fork"
    assert found.tried > 1
    assert found.cpu_seconds > 0
    assert found.hints.suspicious[0][0] == "shop.py"


SLOW = """
import time
from shop import total

class Slow(int):
    def __add__(self, other):
        until = time.process_time() + 0.07
        while time.process_time() < until:
            pass
        return Slow(int(self) + int(other))

def test_total(): assert total(Slow(2), Slow(3)) == 5
def test_nothing(): assert total(0, 0) == 0
"""


def test_an_edit_that_needs_more_time_is_not_passed_over_for_a_less_plausible_one(tmp_path: Path) -> None:
    files = {"shop.py": "def total(a, b):\n    return a - b\n", "test_shop.py": SLOW}
    found = search(project(tmp_path / "p", files))
    assert found.patches[0].rationale == "in `total` (shop.py:2): `-` → `+`"
    assert found.plausible > 1


def test_a_constant_of_the_module_is_repaired_though_others_imported_it_by_name(tmp_path: Path) -> None:
    files = {
        "rates.py": "FEE = 100\n",
        "shop.py": "from rates import FEE\n\ndef price(n):\n    return n - FEE\n",
        "test_shop.py": "from shop import price\n\ndef test_price(): assert price(300) == 290\n"
        "def test_other(): assert price(200) == 190\n",
    }
    found = search(project(tmp_path / "p", files))

    assert found.patches[0].files == {"rates.py": b"FEE = 10\n"}


def test_methods_decorated_functions_and_closures_are_repaired(tmp_path: Path) -> None:
    files = {
        "stock.py": "import functools\n\n\nclass Base:\n    def count(self):\n        return 1\n\n\nclass Box(Base):\n"
        "    def __init__(self, items):\n        self.items = items\n        self.__kept = 0\n\n"
        "    def count(self):\n        def inner():\n            return len(self.items) - super(Box, self).count() + self.__kept\n"
        "        return inner() + super().count() - 1\n\n\n"
        "@functools.lru_cache(maxsize=None)\ndef last(n):\n    if n == 0:\n        return 0\n    return last(n - 1) + 2\n",
        "test_stock.py": "from stock import Box, last\n\ndef test_box(): assert Box('abc').count() == 3\n"
        "def test_box_2(): assert Box('a').count() == 1\ndef test_last(): assert last(4) == 8\n",
    }
    found = search(project(tmp_path / "p", files))

    assert found.patches
    assert found.patches[0].path == "stock.py"
    ast.parse(found.patches[0].files["stock.py"])


def test_a_changed_default_takes_effect(tmp_path: Path) -> None:
    files = {
        "bag.py": "def put(item, bag=[]):\n    bag.append(item)\n    return bag\n",
        "test_bag.py": "from bag import put\n\ndef test_fresh():\n    assert put(1) == [1]\n    assert put(2) == [2]\n"
        "def test_given():\n    assert put(1, [0]) == [0, 1]\n",
    }
    found = search(project(tmp_path / "p", files))

    assert found.patches[0].files["bag.py"] != files["bag.py"].encode()
    space: dict[str, object] = {}
    exec(found.patches[0].files["bag.py"], space)
    assert space["put"](1) == [1]  # type: ignore[operator]
    assert space["put"](2) == [2]  # type: ignore[operator]


def test_unittest_cases_and_doctests_count_as_tests(tmp_path: Path) -> None:
    files = {
        "ends.py": '"""\n>>> from ends import last\n>>> last([1, 2])\n2\n"""\n\n\ndef last(items):\n    return items[0]\n',
        "test_ends.py": "import unittest\nfrom ends import last\n\nclass Last(unittest.TestCase):\n    def test_three(self):\n"
        "        for items in ([1, 2, 3], [3]):\n            with self.subTest(items=items):\n                self.assertEqual(last(items), 3)\n",
    }
    found = search(project(tmp_path / "p", files), command="python -m pytest -q --doctest-modules")

    assert b"items[-1]" in found.patches[0].files["ends.py"]


def test_warnings_that_the_project_makes_errors_end_a_candidate_too(tmp_path: Path) -> None:
    files = {
        "pytest.ini": "[pytest]\nfilterwarnings = error\npythonpath = .\n",
        "old.py": "import warnings\n\ndef half(n):\n    warnings.warn('old', DeprecationWarning)\n    return n // 2\n\n"
        "def split(n):\n    return half(n), n - half(n)\n\ndef quarter(n):\n    return n // 3\n",
        "test_old.py": "from old import quarter, split\nimport pytest\n\ndef test_split():\n    with pytest.warns(DeprecationWarning):\n"
        "        assert split(5) == (2, 3)\n\ndef test_quarter(): assert quarter(8) == 2\ndef test_other(): assert quarter(40) == 10\n",
    }
    found = search(project(tmp_path / "p", files))

    assert b"return n // 4" in found.patches[0].files["old.py"]


def test_only_the_tests_that_are_named_have_to_be_cured(tmp_path: Path) -> None:
    files = {
        "m.py": "def up(n):\n    return n - 1\n\ndef down(n):\n    return n + 1\n",
        "test_m.py": "from m import down, up\n\ndef test_up(): assert up(3) == 4\ndef test_down(): assert down(3) == 2\n",
    }
    found = search(project(tmp_path / "p", files), failing=["test_m.py::test_down"])

    assert found.patches[0].files["m.py"].startswith(b"def up(n):\n    return n - 1\n")
    assert b"down(n):\n    return n - 1" in found.patches[0].files["m.py"]


def test_protected_files_are_never_edited(tmp_path: Path) -> None:
    files = {
        "m.py": "def up(n):\n    return n - 1\n",
        "test_m.py": "from m import up\n\ndef test_up(): assert up(3) == 4\n",
    }
    root = project(tmp_path / "p", files)

    found = search(root, protected=lambda path: path == "m.py")

    assert not found.patches
    assert found.declined == "the tests import no file of this workspace that may be edited"


@pytest.mark.examples(5)
@pytest.mark.parametrize(
    ("code", "test", "reason"),
    [
        ("x = 1", "def test_x(): assert m.x == 1", "no failing test"),
        ("x = 1", "", "no test was collected"),
        ("x = ", "def test_x(): pass", "cannot be collected: E"),
        (
            "seen = []",
            "def test_a(): m.seen.append(1)\ndef test_b(): assert not m.seen",
            "test_m.py::test_b fails only after other tests have run, and passes alone",
        ),
        (
            "import socket\ndef ask(): socket.create_connection(('127.0.0.1', 9), 1)",
            "def test_ask(): m.ask()",
            "test_m.py::test_ask needs a service that does not answer: ConnectionRefusedError",
        ),
        (
            "import socket\ndef ask(): socket.create_connection(('192.0.2.1', 9), 1)",
            "def test_ask(): m.ask()",
            "does something not allowed while repairs are tried: socket.connect 192.0.2.1",
        ),
        (
            "def note(): open('note.txt', 'w').close()",
            "def test_note(): m.note(); assert 0",
            "does something not allowed while repairs are tried: open note.txt",
        ),
        ("x = 1", "def test_x(): assert 0", "run no line of this workspace that may be edited"),
        (
            "def one(): return 2",
            "def test_one(): import time; time.sleep(30); assert m.one() == 1",
            "test_m.py::test_one does not finish within the time allowed for tracing it",
        ),
    ],
    ids=["green", "no test", "syntax error", "order", "server", "network", "writes", "nothing run", "sleeps"],
)
def test_what_cannot_be_searched_is_declined_with_its_reason(tmp_path: Path, code: str, test: str, reason: str) -> None:
    root = project(tmp_path / "p", {"m.py": code + "\n", "test_m.py": f"import m\n\n{test}\n"})
    before = everything(root)

    found = search(root, seconds=8)

    assert reason in found.declined
    assert "\n" not in found.declined
    assert not found.patches
    assert everything(root) == before


def test_a_suite_slower_than_the_budget_is_declined_in_time(tmp_path: Path) -> None:
    slow = "import time\nfrom m import x\n" + "".join(f"def test_{n}(): time.sleep(0.3)\n" for n in range(200))
    root = project(tmp_path / "p", {"m.py": "x = 1\n", "test_m.py": slow})
    started = time.monotonic()

    found = search(root, seconds=2)

    assert "longer than" in found.declined or "took all the time allowed" in found.declined, (
        "a busy machine gets no further"
    )
    assert time.monotonic() - started < 60, "the suite takes longer"


def test_a_test_that_hangs_is_repaired_and_nothing_is_left_running(tmp_path: Path) -> None:
    files = {
        "walk.py": "def steps(n):\n    count = 0\n    while n > 0:\n        count += 1\n    return count\n",
        "test_walk.py": "from walk import steps\n\ndef test_none(): assert steps(0) == 0\ndef test_five(): assert steps(5) == 5\n",
    }
    root = project(tmp_path / "p", files)

    found = search(root, seconds=10)

    assert b"n -= 1" in found.patches[0].files["walk.py"]
    assert not left_by(root)


def test_candidates_that_fork_exit_recurse_or_fill_memory_do_no_harm(tmp_path: Path) -> None:
    files = {
        "wild.py": "import os\n\n\ndef grow(n):\n    if n > 5:\n        os._exit(0)\n    if n < -5:\n        while True:\n            os.fork()\n"
        "    if n == -1:\n        return [0] * (10 ** 12)\n    if n == -2:\n        return grow(n)\n"
        "    keep = []\n    while n == -3:\n        keep.append('x' * 10 ** 6)\n    return n * 2\n",
        "test_wild.py": "from wild import grow\n\ndef test_one(): assert grow(1) == 3\ndef test_two(): assert grow(2) == 4\n",
    }
    root = project(tmp_path / "p", files)
    started = time.monotonic()

    found = search(root, seconds=3)

    assert time.monotonic() - started < 60
    assert found.tried > 0
    assert not left_by(root)


def test_a_very_long_function_is_searched_within_the_budget(tmp_path: Path) -> None:
    body = "".join(f"    if n == {number}:\n        total = total + {number}\n" for number in range(1000))
    code = f"def long(n):\n    total = 0\n{body}    return total - n\n"
    tests = "from long import long\n\ndef test_a(): assert long(7) == 14\ndef test_b(): assert long(900) == 1800\n"
    started = time.monotonic()

    found = search(project(tmp_path / "p", {"long.py": code, "test_long.py": tests}), seconds=2)

    assert time.monotonic() - started < 60, "the budget was 2 s; a busy machine needs some to end"
    assert found.declined == "" or found.ending == "budget", "as above"


def test_modules_with_effects_on_import_are_imported_once(tmp_path: Path) -> None:
    log = tmp_path / "log"
    files = {
        "loud.py": f"import os\nprint('hello')\nos.system('echo x >> {log}')\n\n\ndef up(n):\n    return n - 1\n",
        "test_loud.py": "from loud import up\n\ndef test_up(): assert up(3) == 4\ndef test_low(): assert up(-1) == 0\n",
    }
    found = search(project(tmp_path / "p", files))

    assert b"n + 1" in found.patches[0].files["loud.py"]
    assert log.read_text() == "x\n"


def test_without_pytest_the_check_itself_is_run_on_copies(tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -I -S "$@"\n')
    bare.chmod(bare.stat().st_mode | stat.S_IXUSR)
    files = {
        "m.py": "def up(n):\n    return n - 1\n",
        "test_m.py": "import sys, os\nsys.path.insert(0, os.getcwd())\nfrom m import up\nassert up(3) == 4\nassert up(8) == 9\n",
    }
    root = project(tmp_path / "p", files)
    before = everything(root)

    found = search(root, command=f"{bare} test_m.py", python=str(bare))

    assert (found.mode, found.slow_because) == ("subprocess", "the project's interpreter has no pytest")
    assert found.patches[0].files == {"m.py": b"def up(n):\n    return n + 1\n"}
    assert everything(root) == before


def test_without_pytest_the_failing_test_runs_alone_first_and_what_it_names_is_searched_first(tmp_path: Path) -> None:
    bare = tmp_path / "python3"
    bare.write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    bare.chmod(bare.stat().st_mode | stat.S_IXUSR)
    log = tmp_path / "whole"
    others = "".join(f"def other_{n}(a, b):\n    return a - b < {n} + 1\n\n\n" for n in range(40))
    head = "import time, unittest\nimport m\nclass T(unittest.TestCase):\n"
    whole = f"    def test_whole(self):\n        open({str(log)!r}, 'a').write('x')\n        time.sleep(1)\n"
    one = "    def test_one(self):\n        self.assertEqual((m.late(1, 2, 3), m.late(1, 2, 2)), (7, 5))\n"
    files = {
        "m.py": f"{others}def late(a, b, c):\n    if a < b and b < c:\n        return a + b * c\n    return 0\n",
        "test_m.py": f"{head}{whole}{one}",
    }
    root = project(tmp_path / "p", files)

    failing = {"test_m.py::T::test_one"}
    found = search(root, command=f"{bare} -m unittest test_m.py", python=str(bare), failing=failing, stop_after=1)

    assert found.patches, found
    assert b"b <= c" in found.patches[0].files["m.py"]
    assert found.tried < 40, "what the failing test names comes first"
    assert len(log.read_text()) <= found.tried, "the whole check is run for what passes the failing test"


def test_an_interpreter_that_is_not_there_is_named(tmp_path: Path) -> None:
    root = project(tmp_path / "p", {"m.py": "x = 1\n"})

    assert "/no/such/python" in search(root, python="/no/such/python").declined


def test_edits_that_pass_but_differ_are_told_with_the_arguments(tmp_path: Path) -> None:
    files = {
        "m.py": "def fee(n):\n    return n\n",
        "test_m.py": "from m import fee\n\ndef test_two(): assert fee(2) == 4\n",
    }
    found = search(project(tmp_path / "p", files), stop_after=6)

    assert found.plausible > 1
    first = found.disagreements[0]
    assert first.call.startswith("fee(")
    assert len(set(first.results)) > 1


def test_methods_are_compared_on_objects_with_the_recorded_attributes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kotef.repair.plausibility.RIVAL", 2.0)
    files = {
        "m.py": "class Till:\n    def __init__(self, cents):\n        self.cents = cents\n\n    def take(self, n):\n"
        "        self.cents += n\n        return self.cents\n",
        "test_m.py": "from m import Till\n\ndef test_two(): assert Till(6).take(3) == 3\n",
    }
    found = search(project(tmp_path / "p", files), stop_after=4)

    assert {len(set(each.results)) > 1 for each in found.disagreements} == {True}
    assert found.disagreements[0].given.startswith("With Till(")


def test_two_slips_that_different_tests_show_are_repaired_together(tmp_path: Path) -> None:
    files = {
        "m.py": "def up(n):\n    return n - 1\n\ndef down(n):\n    return n + 1\n",
        "test_m.py": "from m import down, up\n\ndef test_up(): assert up(3) == 4\ndef test_down(): assert down(3) == 2\n"
        "def test_up_more(): assert up(9) == 10\ndef test_down_more(): assert down(9) == 8\n",
    }
    found = search(project(tmp_path / "p", files), stop_after=6)

    assert found.patches[0].files["m.py"] == b"def up(n):\n    return n + 1\n\ndef down(n):\n    return n - 1\n"
    assert found.patches[0].operator == "arithmetic operator + arithmetic operator"
    assert found.patches[0].rationale == "in `up` (m.py:2): `-` → `+`; in `down` (m.py:5): `+` → `-`"


def test_a_second_slip_on_a_line_that_only_runs_once_the_first_is_cured_is_found(tmp_path: Path) -> None:
    files = {
        "m.py": "def span(low, high):\n    size = high + low\n    if size < 0:\n        return 7\n    return size\n",
        "test_m.py": "from m import span\n\ndef test_wide(): assert span(2, 7) == 5\ndef test_more(): assert span(1, 9) == 8\n"
        "def test_turned(): assert span(7, 2) == 0\ndef test_turned_more(): assert span(9, 2) == 0\n",
    }
    found = search(project(tmp_path / "p", files), seconds=9, stop_after=4)

    assert any(b"high - low" in patch.files["m.py"] and b"return 0" in patch.files["m.py"] for patch in found.patches)


def test_a_search_without_success_leaves_hints(tmp_path: Path) -> None:
    files = {
        "m.py": "def name(n):\n    return str(n)\n",
        "test_m.py": "from m import name\n\ndef test_seven(): assert name(7) == 'seven thousand'\ndef test_one(): assert name(1) == '1'\n",
    }
    found = search(project(tmp_path / "p", files), seconds=1)

    assert not found.patches
    path, line, score, text, types = found.hints.suspicious[0]
    assert (path, line, score, text, types) == ("m.py", 2, 1.0, "    return str(n)", "n: int")


def test_tests_that_use_tmp_path_pass_once_the_code_is_right(tmp_path: Path) -> None:
    """`tmp_path` looks at the report of the test when it is taken down."""
    files = {
        "m.py": "def save(path, rows):\n    path.write_text(','.join(rows[1:]))\n",
        "test_m.py": "from m import save\n\ndef test_save(tmp_path):\n    save(tmp_path / 'a', ['x', 'y'])\n"
        "    assert (tmp_path / 'a').read_text() == 'x,y'\n",
    }
    found = search(project(tmp_path / "p", files), stop_after=1)

    assert found.plausible


def test_generated_arguments_keep_the_order_that_was_never_broken() -> None:
    made = [ast.literal_eval(text) for text in generated(["{'x': 9, 'lo': 1, 'hi': 3}", "{'x': -2, 'lo': 0, 'hi': 8}"])]
    assert len(made) > 10
    assert all(row["lo"] <= row["hi"] for row in made)
    assert any(row["x"] < row["lo"] for row in made)


def test_candidates_tried_one_after_the_other_are_judged_alike_where_tests_stand_in_classes_and_modules(
    tmp_path: Path,
) -> None:
    """What one candidate's tests left up for tests that were not reached does not fail the tests of the next."""
    cases = "".join(f"    def test_{n}(self, up): assert up({n}) == {n + 1}\n" for n in range(3))
    fixture = "    @pytest.fixture(scope='class')\n    def up(self): return up\n"
    classes = "".join(f"class Test{name}:\n{fixture}{cases}" for name in "AB")
    files = {
        "m.py": "def up(n):\n    return n - 1\n",
        **{f"test_{name}.py": f"import pytest\nfrom m import up\n\n{classes}" for name in "xy"},
        "test_z.py": "def test_control(): pass\n",
    }

    answers = asyncio.run(screened(project(tmp_path / "p", files), tmp_path, ["n", "0", "n - 2", "n + 1"]))

    assert ["control", True] in answers or ["stop", 3] in answers
    assert [word for word in answers if word[0] == "passed" and word[1] == 3] != []
    assert [word for word in answers if word[0] == "failed" and word[1] == 3] == []


def test_one_round_tries_many_candidates_whatever_objects_and_caches_the_module_has(tmp_path: Path) -> None:
    """An object that fails when it is asked anything, and state that every run of the tests changes, end no round."""
    files = {
        "m.py": "def up(n):\n    return n - 1\n\nclass Proxy:\n    def __getattribute__(self, name):\n"
        "        raise RuntimeError('not bound')\n\nproxy = Proxy()\nseen = {}\n",
        "test_m.py": "import m\n\ndef test_up():\n    m.seen[len(m.seen)] = 1\n    assert m.up(3) == 4\n",
        "test_z.py": "def test_control(): pass\n",
    }

    answers = asyncio.run(screened(project(tmp_path / "p", files), tmp_path, ["n", "0", "n - 2", "n + 2"]))

    assert [word[1] for word in answers if word[0] == "end"] == [0, 1, 2, 3]
    assert ["control", True] in answers


def test_tests_that_pass_in_the_check_and_fail_here_are_the_reason(tmp_path: Path) -> None:
    files = {
        "m.py": "def up(n):\n    return n - 1\n",
        "test_m.py": "import os, sys\nfrom m import up\nquick = 'worker/main.py' in sys.argv[0]\n\n"
        "def test_up(): assert up(3) == 4\n"
        + "".join(f"def test_{n}(): assert not quick, 'no room'\n" for n in range(5)),
    }
    found = search(project(tmp_path / "p", files), failing=["test_m.py::test_up"])

    assert found.ending == "cannot run"
    assert (
        found.declined == "5 of 5 tests that pass in the check fail here: test_m.py::test_0 (AssertionError: no room)"
    )


async def screened(root: Path, scratch: Path, bodies: list[str]) -> list[list[Any]]:
    """What the worker tells of one round in which `up` of m.py returns one expression after the other."""
    session = WorkerSession.start(root, scratch, python=sys.executable, env=dict(os.environ), arguments=[])
    try:
        tests = (await session.collected()).tests
        await session.set_jobs(1)
        unit = {"path": "m.py", "trail": ["up"], "line": 1, "defaults": False}
        failing = [number for number, test in enumerate(tests) if "control" not in test]
        await session.ask({"do": "measure", "tests": failing, "each": 2, "cpu": 20, "wall": 20, "total": 20})
        request = {
            "do": "screen",
            "candidates": [[{**unit, "source": f"def up(n):\n    return {body}\n"}] for body in bodies],
            "failing": failing,
            "control": len(tests) - 1,
            "modules": ["m.py"],
            "looks": 2,
            "blind": 2,
        }
        limits = {"each": 2, "cpu": 20, "cpu_all": 5, "wall": 20}
        return (await session.ask({**request, **limits})).words
    finally:
        session.close()
