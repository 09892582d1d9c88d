"""A run that was killed is noticed by what comes next, counts what it used, and is not gone on with blindly."""

import json
import os
import re
import signal
import time
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, Ran, kotef
from support.openai_server import OpenAIServer, Reply, call, calls
from support.process import Done, Started, kotef_process

from kotef import __version__
from kotef.runs.elapsed_time import seconds_worked
from kotef.runs.store import RunDir, own_runs
from kotef.state import SCHEMA_VERSION

GOAL = "make add add"
ASKED = ("--coder", "model", "--check", CHECK)


def command(root: Path, agent: object, *arguments: str, kill_at: str = "") -> Done:
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        return kotef_process([*arguments, "--root", str(root)], env, root.parent, kill_at=kill_at)


def killed(root: Path, *coder: Reply, at: str, more: tuple[str, ...] = ()) -> RunDir:
    done = command(root, Agent(coder=coder or (FIX, DONE)), "run", GOAL, *ASKED, *more, kill_at=at)
    assert done.returncode == -signal.SIGKILL, done.stderr
    return list(own_runs(root))[-1]


def rows(root: Path) -> list[dict]:
    return json.loads(kotef(root, "runs", "--json").stdout)


def notices(ran: Ran) -> str:
    return "\n".join(event["text"] for event in ran.events if event["event"] == "notice")


def test_a_killed_run_is_shown_as_aborted_and_the_next_run_writes_its_entry_once(project: Path, run) -> None:
    gone = killed(project, at="tool_started:1")
    (row,) = rows(project)
    assert (row["outcome"], row["resume"]) == ("aborted", f"kotef resume {gone.run_id}")

    other = run(project, Agent(coder=[DONE] * 3), "something else", "--check", CHECK, "--max-attempts", "1")
    entry, _ = other.issues
    assert (entry["run_id"], entry["outcome"], entry["reason"]) == (gone.run_id, "interrupted", "killed")
    assert entry["resume"] == f"kotef resume {gone.run_id}"
    assert [failure["command"] for failure in entry["entries"]] == [CHECK]
    assert f"run {gone.run_id} was killed and not resumed" in notices(other)

    third = run(project, Agent(coder=[DONE] * 3), "a third thing", "--check", CHECK, "--max-attempts", "1")
    assert gone.run_id not in notices(third)
    assert [each["run_id"] for each in third.issues].count(gone.run_id) == 1


def test_a_resume_rewrites_the_entry_of_a_killed_run(project: Path, run) -> None:
    gone = killed(project, at="tool_started:1")
    run(project, Agent(coder=[DONE] * 3), "something else", "--check", CHECK, "--max-attempts", "1")
    done = command(project, Agent(coder=[FIX, DONE]), "resume", gone.run_id)
    assert done.returncode == 0, done.stdout + done.stderr
    entries = {entry["run_id"]: entry for entry in Ran(0, "", "", project).issues}
    assert (entries[gone.run_id]["outcome"], entries[gone.run_id]["state"]) == ("verified", "resolved")


def test_the_time_of_a_node_that_a_kill_ended_counts(project: Path) -> None:
    sleeping = calls(call("run_command", command="sleep 30"))
    there = project.parent / "slept"
    waiting = calls(call("run_command", command=f"sleep 3; touch {there}; sleep 30"))
    gone = killed(project, waiting, at=f"there:{there}")
    before = seconds_worked(gone)
    assert before > 2
    done = command(project, Agent(coder=[sleeping, DONE]), "resume", gone.run_id, "--max-time", "1")
    assert done.returncode == 4, done.stdout + done.stderr
    result = gone.result()
    assert (result.outcome, result.reason) == ("budget_exceeded", "max_time")
    assert result.usage.seconds >= before
    figure = int(re.search(r"(\d+) of 1 seconds used", result.sentence)[1])
    assert figure >= int(before)


def test_a_resume_on_a_changed_workspace_says_what_changed(project: Path) -> None:
    gone = killed(project, FIX, DONE, at="tool_finished:2")
    (project / "mine.txt").write_text("a person's\n")
    done = command(project, Agent(coder=[DONE, DONE]), "resume", gone.run_id)
    assert done.returncode == 0, done.stdout + done.stderr
    said = notices(Ran(0, "", "", project))
    assert f"the workspace has changed since run {gone.run_id} last saw it" in said
    assert said.rstrip().endswith("not by the run itself: mine.txt")


