"""The parts: how close two names are, where an import goes, what a file is, which commands write."""

import ast
from pathlib import Path

import pytest

import kotef
from kotef.fixers import python2_syntax, standard_library
from kotef.fixers.import_placement import MissingImport, add
from kotef.fixers.lint_fix_commands import commands
from kotef.fixers.similarity import closest, likeness
from kotef.fixers.source import MAX_BYTES, PythonText, shape, syntax_error
from kotef.fixers.types import FailingCheck
from kotef.source import Scopes, SourceEdit

OURS = sorted(Path(kotef.__file__).parent.rglob("*.py"))


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("nmae", "name"),
        ("lenght", "length"),
        ("recieve_all", "receive_all"),
        ("getValue", "get_value"),
        ("item", "items"),
        ("teh", "the"),
        ("max_size", "MAX_SIZE"),
        ("none", "None"),
    ],
)
def test_a_slip_is_recognised(wrong: str, right: str) -> None:
    assert closest(wrong, [right, "other", "another_name"]) == right


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("x", "y"),
        ("ab", "ba"),
        ("encode", "decode"),
        ("min_size", "max_size"),
        ("row1", "row2"),
        ("item", "Item"),
        ("_items", "items"),
        ("start", "stop"),
        ("left", "right"),
        ("tar", "rat"),
        ("get_name", "get"),
        ("", "a"),
    ],
)
def test_another_name_is_not_taken_for_a_slip(wrong: str, right: str) -> None:
    assert likeness(wrong, right) == 0.0
    assert closest(wrong, [right]) is None


def test_two_equally_close_names_are_none() -> None:
    assert closest("fiels", ["field", "files"]) is None
    assert closest("fiels", ["field"]) == "field"


def placed(text: str, wanted: MissingImport, *own: str) -> str:
    source = PythonText("a.py", text)
    edit = add(source, wanted, frozenset(own))
    assert edit is not None
    edited = source.merged([edit])
    assert edited is not None
    assert syntax_error(edited.text) is None
    return edited.text


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "import json\n\nx = 1\n"),
        ("def f():\n    pass\n", "import json\n\n\ndef f():\n    pass\n"),
        ("\n\nx = 1\n", "import json\n\n\nx = 1\n"),
        ('"""Doc."""\n\nx = 1\n', '"""Doc."""\n\nimport json\n\nx = 1\n'),
        ('"""Doc."""\nx = 1\n', '"""Doc."""\n\nimport json\n\nx = 1\n'),
        ('"""Doc."""', '"""Doc."""\n\nimport json\n'),
        (
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nx = 1\n",
            "#!/usr/bin/env python\n# -*- coding: utf-8 -*-\nimport json\n\nx = 1\n",
        ),
        ("# Licence.\n# All rights.\n\nx = 1\n", "# Licence.\n# All rights.\nimport json\n\nx = 1\n"),
        ("# The size.\nx = 1\n", "import json\n\n# The size.\nx = 1\n"),
        (
            "from __future__ import annotations\n\nx = 1\n",
            "from __future__ import annotations\n\nimport json\n\nx = 1\n",
        ),
        (
            "from __future__ import annotations\n\nimport shop\n",
            "from __future__ import annotations\n\nimport json\n\nimport shop\n",
        ),
        ("import abc\nimport re\n", "import abc\nimport json\nimport re\n"),
        ("import re\n\nx = 1\n", "import json\nimport re\n\nx = 1\n"),
        ("from re import sub\n", "import json\nfrom re import sub\n"),
        ("import numpy\n", "import json\n\nimport numpy\n"),
        ("import re  # why\n\nfrom shop import cart\n", "import json\nimport re  # why\n\nfrom shop import cart\n"),
        ("from abc import (\n    ABC,\n)\nx = 1\n", "import json\nfrom abc import (\n    ABC,\n)\nx = 1\n"),
        ("import re\r\n\r\nx = 1\r\n", "import json\r\nimport re\r\n\r\nx = 1\r\n"),
        ("", "import json\n"),
    ],
)
def test_an_import_goes_where_isort_would_put_it(before: str, after: str) -> None:
    assert placed(before, MissingImport("json"), "shop") == after


def test_a_section_of_its_own_gets_blank_lines() -> None:
    both = "import re\n\nimport shop\n\nx = 1\n"
    assert placed(both, MissingImport("requests"), "shop") == "import re\n\nimport requests\n\nimport shop\n\nx = 1\n"
    assert (
        placed("import re\n\nx = 1\n", MissingImport("shop.cart", "pay"), "shop")
        == "import re\n\nfrom shop.cart import pay\n\nx = 1\n"
    )


def test_a_name_joins_the_import_of_its_module() -> None:
    assert placed("from re import match, sub\n", MissingImport("re", "search")) == "from re import match, search, sub\n"
    assert placed("from re import match  # why\n", MissingImport("re", "sub")) == "from re import match, sub  # why\n"
    assert (
        placed("from re import match as m\n", MissingImport("re", "sub"))
        == "from re import match as m\nfrom re import sub\n"
    )


