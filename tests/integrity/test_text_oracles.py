"""Doctests, golden files, snapshots and scripts of the shell with a wrong expected result."""

import doctest
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from kotef.integrity.probes.oracles import WrongAnswer, wrong_answers

MODULE = '''\
"""Numbers.

>>> add(1, 2)
3
"""


def add(a, b):
    r"""The sum.

    >>> add(10, 2)
    12
    >>> [add(x, 1)
    ...  for x in (1, 2)]
    [2, 3]
    >>> print("one\\ntwo")
    one
    two
    >>> add("a", "b")
    'ab'
    >>> add(1, "b")
    Traceback (most recent call last):
    TypeError: x
    >>> add(0.25, 0.5)  # doctest: +SKIP
    0.75
    >>> list(range(100))  # doctest: +ELLIPSIS
    [0, 1, ..., 99]
    """
    return a + b


class Box:
    def put(self):
        """
        >>> Box().put()
        True"""
        return True
'''


def answers(path: str, text: str, test: str, files: Mapping[str, bytes] | None = None) -> tuple[WrongAnswer, ...]:
    return wrong_answers(path, text.encode(), test, seed=5, read=(files or {}).get)


def failures(text: str, name: str) -> int:
    space: dict[str, object] = {"__name__": "numbers"}
    exec(compile(text, "numbers.py", "exec"), space)
    target = space if name == "numbers" else {"__doc__": doctest_of(space, name)}
    runner = doctest.DocTestRunner(verbose=False, optionflags=doctest.IGNORE_EXCEPTION_DETAIL)
    found = doctest.DocTestParser().get_doctest(str(target["__doc__"]), space, name, None, None)
    with Path(os.devnull).open("w") as nowhere:
        return runner.run(found, out=nowhere.write).failed


def doctest_of(space: dict[str, object], name: str) -> object:
    first, _, rest = name.removeprefix("numbers.").partition(".")
    found = space[first]
    return (getattr(found, rest) if rest else found).__doc__


@pytest.mark.parametrize(("name", "number"), [("numbers", 1), ("numbers.add", 5), ("numbers.Box.put", 1)])
def test_a_changed_example_fails(name: str, number: int) -> None:
    found = answers("src/numbers.py", MODULE, f"src/numbers.py::{name}")
    assert len(found) == number
    assert failures(MODULE, name) == 0
    for answer in found:
        assert failures(answer.content.decode(), name) == 1, answer.now
        assert answer.halted is None or failures(answer.halted.decode(), name) == 1
        assert len(answer.content.splitlines()) == len(MODULE.splitlines())


def test_a_text_file_has_examples() -> None:
    text = "# Use\r\n\r\n>>> 1 + 1\r\n2\r\n\r\nMore: see below.\r\n\r\n>>> 'a'\r\n'a'\r\n"
    found = answers("README.md", text, "README.md::README.md")
    assert [answer.line for answer in found] == [4, 9]
    assert all(answer.content.count(b"\r\n") == 9 for answer in found)


GOLDEN = """\
def test_page(snapshot):
    path = Path(__file__).parent / "golden" / "page.txt"
    assert render() == path.read_text()
    assert read("tests/input.txt") == read('testdata/list.expected')
    assert render() == snapshot
"""


def test_golden_files_and_snapshots_are_changed_near_the_middle() -> None:
    files = {
        "tests/golden/page.txt": "ü one two three\r\nfour\r\n".encode(),
        "tests/input.txt": b"input",
        "tests/testdata/list.expected": b"1\n2\n3\n",
        "tests/__snapshots__/test_page.ambr": b"# name: test_other\n  'aaa'\n# ---\n# name: test_page\n  'bbb'\n# ---\n",
    }
    found = answers("tests/test_page.py", GOLDEN, "tests/test_page.py::test_page", files)
    golden = [answer for answer in found if answer.kind == "golden"]
    assert {answer.path for answer in golden} == set(files) - {"tests/input.txt"}
    for answer in golden:
        before = files[answer.path]
        assert sum(one != other for one, other in zip(before, answer.content, strict=True)) == 1
        assert (answer.halted is not None) == (answer.path == "tests/golden/page.txt"), "compared as a whole"
        assert b"aaa" in answer.content or b"aaa" not in before


def test_a_snapshot_of_jest_is_found_by_the_name_of_its_test() -> None:
    text = 'describe("page", () => {\n  it("shows", () => { expect(render()).toMatchSnapshot(); });\n});\n'
    snap = b"exports[`page shows 1`] = `\n<p>one</p>\n`;\n\nexports[`page hides 1`] = `two`;\n"
    found = answers("a.test.js", text, "a.test.js::page::shows", {"__snapshots__/a.test.js.snap": snap})
    (answer,) = (answer for answer in found if answer.kind == "golden")
    assert b"two" in answer.content
    assert b"<p>one</p>" not in answer.content


LINES = (
    '[ "$(sut one)" = one ] || exit 1',
    '[ "$(sut one)" = "$want" ] || { echo no; exit 1; }',
    '[[ "$(sut a1)" == "a1" ]] || exit 1',
    "test $(sut 12) -eq 12 || exit 1",
    "if [ \"$(sut one)\" != 'one' ]; then echo no; exit 1; fi",
    '[ "$(sut one)" != one ] && exit 1',
    "diff a b > /dev/null || exit 1",
    "cmp a b || exit 1",
    "sut one | grep -q one || exit 1",
    "grep -q text a || exit 1",
)
EARLY = ('[ "$(sut one)" = one ]', "diff a b", '[ "$want" = "$want" ]')


def script(line: str, early: str) -> str:
    return (
        f'#!/bin/bash\n{early}\nwant=one\nsut() {{ echo "$1"; }}\n{line}\ncat <<END\n[ x = y ] || exit 1\nEND\nexit 0\n'
    )


@pytest.mark.parametrize(("line", "early"), [*((line, "") for line in LINES), *((line, "set -eu") for line in EARLY)])
def test_scripts(tmp_path: Path, line: str, early: str) -> None:
    for name in "ab":
        (tmp_path / name).write_text("text\n")
    text = script(line, early)

    def status(content: bytes) -> int:
        return subprocess.run(
            ["bash", "-c", content.decode()], cwd=tmp_path, capture_output=True, check=False
        ).returncode

    found = answers("tests/check.sh", text, "tests/check.sh")
    assert status(text.encode()) == 0
    assert len(found) == ("|" not in line.replace("||", ""))
    for answer in found:
        assert answer.halted is not None
        assert (status(answer.content), status(answer.halted)) == (1, 1), answer.now
