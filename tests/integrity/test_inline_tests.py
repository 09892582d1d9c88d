"""Which tests inside the product are still the ones there were, and which are not."""

import pytest

from kotef.integrity.inline_tests import changed_inline_tests

RUST = """fn add(a: i32, b: i32) -> i32 { a - b }
#[cfg(test)]
mod tests {
    use super::*;
    #[test]
    fn adds() { assert_eq!(add(2, 3), 5); }
}
"""
VITEST = """export const add = (a, b) => a - b;
if (import.meta.vitest) {
  const {it, expect} = import.meta.vitest;
  it('x', () => { expect(add(2, 3)).toBe(5) });
}
"""
DOCTEST = '''def add(a, b):
    """Add.

    >>> add(2, 3)
    5
    """
    return a - b
'''
CASE = """import unittest

def add(a, b):
    return a - b

class T(unittest.TestCase):
    def test_add(self):
        self.assertEqual(add(2, 3), 5)
"""
FUNCTION = "def add(a, b):\n    return a - b\n\ndef test_add():\n    assert add(2, 3) == 5\n"

SAME = [
    ("a.rs", RUST, "a - b", "a + b"),
    ("a.rs", RUST, "    #[test]", "    #[test]\n    fn more() { if add(1, 1) == 2 { return; } }\n    #[test]"),
    ("a.rs", RUST, "use super::*;", "use super::*;\n    use std::collections::HashMap;"),
    ("a.ts", VITEST, "a - b", "a + b"),
    ("a.ts", VITEST, "});\n}", "});\n  it('y', () => {});\n}"),
    ("a.py", DOCTEST, "a - b", "a + b"),
    ("a.py", DOCTEST, "    5\n", "    5\n    >>> add(1, 1)\n    2\n"),
    ("a.py", DOCTEST, "Add.", "Add two."),
    ("a.py", CASE, "a - b", "a + b"),
    ("a.py", CASE, "    def test_add", "    def test_more(self): pass\n\n    def test_add"),
    ("a.py", FUNCTION, "a - b", "a + b"),
]
CHANGED = [
    ("a.rs", RUST, ", 5)", ", -1)"),
    ("a.rs", RUST, "#[test]", "#[test]\n    #[ignore]"),
    ("a.rs", RUST, "use super::*;", "use super::*;\n    fn add(a: i32, b: i32) -> i32 { 5 }"),
    ("a.ts", VITEST, "toBe(5)", "toBe(-1)"),
    ("a.py", DOCTEST, "    5\n", "    -1\n"),
    ("a.py", DOCTEST, "    >>> add", "    >>> add = max\n    >>> add"),
    ("a.py", DOCTEST, "add(2, 3)\n", "add(2, 3)  # doctest: +SKIP\n"),
    ("a.py", CASE, "5)", "-1)"),
    ("a.py", CASE, "TestCase)", "TestCase, Quiet)"),
    ("a.py", CASE, "    def test_add", "    def setUp(self): self.skipTest('')\n\n    def test_add"),
    ("a.py", FUNCTION, "== 5", "== -1"),
]


def changed(before: dict[str, str], now: dict[str, str], *, runs: bool = True, collected: bool = True) -> list[str]:
    found = changed_inline_tests(before, now, runs_doctests=lambda: runs, collected=lambda _: collected)
    return [str(finding) for finding in found]


@pytest.mark.parametrize(("path", "text", "old", "new"), SAME)
def test_the_code_may_change_and_tests_may_be_added(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    assert changed({path: text}, {path: text.replace(old, new, 1)}) == []


@pytest.mark.parametrize(("path", "text", "old", "new"), CHANGED)
def test_a_test_that_says_something_else_is_named_with_file_and_line(path: str, text: str, old: str, new: str) -> None:
    assert old in text
    (found,) = changed({path: text}, {path: text.replace(old, new, 1)})
    assert found.startswith(f"{path}:")
    assert "stood here before the run" in found


@pytest.mark.parametrize(("path", "text"), [("a.rs", RUST), ("a.ts", VITEST), ("a.py", DOCTEST), ("a.py", CASE)])
def test_tests_may_move_and_not_disappear(path: str, text: str) -> None:
    elsewhere = f"tests/{path}"
    assert changed({path: text}, {elsewhere: text}) == []
    assert changed({path: text}, {path: "", elsewhere: text}) == []
    assert changed({path: text}, {path: ""})
    assert changed({path: text}, {})


def test_what_nobody_runs_may_change() -> None:
    """An example in a docstring is no test where no doctest is run, and a function named `test_…` may be the product."""
    assert changed({"a.py": DOCTEST}, {"a.py": ""}, runs=False) == []
    assert changed({"a.py": FUNCTION}, {"a.py": ""}, collected=False) == []
    assert changed({"a.py": CASE}, {"a.py": ""}, runs=False, collected=False)


def test_of_two_definitions_of_a_test_the_last_counts() -> None:
    assert changed({"a.py": CASE}, {"a.py": f"{CASE}\n\nclass T:\n    pass\n"})


def test_what_cannot_be_parsed_holds_no_tests() -> None:
    assert changed({"a.py": "def ("}, {"a.py": ""}) == []
    assert changed({"a.py": CASE}, {"a.py": "def ("})
