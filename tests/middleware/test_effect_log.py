"""The ledger of effects believes no line that a kill has torn, and loses none that comes after it."""

from pathlib import Path

import pytest

from kotef.middleware.effect_log import Effects


@pytest.mark.parametrize("left", [1, 20, -1])
def test_a_torn_line_costs_itself_and_not_the_next(tmp_path: Path, left: int) -> None:
    path = tmp_path / "effects.jsonl"
    first = Effects(path)
    first.start("a", before="{}")
    started = path.read_text()
    first.finish("a", "done it", failed=False)
    path.write_text(started + path.read_text().removeprefix(started)[:left])

    second = Effects(path)
    known = "done" if left == -1 else "doubt"
    assert second.look("a").standing == known, "only its line end is missing" if left == -1 else "it may have happened"
    second.start("b")

    third = Effects(path)
    assert (third.look("a").standing, third.look("b").standing) == (known, "doubt")
