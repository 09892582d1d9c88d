"""Paths in the headers of a patch."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.cli.screen.diffs import file_diffs
from kotef.git import git, unquoted

NAMES = ("naïve_ß.py", "zażółć gęślą.txt", "日本.py", 'quo"ted ß.py', "back\\slash é.py", "tab\tß.py")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_a_path_with_each_byte_escaped_is_the_path(path: str) -> None:
    assert unquoted('"' + "".join(f"\\{byte:03o}" for byte in path.encode()) + '"') == path


@given(st.text(st.characters(codec="utf-8", exclude_characters='"\\'), min_size=1))
def test_a_path_with_nothing_escaped_is_the_path(path: str) -> None:
    assert unquoted(f'"{path}"') == path
    assert unquoted(path) == path


@pytest.mark.parametrize("name", NAMES)
def test_a_name_in_any_script_is_in_a_patch_as_it_is(tmp_path: Path, name: str) -> None:
    git(["init", "-q"], cwd=tmp_path)
    (tmp_path / name).write_text("old\n")
    git(["add", "-A"], cwd=tmp_path)
    (tmp_path / name).write_text("new\n")
    patch = git(["diff"], cwd=tmp_path).decode()
    assert "\\3" not in patch
    (shown,) = file_diffs(patch)
    assert shown.path == name
