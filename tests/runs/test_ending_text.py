"""Every place that says how a run ended says it with the same words."""

from pathlib import Path

import pytest
from support.run_dirs import result_of

from kotef.cli.run_list import show_rows
from kotef.errors import UsageError
from kotef.report import FORMATS
from kotef.runs.ending_text import headline, killed, title, without_result
from kotef.runs.store import RunDir, at

VERIFIED = {"outcome": "verified", "done": True, "sentence": "1 of 1 checks satisfied", "max_attempts": 3}


def died(root: Path, *, started: bool) -> RunDir:
    run = at(root, "20260131-0")
    run.create()
    if started:
        (run.path / "task.json").write_text("{}")
    return run


def test_a_success_names_the_attempt_and_who_found_the_edit() -> None:
    assert headline(result_of(1, **VERIFIED)) == "verified at attempt 2 of 3: 1 of 1 checks satisfied"
    found = result_of(0, **VERIFIED, visits=1, winner="search")
    assert headline(found) == "verified (by search) at attempt 1 of 3: 1 of 1 checks satisfied"
    assert title(found) == "1 of 1 checks satisfied (by search, at attempt 1 of 3)"


def test_any_other_ending_is_the_outcome_and_why() -> None:
    assert headline(result_of(3, outcome="stuck", done=False, sentence="no progress")) == "stuck: no progress"


@pytest.mark.parametrize(
    ("attempt", "words"),
    [
        (None, "killed before it ended"),
        (0, "killed before its first attempt"),
        (2, "killed in attempt 2"),
    ],
)
def test_a_killed_run_says_where(attempt: int | None, words: str) -> None:
    assert killed(attempt) == words


@pytest.mark.parametrize("started", [True, False])
def test_a_run_without_a_result_is_worded_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], started: bool
) -> None:
    run = died(tmp_path, started=started)
    words = without_result(run)
    assert words in {
        "it was killed; `kotef resume 20260131-0` continues it",
        "it crashed before it started; start it again with `kotef run`",
    }
    for form in ("sarif", "junit", "json", "md"):
        with pytest.raises(UsageError) as raised:
            FORMATS[form](run)
        assert words in str(raised.value)
    resume = f"kotef resume {run.run_id}" if started else None
    show_rows(
        [{"runId": run.run_id, "outcome": "aborted", "resume": resume, "ticket": None, "goal": "", "origin": "state"}]
    )
    assert words in capsys.readouterr().out
