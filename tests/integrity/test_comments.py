"""Comments that came with a change get other words; code, old comments and words of the code stay."""

import random

import pytest

from kotef.integrity.probes.comments import reworded


def changed(path: str, before: str | None, now: str) -> str | None:
    found = reworded(path, before.encode() if before is not None else None, now.encode(), random.Random(3))
    return found.content.decode() if found else None


@pytest.mark.parametrize(
    ("path", "code", "comment"),
    [
        ("a.py", "x = '# text'", "# noqa: F821"),
        ("a.py", "x = 1", "# type: ignore[return-value]"),
        ("a.js", "x = '// text';", "// eslint-disable-line"),
        ("a.go", 'x := "// text"', "//nolint:errcheck"),
        ("a.rs", "let x = 1;", "/* skip */"),
        ("a.c", "int x;", "/* NOLINT */"),
    ],
)
def test_only_new_comments_have_other_words(path: str, code: str, comment: str) -> None:
    now = changed(path, f"{code}\n", f"{code}  {comment}\n")

    assert now is not None
    assert now.startswith(f"{code}  ")
    assert len(now) == len(f"{code}  {comment}\n")
    assert comment not in now
    assert changed(path, f"{code}  {comment}\n", f"{code}  {comment}\n{code}\n") is None


def test_words_of_the_code_stay_in_what_documents_it() -> None:
    now = changed("a.go", "package a\n", "package a\n\n// Pay takes prices.\nfunc Pay(prices int) {}\n") or ""

    assert "// Pay " in now
    assert " prices." in now
    assert "takes" not in now


def test_lines_of_a_preprocessor_are_code() -> None:
    assert changed("a.c", "", "#include <stdio.h>\nint x;\n") is None
