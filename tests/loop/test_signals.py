"""A signal at any moment of a run ends it with one outcome, one exit status, one result file and one entry."""

import signal
from collections.abc import Sequence
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, Ran, kotef
from support.openai_server import OpenAIServer
from support.process import Done, kotef_process

from kotef.runs import signals as signals_of_runs
from kotef.runs import start
from kotef.runs.signals import Signals

INT, TERM, HUP = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
GOAL = ("run", "make add add", "--coder", "model", "--check", CHECK)

MOMENTS = (
    "writing:task.json",
    "check_started:1",
    "tool_started:1",
    "run_started",
    "snapshot",
    "coder_started:1",
    "model_answer:1",
    "check_started:2",
    "verified:1",
)
"""From the run's directory to its verdict; `check_started:1` is in its baseline."""


def signalled(root: Path, moment: str, numbers: Sequence[int]) -> Done:
    with OpenAIServer(Agent(coder=[FIX, DONE])) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        return kotef_process([*GOAL, "--root", str(root)], env, root.parent, kill_at=moment, signals=numbers)


@pytest.mark.examples(3)
@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("numbers", [(INT, INT, INT), (TERM,), (HUP,), (INT,), (INT, TERM)], ids=str)
def test_a_signal_at_any_moment_leaves_a_result_and_an_entry(
    project: Path, moment: str, numbers: tuple[int, ...]
) -> None:
    done = signalled(project, moment, numbers)
    ran = Ran(done.returncode, done.stdout, done.stderr, project)
    assert ran.code == 128 + numbers[-1], done.stderr
    assert (ran.result["outcome"], ran.result["exitCode"]) == ("interrupted", ran.code)
    assert ran.result["reason"] == signal.Signals(numbers[-1]).name
    assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
    assert f"resume: kotef resume {ran.run_dir.name}" in done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.examples(1)
@pytest.mark.parametrize("number", [TERM, INT, HUP])
def test_a_signal_while_the_report_is_written_changes_nothing(project: Path, number: int) -> None:
    done = signalled(project, "writing:report.md", (number, number))
    ran = Ran(done.returncode, done.stdout, done.stderr, project)
    assert (ran.code, ran.result["outcome"], ran.result["exitCode"]) == (0, "verified", 0), done.stderr
    assert not (project / ".sdd" / "issues.md").exists()


def test_a_signal_long_after_the_first_ends_the_process_with_an_entry(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where the work does not let itself be cancelled; the run has no result, and can be resumed."""

    def pressed(*_: object, **__: object) -> None:
        for _ in range(2):
            signal.raise_signal(INT)

    where = ("--model", "m", "--base-url", "http://127.0.0.1:9/v1")
    with monkeypatch.context() as patched:
        patched.setattr(signals_of_runs, "PATIENCE", -1.0)
        patched.setattr(start, "open_session", pressed)
        ran = kotef(project, *GOAL, *where)
    assert (ran.code, ran.stderr.splitlines()[-1]) == (130, "kotef: interrupted")
    assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
    assert not list(ran.run_dir.glob("result.json"))
    assert kotef(project, "resume", "--last", *where).result["outcome"] == "model_unavailable"


def test_the_handlers_of_the_program_around_it_are_restored_and_an_ignored_sighup_stays_ignored() -> None:
    before = {number: signal.getsignal(number) for number in (INT, TERM, HUP)}

    def mine(*_: object) -> None:
        """What an embedding program does."""

    try:
        signal.signal(HUP, signal.SIG_IGN)
        signal.signal(TERM, mine)
        with Signals():
            assert signal.getsignal(HUP) is signal.SIG_IGN
            assert signal.getsignal(TERM) is not mine
        assert signal.getsignal(TERM) is mine
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
