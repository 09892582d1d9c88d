"""Sets of failures: shrinking, growing, the same, or others."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kotef.failures.progress import compare

SETS = st.frozensets(st.sampled_from("abcdef"))


@pytest.mark.parametrize(
    ("before", "now", "name", "said"),
    [
        ("abcde", "ab", "subset", "2 of 5 still fail, none new"),
        ("abc", "abc", "equal", "all 3 still fail, none new"),
        ("abc", "abcd", "superset", "all 3 still fail, 1 new"),
        ("abc", "ax", "other", "1 of 3 still fails, 1 new"),
        ("abc", "xy", "other", "none of 3 still fails, 2 new"),
        ("abc", "", "subset", "none of 3 still fails, none new"),
        ("a", "a", "equal", "1 of 1 still fails, none new"),
        ("", "a", "superset", "none failed, 1 new"),
        ("", "", "equal", "none failed, none new"),
    ],
)
def test_each_direction_has_a_name_and_a_sentence(before: str, now: str, name: str, said: str) -> None:
    progress = compare(frozenset(before), frozenset(now))
    assert (progress.name, str(progress)) == (name, said)


@given(SETS, SETS)
def test_the_counts_add_up_and_the_name_follows_from_them(before: frozenset[str], now: frozenset[str]) -> None:
    progress = compare(before, now)
    assert (progress.before, progress.now) == (len(before), len(now))
    by_counts = {(False, False): "equal", (True, False): "subset", (False, True): "superset", (True, True): "other"}
    assert progress.name == by_counts[bool(progress.gone), bool(progress.new)]


@given(SETS, SETS)
def test_the_way_back_has_the_opposite_name(before: frozenset[str], now: frozenset[str]) -> None:
    opposite = {"equal": "equal", "subset": "superset", "superset": "subset", "other": "other"}
    assert compare(now, before).name == opposite[compare(before, now).name]
