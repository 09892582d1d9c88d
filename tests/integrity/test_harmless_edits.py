"""A harmless edit adds a comment to a test file and changes nothing else; where that is not sure there is none."""

import ast
import random
import subprocess
from pathlib import Path

import pytest

from kotef.integrity.probes.harmless_edits import harmless_edit

SCRIPT = "#!/bin/sh\n[ 1 = 1 ] || exit 1\nexit 0\n"


def edited(path: str, text: str) -> str | None:
    found = harmless_edit(path, text.encode(), [f"{path}::test_x"], random.Random(3))
    return found.decode() if found is not None else None


BODIES = (
    "assert 1 == 1",
    "return",
    "for n in range(2):\n        assert n < 2",
    "with open('x') as f:\n        assert f",
    "x = 1; assert x  # said",
    'text = """\n  not code\n"""',
    "if x:\n        pass\n    else:\n        pass",
)


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("front", ["", "class A:\n", "x = 'ü'\n\n\n"])
def test_python_has_one_more_assertion_that_is_true(front: str, body: str, end: str) -> None:
    text = f"{front}def test_x():\n    {body}"
    if front.startswith("class"):
        text = front + "".join(f"    {line}\n" for line in text.removeprefix(front).split("\n")).rstrip("\n")
    text = text.replace("\n", end or "\n") + end
    name = "A::test_x" if front.startswith("class") else "test_x"

    found = harmless_edit("test_a.py", text.encode(), [f"test_a.py::{name}"], random.Random(3))

    assert found is not None
    before, after = ast.parse(text), ast.parse(found)
    added = next(node for node in ast.walk(after) if isinstance(node, ast.FunctionDef)).body.pop()
    assert [type(node) for node in before.body] == [type(node) for node in after.body]
    assert isinstance(added, ast.Assert)
    exec(compile(ast.Module([added], []), "x", "exec"), {})
    assert (b"\r\n" in found) == ("\r\n" in text)


def test_a_script_ends_as_before(tmp_path: Path) -> None:
    (tmp_path / "check.sh").write_text(edited("check.sh", SCRIPT) or "exit 9")

    assert subprocess.run(["sh", "check.sh"], cwd=tmp_path, check=False).returncode == 0


@pytest.mark.parametrize("path", ["a.test.js", "a_test.go", "tests/a.rs", "ATest.java", "test_a.c"])
def test_languages_with_brackets_get_a_line_comment(path: str) -> None:
    found = edited(path, "f(1);\n")

    assert found is not None
    assert found.splitlines()[-1].startswith("// ")


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("test_a.py", "def test_x(:\n"),
        ("check.sh", "cat <<END\nEND\n"),
        ("check.sh", "echo a \\"),
        ("README.md", ">>> 1\n1\n"),
        ("data.json", "[]"),
        ("test_a.c", "int x; \\"),
        ("a.test.js", "f(`"),
    ],
)
def test_what_cannot_be_added_to_safely_is_left(path: str, text: str) -> None:
    assert edited(path, text) is None
