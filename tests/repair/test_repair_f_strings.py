"""Candidates inside f-strings: their expressions and their literal parts."""

import ast
from pathlib import Path

import pytest
from projects import project, search

from kotef.repair.scope import FileScope, FunctionScope
from kotef.repair.source import PythonSource


@pytest.mark.examples(2)
@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ('f"{name}: {count - 1}"', 'f"{name}: {count + 1}"'),
        ('f"{name}: {max(count, 1)}"', 'f"{name}: {min(count, 1)}"'),
        ('f"{name}:{count}"', 'f"{name}: {count}"'),
        ('f"{name},{count}"', 'f"{name};{count}"'),
    ],
)
def test_a_slip_inside_an_f_string_is_repaired(tmp_path: Path, wrong: str, right: str) -> None:
    code = "def label(name, count):\n    return {}\n"
    space: dict[str, object] = {}
    exec(code.format(right), space)
    asserts = "".join(
        f"def test_{number}(): assert label({name!r}, {count}) == {space['label'](name, count)!r}\n"  # type: ignore[operator]
        for number, (name, count) in enumerate((("a", 3), ("bee", 7), ("c d", -2)))
    )
    root = project(tmp_path / "p", {"m.py": code.format(wrong), "test_m.py": f"from m import label\n\n{asserts}"})

    found = search(root, seconds=15)

    assert found.patches[0].files["m.py"].decode() == code.format(right)


@pytest.mark.parametrize(
    "text",
    [
        'f"{a} and {b.c[0]!r:>4}"',
        'f"{a}{{}}{b}"',
        "f'''{a}\n {b + 1}'''",
        "f\"{a:{b}}\" 'x' f'{b}'",
        'f"é {a} ü {b}"',
        'f"{a}, {b}, {a}"',
    ],
)
def test_whatever_is_searched_in_an_f_string_has_its_place_and_the_rest_is_said(text: str) -> None:
    source = PythonSource("m.py", f"def f(a, b):\n    return {text}\n".encode())
    scope = FunctionScope(FileScope(source), source.units[0])
    whole = next(node for node in scope.nodes if isinstance(node, ast.JoinedStr))
    inside = [node for node in scope.nodes if source.parents.get(node) in (whole, *whole.values)]
    for node in inside:
        if isinstance(node, ast.Constant) and node in whole.values:
            span = source.literal_span(whole, node)
            assert span is not None
            assert source.text[span[0] : span[1]] == node.value
        else:
            assert isinstance(node, ast.expr)
            assert ast.dump(ast.parse(source.segment(node), mode="eval").body) == ast.dump(node)
    assert bool(scope.unplaced) == (len(inside) < len(whole.values))


def test_f_strings_that_cannot_be_searched_are_named(tmp_path: Path) -> None:
    files = {
        "m.py": 'def label(name):\n    return f"{{{name}}}, {name}"\n',
        "test_m.py": "from m import label\n\ndef test_it(): assert label('a') == 'seven thousand'\n",
    }
    found = search(project(tmp_path / "p", files), seconds=2)
    assert found.left_out == ("m.py:2",)
