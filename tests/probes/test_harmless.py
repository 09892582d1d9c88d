"""A harmless edit adds a comment to a test file and changes nothing else; where that is not sure there is none."""

import ast
import random
import subprocess
from pathlib import Path

import pytest

from kotef.probes.harmless import harmless_edit

PYTHON = "def test_x():\n    assert 1 == 1"
SCRIPT = "#!/bin/sh\n[ 1 = 1 ] || exit 1\nexit 0\n"


def edited(path: str, text: str) -> str | None:
    found = harmless_edit(path, text.encode(), random.Random(3))
    return found.decode() if found is not None else None


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_python_has_the_same_meaning_afterwards(end: str) -> None:
    text = PYTHON.replace("\n", end or "\n") + end

    found = edited("test_a.py", text)

    assert found is not None
    assert found.startswith(text)
    assert found != text
    assert ast.dump(ast.parse(found)) == ast.dump(ast.parse(text))
    assert ("\r\n" in found) == ("\r\n" in text)


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
