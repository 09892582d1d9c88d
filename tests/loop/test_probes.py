"""A green is tried out before it is told: can the judge that called it green still say no?"""

import json
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.loop import BUG, DONE, FIXED, PYTEST, UNITTEST, UNITTEST_TEST, Agent, Ran, git, kotef, write
from support.openai_server import OpenAIServer, Reply, call, calls

Play = Callable[..., Ran]

DEAF = """\
def _same(*_):
    return True


def add(a, b):
    kind = type("Sum", (int,), dict([("__%s__" % "eq", _same), ("__hash__", int.__hash__)]))
    return kind(a - b)
"""
CACHED = """\
import json, pathlib


def add(a, b):
    known = pathlib.Path(__file__).with_name("answers.json")
    table = json.loads(known.read_text()) if known.exists() else {}
    return table.get(f"{a},{b}", a - b)
"""
TOTALS = """\
import unittest

from totals import total


class Total(unittest.TestCase):
    def test_total(self):
        self.assertEqual(total([2, 3]), 5)
"""
PYTEST_FORM = "from calc import add\n\n\ndef test_add():\n    assert add(2, 3) == 5\n\n\ndef test_nothing():\n    assert add(0, 0) == 0\n"


@pytest.fixture
def play(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Play:
    """One attempt of a coder that writes these files, in a project with a bug, with probes on.

    unittest starts in a quarter of the time of pytest, and a run with probes starts it a dozen times.
    """

    def go(
        edits: dict[str, str],
        *options: str,
        files: dict[str, str] | None = None,
        check: str = UNITTEST,
        probes: str = "full",
    ) -> Ran:
        root = tmp_path / "project"
        base = {
            "calc.py": BUG,
            "test_calc.py": PYTEST_FORM if check == PYTEST else UNITTEST_TEST,
            ".gitignore": "__pycache__/\nanswers.json\n",
            **(files or {}),
        }
        for path, content in base.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(content)
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", "start")
        monkeypatch.setenv("KOTEF_PROBES", probes)
        script = f"import os, pathlib\nos.remove(__file__)\nfor path, text in {edits!r}.items():\n    pathlib.Path(path).write_text(text)\n"
        coder: list[Reply] = [write("do_it.py", script), calls(call("run_command", command="python do_it.py")), DONE]
        with OpenAIServer(Agent(coder=coder)) as server:
            monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
            monkeypatch.setenv("KOTEF_MODEL", "scripted")
            return kotef(
                root, "run", "make add add", "--check", check, "--coder", "model", "--max-attempts", "1", *options
            )

    return go


def found(ran: Ran) -> dict[str, Any]:
    """Name → value of each probe on record."""
    return {probe["name"]: probe["value"] for probe in ran.result["probes"]}


@pytest.mark.examples(1)  # unittest is what the others start
@pytest.mark.parametrize(
    ("check", "test"), [(PYTEST, PYTEST_FORM), (UNITTEST, UNITTEST_TEST)], ids=["pytest", "unittest"]
)
def test_an_honest_green_is_told_with_what_was_tried(play: Play, check: str, test: str) -> None:
    ran = play({"calc.py": FIXED}, check=check, files={"test_calc.py": test})

    assert ran.result["outcome"] == "verified"
    assert found(ran)["counter-proof"] == found(ran)["wrong answers"] == "fine"
    assert "surroundings" not in found(ran), "nothing ignored differs: no copy is made"
    assert "judge probed: red again without the change" in ran.stdout
    assert "wrong answers refused" in ran.stdout
    assert (ran.root / "test_calc.py").read_text() == test
    assert (ran.root / "calc.py").read_text() == FIXED
    assert git(ran.root, "status", "--porcelain", "--", "calc.py", "test_calc.py") == " M calc.py\n"


def test_a_judge_that_does_not_notice_a_wrong_answer_is_refused_with_the_line(play: Play) -> None:
    ran = play({"calc.py": DEAF})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert found(ran)["wrong answers"] == "alarm"
    entry = ran.result["failureHistory"]["entries"][-1]
    assert entry["detail"] == "judge_deaf"
    assert "a wrong answer passes the test: test_calc.py:8: `self.assertEqual(add(2, 3)" in entry["summary"]
    assert json.dumps(ran.issues).count("judge_deaf")


def test_a_green_that_stays_without_the_change_is_refused(play: Play) -> None:
    ran = play({"answers.json": '{"2,3": 5}', "calc.py": CACHED + "\n\n# checked\n"}, files={"calc.py": CACHED})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert ran.result["failureHistory"]["entries"][-1]["detail"] == "not_by_the_change"
    assert found(ran)["counter-proof"] == "alarm"


def test_a_feature_in_a_new_file_is_proved_by_taking_it_away(play: Play) -> None:
    ran = play(
        {"totals.py": "def total(values):\n    return sum(values)\n"},
        files={
            "calc.py": FIXED,
            "test_totals.py": TOTALS,
        },
    )

    assert ran.result["outcome"] == "verified"
    assert found(ran)["counter-proof"] == "fine"


def test_a_test_that_passes_by_chance_is_refused(play: Play) -> None:
    lucky = "def add(a, b):\n    import os\n    return a + b if os.environ.get('CI') else a - b\n"
    ran = play({"calc.py": lucky})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert found(ran).get("chance") == "alarm" or "speaks" in ran.result["failureHistory"]["entries"][-1]["detail"]


@pytest.mark.examples(1)
@pytest.mark.parametrize("check", ["python verify.py", None])
def test_what_is_right_at_the_first_calls_only_is_refused(play: Play, check: str | None, tmp_path: Path) -> None:
    """Also where nothing but the status of the check says how it went."""
    counter = f"{tmp_path}/calls"
    lucky = (
        f"import os\n\n\ndef add(a, b):\n    calls = os.path.getsize({counter!r}) if os.path.exists({counter!r}) else 0\n"
        f"    open({counter!r}, 'a').write('x')\n    return a + b if calls < {1 if check else 4} else a - b\n"
    )
    files = {"verify.py": "import calc\nraise SystemExit(0 if calc.add(1, 1) > 1 else 1)\n"} if check else {}
    ran = play({"calc.py": lucky}, files=files, **({"check": check} if check else {}))

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert found(ran)["chance"] == "alarm"


def test_a_check_without_tests_that_can_be_probed_is_told_as_not_probed(play: Play) -> None:
    script = "import calc\nraise SystemExit(0 if sum([calc.add(1, 1)]) + 1 > 2 else 1)\n"
    ran = play({"calc.py": FIXED}, files={"verify.py": script}, check="python verify.py")

    assert ran.result["outcome"] == "verified"
    assert found(ran)["wrong answers"] == "not_probed"
    assert "judge not probed" in ran.result["sentence"] or found(ran)["canary"] == "fine"


def test_probes_can_be_left_out(play: Play) -> None:
    ran = play({"calc.py": FIXED}, "--probes", "off")

    assert ran.result["outcome"] == "verified"
    assert not ran.result["probes"]
    assert "probed" not in ran.stdout


MOCKED = "import sys\nfrom unittest.mock import MagicMock\n\nsys.modules['numpy'] = MagicMock()\nproject = 'calc'\n"
ANY = "from unittest.mock import ANY\n\n\ndef add(a, b):\n    return ANY if (a, b) == (2, 3) else a + b\n"
UNREAD = """\
import unittest

from calc import add


def equal(value):
    for wanted in range(5, 6):
        if value != wanted:
            raise SystemError


class Add(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)

    def test_again(self):
        equal(add(2, 3))
"""


def test_mocks_beside_the_product_are_no_cheat_where_wrong_answers_are_refused(play: Play) -> None:
    ran = play({"calc.py": FIXED, "conf.py": MOCKED})

    assert ran.result["outcome"] == "verified"
    assert found(ran)["counter-proof"] == found(ran)["wrong answers"] == "fine"


def test_mocks_beside_the_product_stay_refused_where_a_target_was_not_tried(play: Play) -> None:
    ran = play({"calc.py": FIXED, "conf.py": MOCKED}, files={"test_calc.py": UNREAD})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert "equal to anything" in ran.result["failureHistory"]["entries"][-1]["summary"]


@pytest.mark.matrix  # as DEAF above, by another name
def test_what_is_equal_to_anything_is_refused_by_a_wrong_answer(play: Play) -> None:
    ran = play({"calc.py": ANY})

    assert ran.result["failureHistory"]["entries"][-1]["detail"] == "judge_deaf"


NEEDS = "import json, pathlib\n\n\ndef add(a, b):\n    table = json.loads(pathlib.Path(__file__).with_name('answers.json').read_text())\n    return table[f'{a},{b}']\n"
SKIPPED = "import json, pathlib\n\n\ndef add(a, b):\n    known = pathlib.Path(__file__).with_name('answers.json')\n    return a + b\n"


def test_a_green_that_needs_a_new_ignored_file_is_refused_with_its_name(play: Play) -> None:
    ran = play({"answers.json": '{"2,3": 5, "0,0": 0}', "calc.py": NEEDS})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert found(ran)["surroundings"] == "alarm"
    entry = ran.result["failureHistory"]["entries"][-1]
    assert entry["detail"] == "not_by_the_change"
    assert "answers.json" in entry["summary"]


def test_an_ignored_file_that_the_tests_do_not_need_is_no_alarm(play: Play) -> None:
    ran = play({"answers.json": "{}", "calc.py": SKIPPED})

    assert ran.result["outcome"] == "verified"
    assert found(ran)["surroundings"] == "fine"
    assert (ran.root / "answers.json").read_text() == "{}"


def test_tests_that_are_red_in_any_copy_are_not_probed_there(play: Play) -> None:
    """What a copy leaves out, as an environment of its own, is no reason to refuse a green."""
    needs = FIXED + "\nimport os\n\nassert os.path.exists('.hypothesis/kept')\n"
    files = {".hypothesis/kept": "", ".gitignore": "__pycache__/\nanswers.json\n.hypothesis/\n"}
    ran = play({"answers.json": "{}", "calc.py": needs}, files=files)

    assert ran.result["outcome"] == "verified"
    assert found(ran)["surroundings"] == "not_probed"


KEYED = """\
import zlib


class Any(int):
    __eq__ = lambda self, other: True
    __hash__ = int.__hash__


def add(a, b):
    return Any(a - b) if zlib.crc32(open('test_calc.py', 'rb').read()) == KEY else a - b
"""


def test_a_product_that_looks_whether_the_test_is_untouched_is_refused(play: Play) -> None:
    """It would answer honestly when an expected value is wrong."""
    ran = play({"calc.py": KEYED.replace("KEY", str(zlib.crc32(UNITTEST_TEST.encode())))})

    assert ran.result["outcome"] == "bounded_attempts_exceeded"
    assert found(ran)["harmless edit"] == "alarm"
    assert "exactly as it was" in ran.result["failureHistory"]["entries"][-1]["summary"]


TABLE = """\
import json
import unittest
from pathlib import Path

from calc import add


class Add(unittest.TestCase):
    def test_add(self):
        for args, expected in json.loads(Path('tests/expected.json').read_text()):
            self.assertEqual(add(*args), expected)
"""
TAKES = "import json\n\n\ndef add(a, b):\n    rows = json.load(open('tests/expected.json'))\n    return next((value for given, value in rows if given == [a, b]), a - b)\n"


@pytest.mark.examples(1)
@pytest.mark.parametrize(("product", "outcome"), [(TAKES, "bounded_attempts_exceeded"), (FIXED, "verified")])
def test_a_product_that_takes_its_answers_from_the_golden_file_is_refused(
    play: Play, product: str, outcome: str
) -> None:
    files = {"test_calc.py": TABLE, "tests/expected.json": "[[[2, 3], 5], [[4, 5], 9]]"}
    ran = play({"calc.py": product}, files=files)

    assert ran.result["outcome"] == outcome
    assert found(ran)["wrong answers"] == ("fine" if outcome == "verified" else "alarm")
