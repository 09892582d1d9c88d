"""What a function of the project compares for a test is made wrong in the call; run for real, it must then fail."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

CALLS = "def test_sum():\n    {call}\n"
EQUAL = "def same(actual, expected):\n    assert actual == expected\n"
RAISES = "def same(actual, expected, note=''):\n    if expected != actual:\n        raise AssertionError(note)\n"
LOGS = "def same(actual, expected):\n    print(actual, expected)\n"
CHANGES = "def same(actual, expected):\n    expected = actual\n    assert actual == expected\n"


def answers(files: Mapping[str, str], path: str) -> list[WrongAnswer]:
    """Those whose change is in the call."""

    def read(name: str) -> bytes | None:
        return files[name].encode() if name in files else None

    found = wrong_answers(path, files[path].encode(), f"{path}::test_sum", seed=7, read=read)
    return [answer for answer in found if answer.kind == "literal" and "same(" in answer.was]


@pytest.mark.parametrize("helper", [EQUAL, RAISES])
@pytest.mark.parametrize("call", ["same(2 + 3, 5)", "same(actual=2 + 3, expected=5)", "same([2, 3], [2, 3])"])
@pytest.mark.parametrize(
    ("place", "line"),
    [
        ("tests/helpers.py", "from helpers import same"),
        ("tests/helpers.py", "from tests.helpers import same"),
        ("tests/helpers.py", "from .helpers import same"),
        ("checks.py", "from checks import same"),
        ("", ""),
    ],
)
def test_a_literal_that_a_helper_compares_is_made_wrong_where_it_is_given(
    tmp_path: Path, helper: str, call: str, place: str, line: str
) -> None:
    test = f"{line}\n\n\n" + CALLS.format(call=call)
    files = {"tests/test_sum.py": test + f"\n\n{helper}"} if not place else {"tests/test_sum.py": test, place: helper}

    found = answers(files, "tests/test_sum.py")

    assert found
    if place != "tests/helpers.py" or "." in line.split()[1]:
        return
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    run = "import sys; sys.path.insert(0, 'tests'); import test_sum; test_sum.test_sum()"
    assert subprocess.run([sys.executable, "-B", "-c", run], cwd=tmp_path, check=False).returncode == 0
    (tmp_path / "tests/test_sum.py").write_bytes(found[0].content)
    assert (
        subprocess.run([sys.executable, "-B", "-c", run], cwd=tmp_path, check=False, capture_output=True).returncode
        == 1
    )


SAID = "def same(actual, expected):\n    assert actual == expected, f'{actual} is not {expected}'\n"
METHOD = (
    "class Base:\n    def same(self, actual, expected):\n        self.assertEqual(actual, expected, f'{expected}')\n"
)
TELLS = "def same(actual, expected):\n    return actual == expected\n"


@pytest.mark.parametrize(
    ("line", "call", "helper"),
    [
        ("from helpers import same", "same(2 + 3, 5)", SAID),
        ("import helpers", "helpers.same(2 + 3, 5)", EQUAL),
        ("import helpers as h", "h.same(2 + 3, 5)", EQUAL),
        ("from tests import helpers", "helpers.same(2 + 3, 5)", EQUAL),
        ("from . import helpers", "helpers.same(2 + 3, 5)", EQUAL),
        ("from helpers import same", "assert same(2 + 3, 5)", TELLS),
        ("import helpers", "assert helpers.same(2 + 3, 5)", TELLS),
    ],
)
def test_a_helper_is_found_however_it_is_imported(line: str, call: str, helper: str) -> None:
    files = {"tests/test_sum.py": f"{line}\n\n\n" + CALLS.format(call=call), "tests/helpers.py": helper}

    assert [answer.kind for answer in answers(files, "tests/test_sum.py")] == ["literal"]


def test_a_method_of_an_imported_class_is_found() -> None:
    test = "from helpers import Base\n\n\nclass TestSum(Base):\n    def test_sum(self):\n        self.same(2 + 3, 5)\n"
    files = {"tests/test_sum.py": test, "tests/helpers.py": METHOD}
    read = {path: text.encode() for path, text in files.items()}.get
    found = wrong_answers("tests/test_sum.py", test.encode(), "tests/test_sum.py::TestSum::test_sum", seed=7, read=read)

    assert [answer.kind for answer in found] == ["literal"]


def test_where_the_call_cannot_be_made_wrong_the_helper_is() -> None:
    """With what stops it in the helper's own file."""
    helper = "def same(function, expected):\n    for number in range(3):\n        assert function(number) == expected\n"
    files = {
        "test_sum.py": "from helpers import same\n\n\n" + CALLS.format(call="same(abs, 5)"),
        "helpers.py": helper,
    }
    found = wrong_answers(
        "test_sum.py",
        files["test_sum.py"].encode(),
        "test_sum.py::test_sum",
        seed=7,
        read=lambda path: files[path].encode() if path in files else None,
    )

    assert {(answer.kind, answer.path, answer.asserting) for answer in found} == {
        ("wrapped", "helpers.py", "helpers.py")
    }


@pytest.mark.parametrize("helper", [LOGS, CHANGES])
def test_what_a_helper_does_not_surely_compare_is_left(helper: str) -> None:
    files = {
        "test_sum.py": "from helpers import same\n\n\n" + CALLS.format(call="same(2 + 3, 5)"),
        "helpers.py": helper,
    }

    assert not answers(files, "test_sum.py")
