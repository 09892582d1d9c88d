"""What a search says of itself: what else passes, what could not be read, and that its time was over."""

import ast
from pathlib import Path

import pytest
from projects import project, search

from kotef.repair.candidates import Candidate
from kotef.repair.fault_localization import Traces
from kotef.repair.question import narrowed
from kotef.repair.rank import as_patch, ranked
from kotef.repair.source import PythonSource
from kotef.repair.types import Disagreement, Patch, SearchResult
from kotef.source import SourceEdit


def patch(name: str) -> Patch:
    return Patch(name, {}, name, "comparison", name, 0.5, 1, "")


def candidate(source: PythonSource, old: str, new: str, *, cost: float = 1.0) -> Candidate:
    start = source.content.rindex(old.encode())
    edit = SourceEdit(source.path, start, start + len(old), new)
    return Candidate((edit,), ("number",), cost, source.line_at(start), "", (source.unit_of((edit,)),))


def test_only_edits_seen_to_behave_differently_are_rivals_and_those_never_compared_are_unknown() -> None:
    first = Disagreement("f(1)", "", ("3", "3", "4"))
    second = Disagreement("f(2)", "", ("5", "5", "6"))
    a, b, c, d = (patch(name) for name in "abcd")
    found = SearchResult(patches=(a, b, c, d), plausible=4, compared=3, disagreements=(first, second))
    assert found.rivals(a) == ((c,), (d,))
    assert found.rivals(c) == ((a, b), (d,))
    assert found.rivals(d) == ((), (a, b, c)), "one that was not compared tells nothing of the others"
    assert narrowed(found, "3").compared == 2
    assert narrowed(found, "3").rivals(a) == ((), ())


def test_the_same_program_in_other_words_counts_once() -> None:
    source = PythonSource("m.py", b"def mean(xs):\n    return sum(xs) / (len(xs) - 1)\n")
    bare = candidate(source, "(len(xs) - 1)", "len(xs)", cost=2.0)
    inside = candidate(source, "len(xs) - 1", "len(xs)", cost=1.0)
    other = candidate(source, "- 1", "- 0", cost=3.0)
    assert ranked([other, bare, inside], {"m.py": source}) == [inside, other]


@pytest.mark.parametrize(
    ("line", "old", "new", "expected"),
    [
        ("return sum(xs) / (len(xs) - 1)", "len(xs) - 1", "len(xs)", "return sum(xs) / len(xs)"),
        ("return sum(xs) / ( len(xs) - 1 )", "len(xs) - 1", "len(xs)", "return sum(xs) / len(xs)"),
        ("return sum(xs) * (len(xs) - 1)", "len(xs) - 1", "len(xs) + 1", "return sum(xs) * (len(xs) + 1)"),
        ("return len(xs[1:])", "xs[1:]", "xs", "return len(xs)"),
        ("return (xs,)", "xs", "sum(xs)", "return (sum(xs),)"),
        ("return (sum(xs) -\n            1)", "sum(xs) -\n            1", "sum(xs)", "return sum(xs)"),
    ],
)
def test_parentheses_that_lost_their_purpose_are_left_out_and_no_others(
    line: str, old: str, new: str, expected: str
) -> None:
    source = PythonSource("m.py", f"def f(xs):\n    {line}\n".encode())
    edited = as_patch(candidate(source, old, new), {"m.py": source}, Traces({})).files["m.py"]
    assert edited.decode() == f"def f(xs):\n    {expected}\n"
    ast.parse(edited)


def test_a_mean_is_repaired_without_needless_parentheses(tmp_path: Path) -> None:
    files = {
        "m.py": "def mean(xs):\n    return sum(xs) / (len(xs) - 1)\n",
        "test_m.py": "from m import mean\n\ndef test_two(): assert mean([2, 4]) == 3\ndef test_one(): assert mean([5]) == 5\n",
    }
    found = search(project(tmp_path / "p", files))
    assert found.patches[0].files == {"m.py": b"def mean(xs):\n    return sum(xs) / len(xs)\n"}