def test_names_for_the_same_place_do_not_disturb_each_other() -> None:
    source = PythonText("a.py", "from re import match\n\nx = 1\n")
    edits = [
        add(source, one, frozenset())
        for one in (
            MissingImport("re", "sub"),
            MissingImport("re", "search"),
            MissingImport("sys"),
            MissingImport("os"),
        )
    ]
    edited = source.merged(edit for edit in edits if edit)
    assert edited is not None
    assert edited.text == "import os\nimport sys\nfrom re import match, search, sub\n\nx = 1\n"


def test_what_is_not_edited_stays_byte_for_byte() -> None:
    content = b"\xef\xbb\xbfname = 1\r\nx\x0c = 'caf\xc3\xa9'  \r\ny = nmae\rz = 2"
    source = PythonText.of("a.py", content)
    assert source is not None
    assert source.lines == ("name = 1\r\n", "x\x0c = 'café'  \r\n", "y = nmae\r", "z = 2")
    at = source.text.index("nmae")
    edited = source.merged([SourceEdit("a.py", at, at + 4, "name")])
    assert edited is not None
    assert edited.content == content.replace(b"nmae", b"name")


def test_what_cannot_be_edited_safely_is_no_source() -> None:
    assert PythonText.of("a.py", b"x = '\xe9'\n") is None
    assert PythonText.of("a.py", "# coding: latin-1\nx = 'é'\n".encode()) is None
    assert PythonText.of("a.py", b"x" * (MAX_BYTES + 1)) is None
    assert PythonText.of("a.py", b"# coding: latin-1\nx = 1\n") is not None


def test_overlapping_edits_are_refused_and_equal_ones_made_once() -> None:
    source = PythonText("a.py", "abc")
    assert source.merged([SourceEdit("a.py", 0, 2, "x"), SourceEdit("a.py", 1, 3, "y")]) is None
    twice = source.merged([SourceEdit("a.py", 1, 2, "x"), SourceEdit("a.py", 1, 2, "x")])
    assert twice is not None
    assert twice.text == "axc"


def test_shape_sees_meaning_and_no_layout() -> None:
    assert shape("if x:\n    y = (1)\n") == shape("if x: y = 1  # why\n")
    assert shape("f(a, b)") != shape("f(b, a)")
    assert shape("if x:\n    y\n    z\n") != shape("if x:\n    y\nz\n")
    assert shape("(") is None


def test_code_that_no_parser_can_hold_is_an_error_and_no_crash() -> None:
    for text in ("(" * 100_000, "x = " + "-" * 50_000 + "1", "a\0b", "x = " + "1" * 10_000):
        assert syntax_error(text) is not None or shape(text) is not None


def test_real_code_has_no_unbound_names_and_nothing_of_python_2() -> None:
    """Every name that one in eight of our own files reads is found bound, and no rule of Python 2 finds anything there."""
    for path in OURS[::8]:
        text = path.read_text()
        source = PythonText(path.name, text)
        scopes = Scopes(source.nodes)
        names = [node for node in source.nodes if isinstance(node, ast.Name)]
        assert not [f"{path}: {node.id}" for node in names if not scopes.is_bound(node.id, node)]
        assert python2_syntax.rewritten(text) == (text, []), path


def test_every_well_known_name_is_where_the_table_says() -> None:
    for name, module in standard_library.HOMES.items():
        scope: dict[str, object] = {}
        exec(f"from {module} import {name}", scope)
        assert name in scope


def ran(command: str, kind: str = "lint_failure") -> tuple[str, ...]:
    return commands([FailingCheck(command, "", kind, "")])


@pytest.mark.parametrize(
    ("checking", "writing"),
    [
        ("ruff check .", "ruff check --fix ."),
        ("ruff check --no-fix --select E src", "ruff check --fix --select E src"),
        ("ruff format --check .", "ruff format ."),
        ("ruff format --diff --line-length 100 src", "ruff format --line-length 100 src"),
        ("python -m ruff check", "python -m ruff check --fix"),
        (".venv/bin/python3.12 -m black --check --diff .", ".venv/bin/python3.12 -m black ."),
        ("uv run isort --check-only 'my src'", "uv run isort 'my src'"),
        (".venv/bin/black . --check", ".venv/bin/black ."),
        ("LANG=C ruff check", "LANG=C ruff check --fix"),
    ],
)
def test_a_checking_command_is_run_again_writing(checking: str, writing: str) -> None:
    assert ran(checking) == (writing,)


@pytest.mark.parametrize(
    "command",
    [
        "ruff check --fix .",
        "ruff format .",
        "ruff .",
        "black .",
        "isort src",
        "ruff rule E501",
        "pytest",
        "echo ruff check",
        "ruff check $FILES",
        "ruff check . | tee log",
        "ruff check *.py",
        "ruff check 'a",
        "make lint",
        "grep -r ruff check",
        "",
    ],
)
def test_what_writes_already_or_is_more_than_words_is_left(command: str) -> None:
    assert ran(command) == ()


def test_only_the_parts_of_a_line_that_check_are_run_and_fixes_come_before_formatting() -> None:
    assert ran("ruff format --check . && ruff check . ; pytest") == ("ruff check --fix .", "ruff format .")
    assert ran("ruff check .", kind="test_failure") == ()
    assert commands([FailingCheck("ruff check .", "", "lint_failure", "")] * 3) == ("ruff check --fix .",)
