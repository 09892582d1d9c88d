"""What was cut can be had back, by the same id, for a week."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kotef.tools.errors import ToolFault
from kotef.tools.stash import MAX_BYTES, NAME, Stash, drop_old
from kotef.tools.truncated_output import MAX_VIEW, clip_kept, view


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_a_text_comes_back_by_an_id_that_follows_from_it(tmp_path: Path, text: str) -> None:
    stash = Stash(tmp_path / "run" / "stash")
    name = stash.keep(text)
    assert NAME.fullmatch(name)
    assert stash.keep(text) == name
    assert Stash(tmp_path / "run" / "stash").read(name) == text, "after a kill, too"


def test_nothing_else_can_be_read_by_it(tmp_path: Path) -> None:
    stash = Stash(tmp_path / "run" / "stash")
    name = stash.keep("x")
    (tmp_path / "secret").write_text("s")
    (stash.path / "tr_aaaaaaaaaaaa").symlink_to(tmp_path / "secret")
    assert [stash.read(wrong) for wrong in ("../../secret", "tr_aaaaaaaaaaaa", "tr_bbbbbbbbbbbb", "", f"{name}/")] == [
        None
    ] * 5
    assert stash.path.stat().st_mode & 0o777 == 0o700


def test_a_text_is_bounded_and_lone_surrogates_are_no_fault(tmp_path: Path) -> None:
    stash = Stash(tmp_path / "run" / "stash")
    assert len(stash.read(stash.keep("é" * MAX_BYTES)).encode()) <= MAX_BYTES + 3
    assert stash.read(stash.keep("a\udc80b")) == "a?b"


def test_of_a_text_that_is_too_long_both_ends_are_kept(tmp_path: Path) -> None:
    stash = Stash(tmp_path / "run" / "stash")
    whole = "first\n" + "x" * (MAX_BYTES - 11) + "\nlast"
    assert stash.read(stash.keep(whole)) == whole, "up to the bound it is kept as it is"
    long = f"first\n{'x' * MAX_BYTES}\nlast"
    kept = stash.read(stash.keep(long))
    assert kept.startswith("first\nxxx")
    assert kept.endswith("xxx\nlast")
    assert "bytes left out …]" in kept
    assert len(kept.encode()) <= MAX_BYTES


def test_what_is_older_than_a_week_goes_with_the_next_run(tmp_path: Path) -> None:
    first = Stash(tmp_path / "one" / "stash")
    old, young = first.keep("old"), first.keep("young")
    os.utime(first.path / old, (time.time() - 8 * 86_400,) * 2)
    drop_old(tmp_path)
    assert (first.read(old), first.read(young)) == (None, "young")


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=50), min_size=1), st.integers(1, 60))
def test_any_range_of_it_can_be_viewed(lines: list[str], first: int) -> None:
    text = "\n".join(lines)
    if first > len(lines):
        with pytest.raises(ToolFault, match="beyond the end"):
            view(text, "tr_x", f"{first}-")
        return
    head, *shown = view(text, "tr_x", f"{first}-{first}").split("\n")
    assert head == f"tr_x: lines {first}-{first} of {len(lines)}"
    assert shown[0] == lines[first - 1]


def test_a_long_line_and_a_long_text_are_shown_in_parts() -> None:
    shown = view("x" * 1_000_000, "tr_x", "1-400")
    assert len(shown) < MAX_VIEW + 100
    assert "more lines: range=" in shown


@pytest.mark.parametrize("wrong", ["", "a", "0-3", "5-2", "-3", "1-x", "²-3"])
def test_a_range_that_is_none_is_refused(wrong: str) -> None:
    with pytest.raises(ToolFault) as told:
        view("text", "tr_x", wrong)
    assert told.value.kind == "schema_reject"


@given(st.text(max_size=300), st.integers(10, 200))
def test_only_what_is_cut_is_kept(text: str, limit: int) -> None:
    kept: list[str] = []
    shown = clip_kept(text, limit, lambda whole: kept.append(whole) or "tr_x")
    assert kept == ([text] if len(text) > limit else [])
    assert ("view_truncated_output tr_x" in shown) == bool(kept)
