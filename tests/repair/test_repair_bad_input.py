"""Code that was not written for a search: compiled, generated, very long, or busy while it is imported."""

import shutil
import sys
import sysconfig
import time
from itertools import islice
from pathlib import Path

import pytest
from projects import everything, left_by, project, search
from support.cpu_time import bounded_cpu

from kotef.repair.candidates import Suspects, first_order
from kotef.repair.scope import FileScope, FunctionScope
from kotef.repair.source import PythonSource


@pytest.fixture
def compiled(tmp_path: Path) -> Path:
    """A project with an extension module in it: one of the standard library's."""
    name = f"_bisect{sysconfig.get_config_var('EXT_SUFFIX')}"
    built = Path(sysconfig.get_paths()["stdlib"], "lib-dynload", name)
    if not built.exists():
        pytest.skip("this Python has no extension modules of its own to borrow")
    (tmp_path / "p" / "fast").mkdir(parents=True)
    shutil.copy(built, tmp_path / "p" / "fast" / name)
    return project(tmp_path / "p", {"fast/__init__.py": ""})


def test_code_around_an_extension_module_is_repaired(compiled: Path) -> None:
    project(
        compiled,
        {
            "m.py": "from fast import _bisect\n\n\ndef place(items, n):\n    return _bisect.bisect_left(items, n) - 1\n",
            "test_m.py": "from m import place\n\ndef test_a(): assert place([1, 3], 2) == 2\ndef test_b(): assert place([], 2) == 1\n",
        },
    )
    before = everything(compiled)

    found = search(compiled)

    assert b"bisect_left(items, n) + 1" in found.patches[0].files["m.py"]
    assert everything(compiled) == before


def test_a_failure_inside_an_extension_module_alone_is_declined(compiled: Path) -> None:
    tests = "from fast import _bisect\n\ndef test_a(): assert _bisect.bisect([1, 3], 2) == 2\n"

    found = search(project(compiled, {"test_m.py": tests}), seconds=6)

    assert found.declined == "the failing tests run no line of this workspace that may be edited"


def test_a_test_that_crashes_the_interpreter_is_repaired(tmp_path: Path) -> None:
    code = "import ctypes\n\n\ndef peek(n):\n    if n < 3:\n        return ctypes.string_at(0)\n    return b''\n"
    tests = "from m import peek\n\ndef test_a(): assert peek(3) == b''\ndef test_b(): assert peek(2) == b''\n"

    found = search(project(tmp_path / "p", {"m.py": code, "test_m.py": tests}))

    assert found.declined == ""
    assert found.patches
    assert not left_by(tmp_path)


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "line",
    ["total = " + " + ".join(["n"] + ["0"] * 1500), "total = n" + ".real" * 1500, f"total = {'(' * 90}n{')' * 90}"],
    ids=["sum", "chain", "brackets"],
)
def test_expressions_that_no_person_wrote_are_no_obstacle(tmp_path: Path, line: str) -> None:
    code = f"# generated: do not edit\ndef f(n):\n    {line}\n    return total - 1\n"
    tests = "from gen import f\n\ndef test_a(): assert f(1) == 2\ndef test_b(): assert f(2) == 3\n"

    found = search(project(tmp_path / "p", {"gen.py": code, "test_gen.py": tests}))

    assert b"return total + 1" in found.patches[0].files["gen.py"]


@pytest.mark.hostile
def test_one_of_a_thousand_branches_is_repaired(tmp_path: Path) -> None:
    branches = "".join(f"    elif n == {number}:\n        return {number}\n" for number in range(100, 1100))
    code = f"def f(n):\n    if n == 99:\n        return 99\n{branches}    return n - 1\n"
    tests = "from gen import f\n\ndef test_a(): assert f(1) == 2\ndef test_b(): assert f(2) == 3\ndef test_c(): assert f(999) == 999\n"

    found = search(project(tmp_path / "p", {"gen.py": code, "test_gen.py": tests}), seconds=20)

    assert b"return n + 1" in found.patches[0].files["gen.py"]


LONG = "".join(f"    if n == {number}:\n        total = total + {number}\n" for number in range(2500))
LONG = f"def long(n):\n    total = 0\n{LONG}    return total\n"