def test_a_resume_on_the_same_workspace_says_nothing_of_it(project: Path) -> None:
    gone = killed(project, FIX, DONE, at="tool_finished:2")
    command(project, Agent(coder=[DONE, DONE]), "resume", gone.run_id)
    assert "saw it last" not in notices(Ran(0, "", "", project))


def test_a_run_of_another_version_says_so_and_one_of_another_schema_is_refused(project: Path) -> None:
    gone = killed(project, at="tool_started:1")
    file = gone.path / "task.json"
    task = json.loads(file.read_text())
    file.write_text(json.dumps(task | {"schema_version": 99, "kotef_version": "9.9"}))
    whole = {path: path.read_bytes() for path in gone.path.rglob("*") if path.is_file()}
    refused = kotef(project, "resume", gone.run_id)
    assert refused.code == 2
    assert "schema 99" in refused.stderr
    assert "9.9" in refused.stderr
    assert [row["outcome"] for row in rows(project)] == ["unreadable"]
    assert {path: path.read_bytes() for path in gone.path.rglob("*") if path.is_file()} == whole

    file.write_text(json.dumps(task | {"kotef_version": "0.0.1"}))
    done = command(project, Agent(coder=[FIX, DONE]), "resume", gone.run_id)
    assert done.returncode == 0, done.stderr
    assert f"run {gone.run_id} was started by kotef 0.0.1" in notices(Ran(0, "", "", project))


def test_a_run_of_an_older_schema_is_shown_and_undone_but_not_resumed(project: Path) -> None:
    gone = killed(project, at="tool_started:1")
    file = gone.path / "task.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"schema_version": 1, "kotef_version": "0.0.1"}))
    whole = {path: path.read_bytes() for path in gone.path.rglob("*") if path.is_file()}

    refused = kotef(project, "resume", gone.run_id)

    assert refused.code == 2
    line = next(line for line in refused.stderr.splitlines() if "cannot be resumed" in line)
    assert (
        f"schema 1, and this kotef {__version__} resumes schema {SCHEMA_VERSION}; kotef 0.0.1, which started it, can resume it"
        in line
    )
    assert {path: path.read_bytes() for path in gone.path.rglob("*") if path.is_file()} == whole
    assert kotef(project, "show", gone.run_id).code == 0
    assert kotef(project, "undo", gone.run_id).code == 0


def test_checkpoints_that_cannot_be_read_are_a_clear_error_and_nothing_is_lost(
    project: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran = run(project, Agent(coder=[DONE] * 3), GOAL, "--check", CHECK, "--max-attempts", "1")
    assert ran.code == 3
    (ran.run_dir / "checkpoints.sqlite").write_bytes(b"not a database" * 1000)
    monkeypatch.setenv("KOTEF_MODEL", "scripted")
    refused = kotef(project, "resume", "--last", "--max-attempts", "2")
    assert refused.code == 2
    assert f"the checkpoints of run {ran.run_dir.name} cannot be read" in refused.stderr
    assert ran.result["outcome"] == "bounded_attempts_exceeded", "its result is still there"
    assert kotef(project, "diff").code == 0


def test_of_two_resumers_at_once_one_is_told_who_is_at_work(
    project: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    gone = killed(project, at="tool_started:1")
    started, go = project.parent / "started", project.parent / "go"
    waiting = calls(call("run_command", command=f"touch {started}; while [ ! -e {go} ]; do sleep 0.05; done"))
    with OpenAIServer(Agent(coder=[waiting, FIX, DONE])) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        line = ["resume", gone.run_id, "--root", str(project)]
        first = Started(line, env, project.parent)
        end = time.monotonic() + 60
        while not started.exists():
            assert time.monotonic() < end
            time.sleep(0.05)
        second = kotef_process(line, env, tmp_path_factory.mktemp("second"))
        assert [row["outcome"] for row in rows(project)] == ["running"]
        go.touch()
        ended = first.end()
    assert second.returncode == 2
    assert f"pid {first.pid}" in second.stderr
    assert gone.run_id in second.stderr
    assert ended.returncode == 0, ended.stdout + ended.stderr


def test_a_holder_whose_number_another_process_has_by_now_holds_nothing(project: Path) -> None:
    gone = killed(project, at="tool_started:1")
    (lock,) = Path(os.environ["XDG_STATE_HOME"]).glob("kotef/*/lock")
    lock.write_text(json.dumps({"pid": os.getpid(), "started": 1, "run": gone.run_id}))
    assert [row["outcome"] for row in rows(project)] == ["aborted"]
    done = command(project, Agent(coder=[FIX, DONE]), "resume", gone.run_id)
    assert done.returncode == 0, done.stderr
