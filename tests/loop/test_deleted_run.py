"""A run whose directory is deleted while it is at work goes on where it can, and else ends in one clear line."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, FIXED, Agent, one_bug, plan, states_of
from support.openai_server import Reply, Request, call, calls

LOOK = calls(call("view_file", path="calc.py"))


def agent_that_deletes(place: Callable[[], Path], visit: int) -> Agent:
    """A person deletes the place while the planner of this visit answers."""

    def planner(_: Request, number: int) -> Reply:
        if number == visit - 1:
            shutil.rmtree(place())
        return plan("fix add", hypothesis=f"cause {number}")

    return Agent(coder=[*([LOOK, DONE] * (visit - 1)), LOOK, FIX, DONE], planner=planner)


@pytest.mark.parametrize("visit", [1, 2])
def test_without_its_record_a_run_goes_on_and_writes_it_anew(tmp_path: Path, run, visit: int) -> None:
    root = one_bug(tmp_path / "project")
    done = run(root, agent_that_deletes(lambda: root / ".sdd" / "runs", visit), "make add add", "--check", CHECK)
    assert (done.code, (root / "calc.py").read_text()) == (0, FIXED), done.stdout
    assert "Traceback" not in done.stdout + done.stderr
    assert (done.record / "result.json").exists()


@pytest.mark.parametrize("visit", [1, 2])
def test_without_its_state_a_run_is_verified_or_ends_in_one_line_that_says_so(
    tmp_path: Path, run, caplog: pytest.LogCaptureFixture, visit: int
) -> None:
    root = one_bug(tmp_path / "project")
    done = run(root, agent_that_deletes(lambda: states_of(root), visit), "make add add", "--check", CHECK)
    assert "Traceback" not in done.stdout + done.stderr + caplog.text
    if done.code != 0:  # nothing of what was deleted was needed any more
        assert done.code == 5, done.stdout
        (line,) = [line for line in done.stdout.splitlines() if line.startswith("environment_broken")]
        assert "the run's directory was deleted while it was at work; start it again" in line
    assert len([each for each in caplog.records if "cannot be written" in each.getMessage()]) <= 1