@pytest.mark.hostile
def test_a_slip_in_a_function_of_five_thousand_lines_is_repaired(tmp_path: Path) -> None:
    code = LONG.replace("total + 1400\n", "total - 1400\n")
    tests = "from long import long\n\ndef test_a(): assert long(7) == 7\ndef test_b(): assert long(1400) == 1400\n"

    found = search(project(tmp_path / "p", {"long.py": code, "test_long.py": tests}), seconds=20)

    assert found.patches[0].files == {"long.py": LONG.encode()}


def test_the_first_edits_of_a_very_long_function_are_not_waited_for() -> None:
    source = PythonSource("long.py", LONG.encode())
    unit = source.units[0]
    with bounded_cpu():
        candidates = list(
            islice(first_order([Suspects(FunctionScope(FileScope(source), unit), dict.fromkeys(unit.lines, 1.0))]), 50)
        )

        assert len(candidates) == 50


def test_what_a_module_starts_on_import_is_ended(tmp_path: Path) -> None:
    code = (
        "import subprocess, threading, time\n\nsubprocess.Popen(['sleep', '97'])\n"
        "threading.Thread(target=time.sleep, args=(97,), daemon=True).start()\n\n\ndef up(n):\n    return n - 1\n"
    )
    tests = "from loud import up\n\ndef test_up(): assert up(3) == 4\ndef test_low(): assert up(-1) == 0\n"

    found = search(project(tmp_path / "p", {"loud.py": code, "test_loud.py": tests}))

    assert b"n + 1" in found.patches[0].files["loud.py"]
    assert not left_by(tmp_path)


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    ("code", "reason", "seconds"),
    [
        ("while True: pass", "collecting the tests takes longer than the", 1),
        ("import time\ntime.sleep(60)", "collecting the tests takes longer than the", 2),
        ("import os\nos._exit(3)", "the tests cannot be collected: exit status 3", 15),
        ("import sys\nsys.exit(3)", "cannot be collected", 15),
        ("raise OSError('no such device')", "cannot be collected: E   OSError: no such device", 15),
        ("import no_such_module", "cannot be collected: E   ModuleNotFoundError: No module named 'no_such_module'", 15),
    ],
    ids=["loops", "waits", "ends the process", "exits", "raises", "imports what is missing"],
)
def test_a_module_that_cannot_be_imported_is_declined_in_time(
    tmp_path: Path, code: str, reason: str, seconds: float
) -> None:
    root = project(tmp_path / "p", {"m.py": f"{code}\n", "test_m.py": "import m\n\ndef test_a(): assert m\n"})
    before, started = everything(root), time.monotonic()

    found = search(root, seconds=seconds)

    assert reason in found.declined
    assert "\n" not in found.declined
    assert time.monotonic() - started < seconds + 40
    assert everything(root) == before
    assert not left_by(tmp_path)


@pytest.mark.examples(1)
@pytest.mark.parametrize(
    "body",
    [
        "keep = []\n    while n:\n        keep.append('x' * 10 ** 6)",
        "return up(n)",
        "import os\n    while n:\n        os.fork()",
        "import os\n    os._exit(0)",
        "import os, signal\n    os.kill(os.getppid(), signal.SIGKILL)",
    ],
    ids=["memory", "recursion", "forks", "exit", "kills its parent"],
)
def test_a_test_that_is_wild_before_any_edit_does_no_harm(tmp_path: Path, body: str) -> None:
    tests = "from m import up\n\ndef test_up(): assert up(3) == 'four'\ndef test_ok(): assert up\n"
    root = project(tmp_path / "p", {"m.py": f"def up(n):\n    {body}\n", "test_m.py": tests})
    before, started = everything(root), time.monotonic()

    found = search(root, seconds=1.5)

    assert time.monotonic() - started < 60
    assert not found.patches
    assert everything(root) == before
    assert not left_by(tmp_path)


def test_a_doctest_command_is_searched(tmp_path: Path) -> None:
    code = 'def last(items):\n    """\n    >>> last([1, 2])\n    2\n    >>> last([4])\n    4\n    """\n    return items[0]\n'
    root = project(tmp_path / "p", {"ends.py": code})

    found = search(root, command=f"{sys.executable} -m doctest ends.py")

    assert b"items[-1]" in found.patches[0].files["ends.py"]
