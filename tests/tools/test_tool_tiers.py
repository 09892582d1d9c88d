"""KOTEF_TOOLS is a ceiling: it narrows what is offered, never widens it, and says when it is not understood."""

import importlib
import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.tools import registry
from kotef.tools.catalog import files
from kotef.tools.registry import BY_NAME, CORE, NAMES, TABLE, TIERS, cannot_edit, offered, tier_of
from kotef.tools.toolset import Kit

STANDARD = {
    *("edit_file", "write_file", "apply_patch", "run_command", "read_output", "stop_command", "run_checks"),
    *("git_status", "git_diff", "get_codebase_overview", "search_symbols", "view_truncated_output"),
    "report_contradiction",
}
FEATURES = ("apply_patch", "mcp", "memory", "more_skills", "skill_files", "skills", "web", "web_search")


def names(tier: str, *features: str) -> set[str]:
    return {row.name for row in offered(tier, features)}


def test_each_tier_contains_the_one_before_and_says_what_it_adds() -> None:
    core, standard, everything = (names(tier, *FEATURES) for tier in TIERS)
    assert core == set(CORE) == {"view_file", "list_dir", "grep", "find_files"}
    assert standard - core == STANDARD
    assert everything - standard == {
        *("manage_memory", "skill_find", "skill_use", "skill_resource", "web_fetch", "web_search")
    }
    assert everything == set(NAMES)


@given(st.sampled_from(TIERS), st.sets(st.sampled_from(FEATURES)), st.sets(st.sampled_from(NAMES)))
def test_nothing_widens_what_is_offered(tier: str, features: set[str], only: set[str]) -> None:
    rows = offered(tier, features, only)
    assert [row.name for row in rows] == sorted(row.name for row in rows)
    assert {row.name for row in rows} <= only & names(tier, *FEATURES)
    assert all(row.needs is None or row.needs in features for row in rows)


@pytest.mark.parametrize(
    ("asked", "tier"),
    [(None, "all"), ("", "all"), (" ", "all"), ("core", "core"), ("Standard", "standard"), (" ALL ", "all")],
)
def test_the_name_of_a_tier_is_read_in_any_case(asked: str | None, tier: str) -> None:
    assert tier_of(asked) == (tier, "")


@given(st.text(max_size=12).filter(lambda text: text.strip().lower() not in {*TIERS, ""}))
def test_an_unknown_tier_offers_all_and_warns(asked: str) -> None:
    tier, warning = tier_of(asked)
    assert tier == "all"
    assert f"KOTEF_TOOLS={asked}" in warning
    assert "core, standard, all" in warning


def test_a_core_tool_that_is_missing_is_found_on_import(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = files.ROWS
    for without in (rows[1:], (*rows, rows[0])):
        monkeypatch.setattr(files, "ROWS", without)
        with pytest.raises(ImportError):
            importlib.reload(registry)
    monkeypatch.setattr(files, "ROWS", rows)
    importlib.reload(registry)


def test_who_has_no_tool_that_edits_is_told_apart() -> None:
    assert not cannot_edit(offered("standard"))
    assert not cannot_edit([BY_NAME["apply_patch"]])
    assert "none of its tools edits a file (find_files, grep, list_dir, view_file)" in cannot_edit(offered("core"))
    assert "it has none" in cannot_edit([])
    assert cannot_edit([BY_NAME["manage_memory"], BY_NAME["run_command"]]), "a memory is no file of the workspace"


def test_a_kit_asks_only_for_what_it_has() -> None:
    assert Kit().features == ()
    assert Kit(patches=True).features == ("apply_patch",)
    assert {row.kind for row in TABLE} == {"reader", "editor", "keeper", "runner"}
    assert all(row.targets({"path": "x"}) for row in TABLE if row.name in {"edit_file", "write_file"})
    pairs = itertools.pairwise(offered())
    assert all(one.name < other.name for one, other in pairs)
