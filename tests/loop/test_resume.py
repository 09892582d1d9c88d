"""A run that is killed goes on as if nothing had happened: same outcome, attempts not reset, one issue entry."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.loop import CHECK, Ran, kotef
from support.loop import forgetful_agent as agent
from support.openai_server import OpenAIServer
from support.process import Done, kotef_process

FIELDS = ("outcome", "reason", "goal", "maxAttempts", "visits", "changed", "fixed", "done")


def command(root: Path, server: OpenAIServer, *arguments: str, kill_at: str = "") -> Done:
    """kotef in a process of its own, killed right after an event (see `kotef_process`)."""
    env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
    return kotef_process([*arguments, "--root", str(root)], env, root.parent, kill_at=kill_at)


def start(root: Path, server: OpenAIServer, *, kill_at: str = "") -> Done:
    asked = ("run", "make add add", "--coder", "model", "--check", CHECK, "--max-attempts", "2")
    return command(root, server, *asked, kill_at=kill_at)


def events_of(root: Path) -> list[dict]:
    return Ran(0, "", "", root).events


def must_be_as_if_nothing_had_happened(root: Path, server: OpenAIServer, fixes_at: int, kill_at: str) -> None:
    """Kill after that event, resume, and compare with what every undisturbed run gives."""
    killed = start(root, server, kill_at=kill_at)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    resumed = command(root, server, "resume", "--last")

    ran = Ran(resumed.returncode, resumed.stdout, resumed.stderr, root)
    good = fixes_at <= 2
    assert ran.code == (0 if good else 3), resumed.stdout + resumed.stderr
    assert ran.result["outcome"] == ("verified" if good else "bounded_attempts_exceeded")
    assert ran.result["failureHistory"]["attempts"] == (fixes_at - 1 if good else 2)
    assert ran.result["visits"] == 2
    assert ran.result["goal"] == "make add add"
    assert ran.result["maxAttempts"] == 2
    assert len([entry for entry in ran.issues if entry["state"] == "open"]) == (0 if good else 1)
    numbers = [event["n"] for event in ran.events]
    assert numbers == sorted(set(numbers)), "events are numbered once, over the resume"
    if good:
        noted = (root / "effects.log").read_text().count("attempt")
        doubts = sum(event["event"] == "in_doubt" for event in ran.events)
        assert noted <= 2, "no effect happened twice"
        assert noted + doubts >= 2


BOUNDARIES = ("coder_started:1", "tool_started:1", "check_started:2")
"""Moments between and inside the nodes of a run of two attempts: a node, an effect, a check."""
OTHER_BOUNDARIES = (
    "run_started",
    "verified:1",
    "ended",
    "snapshot",
    "planned:1",
    "tool_finished:2",
    "coder_finished:1",
    "verified:2",
    "planned:2",
)


@pytest.fixture
def copies(project: Path, tmp_path: Path):
    """Fresh copies of the tiny project."""
    numbers = iter(range(1000))

    def make() -> Path:
        target = tmp_path / f"copy{next(numbers)}"
        subprocess.run(["cp", "-r", str(project), str(target)], check=True)
        return target

    return make


@pytest.mark.parametrize(
    "moment", [*BOUNDARIES, *(pytest.param(moment, marks=pytest.mark.kill) for moment in OTHER_BOUNDARIES)]
)
def test_killed_at_a_node_boundary(copies, moment: str) -> None:
    with OpenAIServer(agent(2)) as server:
        must_be_as_if_nothing_had_happened(copies(), server, 2, moment)


@pytest.mark.examples(1)
@pytest.mark.parametrize("moment", ["ended", "issue"])
def test_killed_around_the_entry_there_is_exactly_one(copies, moment: str) -> None:
    with OpenAIServer(agent(9)) as server:
        must_be_as_if_nothing_had_happened(copies(), server, 9, moment)


@pytest.mark.kill
@pytest.mark.parametrize("fixes_at", [2, 9])
def test_killed_after_every_single_event(copies, fixes_at: int) -> None:
    with OpenAIServer(agent(fixes_at)) as server:
        reference = copies()
        start(reference, server)
        last = events_of(reference)[-1]["n"]
        assert last > len(BOUNDARIES) + len(OTHER_BOUNDARIES), "there are moments to be killed at"
        for number in range(1, last):
            must_be_as_if_nothing_had_happened(copies(), server, fixes_at, f"any:{number}")


def test_a_run_killed_again_and_again_still_ends(copies) -> None:
    root = copies()
    with OpenAIServer(agent(2)) as server:
        assert start(root, server, kill_at="any:9").returncode == -signal.SIGKILL
        for later in (3, 8, 12):
            killed = command(root, server, "resume", "--last", kill_at=f"any:{later}")
            assert killed.returncode == -signal.SIGKILL or later > 8, "it was at work for that long"
        done = command(root, server, "resume", "--last")
        if done.returncode == 2:
            assert "it is done" in done.stderr, "an earlier resume came to the end"
    assert Ran(0, "", "", root).result["outcome"] == "verified"


@pytest.mark.examples(1)  # `test_signals` has the others
@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_the_run_cleanly_with_the_hint(project: Path, number: int, status: int) -> None:
    slow = f"slow_{os.getpid()}_{number}.py"
    (project / slow).write_text("import time\ntime.sleep(600)\n")
    with OpenAIServer(agent(1)) as server:
        env = os.environ | {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        line = [
            sys.executable,
            "-m",
            "kotef",
            "run",
            "x",
            "--coder",
            "model",
            "--check",
            f"python {slow}",
            "--root",
            str(project),
        ]
        process = subprocess.Popen(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        deadline = time.monotonic() + 120
        while "check_started" not in "".join(path.read_text() for path in project.glob(".sdd/runs/*/events.jsonl")):
            assert time.monotonic() < deadline
            time.sleep(0.05)
        process.send_signal(number)
        out, err = process.communicate(timeout=120)

    ran = Ran(process.returncode, out, err, project)
    assert ran.code == status, err
    assert ran.result["outcome"] == "interrupted"
    assert f"resume: kotef resume {ran.run_dir.name}" in out
    assert [entry["outcome"] for entry in ran.issues] == ["interrupted"]
    assert slow not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


def test_more_attempts_let_a_bounded_run_go_on_and_resolve_its_entry(project: Path) -> None:
    with OpenAIServer(agent(3)) as server:
        assert start(project, server).returncode == 3
        refused = command(project, server, "resume", "--last")
        assert refused.returncode == 2
        assert "--max-attempts" in refused.stderr
        resumed = command(project, server, "resume", "--last", "--max-attempts", "3")
    ran = Ran(resumed.returncode, resumed.stdout, resumed.stderr, project)
    assert ran.code == 0, resumed.stdout + resumed.stderr
    assert ran.result["failureHistory"]["attempts"] == 2, "the count goes on"
    assert [(entry["state"], entry["outcome"]) for entry in ran.issues] == [("resolved", "verified")]


def test_a_verified_run_is_not_resumed(project: Path) -> None:
    with OpenAIServer(agent(1)) as server:
        assert start(project, server).returncode == 0
        again = command(project, server, "resume", "--last")
    assert again.returncode == 2
    assert "it is done" in again.stderr


def test_a_torn_last_event_is_tolerated(project: Path) -> None:
    with OpenAIServer(agent(1)) as server:
        start(project, server)
    log = Ran(0, "", "", project).run_dir / "events.jsonl"
    log.write_text(log.read_text() + '{"n": 999, "event": "verif')
    from kotef.runs.events import read_events

    assert [line.event.event_name for line in read_events(log)][-1] == "run_finished"
    assert json.loads(kotef(project, "runs", "--json").stdout)[0]["outcome"] == "verified"
