"""Runs are listed in the order in which they began."""

from pathlib import Path

from kotef.runs.store import new


def test_runs_of_one_second_are_in_order(tmp_path: Path) -> None:
    ids = []
    for _ in range(50):
        ids.append(new(tmp_path).run_id)
        while ids[-1] == new(tmp_path).run_id:  # a run takes longer to make than a 65,536th of a second
            pass
    assert ids == sorted(set(ids))