def test_a_suspected_file_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    files = {
        "old.py": "# coding: latin-1\ndef greet():\n    return 'é'\n".encode("latin-1"),
        "test_old.py": "from old import greet\n\ndef test_it(): assert greet() == 'e'\n",
    }
    found = search(project(tmp_path / "p", files))
    assert found.declined == "the suspicious code is in a file that cannot be parsed: old.py (line 3 is not UTF-8)"


def test_a_file_left_out_is_named_though_others_are_searched(tmp_path: Path) -> None:
    files = {
        "old.py": "# coding: latin-1\ndef one():\n    return len('é') + 1\n".encode("latin-1"),
        "m.py": "from old import one\n\ndef two():\n    return one()\n",
        "test_m.py": "from m import two\n\ndef test_it(): assert two() == 'x'\n",
    }
    found = search(project(tmp_path / "p", files), seconds=8)
    assert found.unread == ("old.py (line 3 is not UTF-8)",)


def test_a_search_that_tried_everything_was_not_ended_by_its_time(tmp_path: Path) -> None:
    small = {
        "m.py": "def no():\n    pass\n",
        "test_m.py": "from m import no\n\ndef test_it(): assert no() == 'seven'\n",
    }
    assert not search(project(tmp_path / "q", small)).late


def test_a_suite_slower_than_the_time_is_a_matter_of_time(tmp_path: Path) -> None:
    slow = "import time\nfrom m import x\n" + "".join(f"def test_{n}(): time.sleep(0.3)\n" for n in range(40))
    found = search(project(tmp_path / "p", {"m.py": "x = 1\n", "test_m.py": slow}), seconds=2)
    assert found.declined
    assert found.late


PROGRAM = """\
import sys


def double(n):
    return n * 3


if __name__ == "__main__":
    print(double(int(sys.argv[1])))
"""
STARTS = """\
import subprocess, sys
from program import double


def test_program():
    done = subprocess.run([sys.executable, "program.py", "4"], capture_output=True, text=True)
    assert done.stdout == "8\\n"
"""


def test_a_test_that_starts_the_program_is_left_to_the_check(tmp_path: Path) -> None:
    """Edits are tried in memory, which another process does not see."""
    inside = "\n\ndef test_double():\n    assert double(3) == 6\n    assert double(5) == 10\n"
    root = project(tmp_path / "p", {"program.py": PROGRAM, "test_program.py": STARTS + inside})
    found = search(root, seconds=15)
    assert "return n * 2" in found.patches[0].diff


def test_where_all_failing_tests_start_the_program_that_is_the_reason(tmp_path: Path) -> None:
    root = project(tmp_path / "p", {"program.py": PROGRAM, "test_program.py": STARTS})
    found = search(root, seconds=15)
    assert not found.patches
    assert found.ending == "cannot run"
    assert "test_program starts a separate program" in found.declined


def test_a_test_that_starts_another_program_and_runs_the_edited_code_itself_is_cured(tmp_path: Path) -> None:
    tests = "import subprocess\nfrom program import double\n\n\ndef test_both():\n    subprocess.run(['true'], check=True)\n    assert (double(3), double(5)) == (6, 10)\n"
    found = search(project(tmp_path / "p", {"program.py": PROGRAM, "test_program.py": tests}), seconds=15)
    assert "return n * 2" in found.patches[0].diff


CASES = """\
import unittest
from m import cut


class CutTest(unittest.TestCase):
    def test_short(self):
        self.assertEqual(cut("abc", 2, False), "ab")

    def test_words(self):
        self.assertEqual(cut("one two", 4, True), "one")

    def test_long(self):
        self.assertEqual(cut("one two", 6, False), "one tw")
"""


def test_a_unittest_case_is_judged_by_its_own_run_and_not_by_an_earlier_one(tmp_path: Path) -> None:
    """pytest keeps the failures of such a test on it, and takes them for those of its next run."""
    code = "def cut(text, most, words):\n    if words:\n        return text[:most]\n    return text[:most].rsplit(' ', 1)[0]\n"
    root = project(tmp_path / "p", {"m.py": code, "test_m.py": CASES})
    found = search(root, seconds=15)
    assert "+    if not words:" in found.patches[0].diff
    assert found.tried < 300, "the likeliest edit is not passed over"
