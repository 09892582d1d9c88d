"""`kotef watch` tells a run that works in another process: its history, what happens, and how it ends."""

import json
import os
import subprocess
import sys
import threading
import time
from functools import reduce
from pathlib import Path

import pytest
from support.loop import BUG, CHECK, TEST, Agent, Ran, calls, git, kotef
from support.openai_server import OpenAIServer, call, slow, text
from support.process import Started

from kotef.events import NoticeEvent
from kotef.runs import store
from kotef.runs.event_tail import Following
from kotef.runs.progress import RunProgress
from kotef.runs.store import RunDir, runs_dir
from kotef.workspace import workspace_lock


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text(BUG)
    (root / "test_calc.py").write_text(TEST)
    git(root, "init", "-q")
    return root


RUN = "20260101-000000-0000"
STARTED = {
    "event": "run_started",
    "run": RUN,
    "goal": "g",
    "ticket": None,
    "checks": ["true"],
    "coder": "model",
    "model": "m",
    "sandbox": "off",
    "network": False,
}
TOOL = {"visit": 1, "tool": "view_file", "arguments": "a.py"}


def write(root: Path, *events: dict, run: str = RUN) -> Path:
    place = runs_dir(root) / run
    place.mkdir(parents=True, exist_ok=True)
    with (place / "events.jsonl").open("a") as file:
        for event in events:
            file.write(json.dumps({"n": 1, "t": 1.0, **event}) + "\n")
    return place


def states(ran: Ran) -> list[str]:
    return [json.loads(line)["state"] for line in ran.stdout.splitlines()]


def test_a_run_that_has_ended_is_told_once_more_and_its_status_is_the_commands(project: Path) -> None:
    done = kotef(project, "run", "make add add", "--check", "false", "--coder", "fixers")
    watched = kotef(project, "watch")
    assert watched.code == done.code == 3
    assert "baseline: false: exit 1" in watched.stdout
    assert watched.stdout.splitlines()[-3:] == done.stdout.splitlines()[-3:], "with the same ending"
    as_json = kotef(project, "watch", "--json")
    assert (as_json.code, states(as_json)[0], states(as_json)[-1]) == (3, "verifying", "idle")
    last = json.loads(as_json.stdout.splitlines()[-1])
    assert (last["outcome"], last["exitCode"], last["runId"]) == ("stuck", 3, done.run_dir.name)


def test_a_run_that_was_killed_is_an_error_with_the_way_on(project: Path) -> None:
    write(project, STARTED, {"event": "tool_started", **TOOL})
    watched = kotef(project, "watch")
    assert watched.code == 137
    assert f"run {RUN}: it was killed; `kotef resume {RUN}` continues it" in watched.stdout
    as_json = kotef(project, "watch", RUN, "--json")
    assert (as_json.code, states(as_json)) == (137, ["verifying", "tool_running", "error"])


def test_a_question_is_told_and_that_it_waits_for_a_person(project: Path) -> None:
    write(project, STARTED, {"event": "asked", "visit": 1, "question": "may this command run: \x1b[2J x"})
    assert states(kotef(project, "watch", "--json")) == ["verifying", "waiting_for_input", "error"]
    shown = kotef(project, "watch").stdout
    assert "question to a person: may this command run:" in shown
    assert "\x1b" not in shown


def test_what_no_run_is_is_said_at_once_or_after_the_wait(project: Path) -> None:
    for arguments in (("--wait", "0"), ("nope", "--wait", "0.2")):
        ran = kotef(project, "watch", *arguments)
        assert ran.code == 2
        assert "no run" in ran.stderr


def test_a_run_that_comes_a_little_later_is_waited_for(project: Path) -> None:
    late = threading.Timer(0.4, write, (project, STARTED))
    late.start()
    assert "was killed" in kotef(project, "watch", "--wait", "30").stdout
    late.join()


def test_the_run_at_work_is_meant_though_a_newer_one_is_there(project: Path) -> None:
    write(project, STARTED)
    write(project, STARTED, run="20270101-000000-0000")
    ended = {"event": "run_finished", "outcome": "crashed", "reason": "", "exit_code": 1, "seconds": 1.0}

    def end() -> None:
        time.sleep(0.4)
        write(project, ended)

    with workspace_lock(project, RUN):
        ending = threading.Thread(target=end)
        ending.start()
        found: list[Ran] = []
        watching = threading.Thread(target=lambda: found.append(kotef(project, "watch", "--json")))
        watching.start()
        ending.join()
        time.sleep(0.2)
        assert not found, "as long as the run is held, more may come"
    watching.join(30)
    assert [json.loads(line)["runId"] for line in found[0].stdout.splitlines()] == [RUN, RUN]
    assert (states(found[0]), found[0].code) == (["verifying", "error"], 1)


@pytest.fixture
def log(tmp_path: Path) -> Following:
    place = write(tmp_path)
    return Following(tmp_path, RunDir(place, place))


def test_a_line_that_is_not_whole_yet_waits_for_its_end(log: Following) -> None:
    whole = json.dumps({"n": 1, "t": 1.0, "event": "notice", "text": "é and more"}).encode() + b"\n"
    for cut in (1, len(whole) // 2, len(whole) - 1):
        with log.run.events.open("ab") as file:
            file.write(whole[:cut])
        assert list(log.new()) == []
        with log.run.events.open("ab") as file:
            file.write(whole[cut:])
        assert [one.event.text for one in log.new() if isinstance(one.event, NoticeEvent)] == ["é and more"]


def test_what_an_older_kotef_did_not_tell_of_an_answer_or_a_tool_is_no_reason_to_pass_over_it(project: Path) -> None:
    answer = {"event": "model_answer", "visit": 1, "node": "coder", "tokens_in": 70, "tokens_out": 7, "cost": 0.0}
    finished = {**TOOL, "ok": True, "note": "", "seconds": 0.1}
    write(
        project,
        STARTED,
        {"event": "tool_started", **TOOL},
        {"event": "tool_finished", **finished},
        {**answer, "estimated": False},
    )
    shown = kotef(project, "watch").stdout
    assert "view_file a.py ✓" in shown
    (log,) = (Following(project, run) for run in store.every(project))
    doing = reduce(RunProgress.after, log.new(), RunProgress())
    assert (doing.tokens, doing.tools) == (77, ())


@pytest.mark.parametrize(
    "line",
    [
        *(b"{", b"[]", b"null", b'{"event": "no_such"}', b'{"event": "notice"}', b"[" * 100_000, b"\xff"),
        *(
            b'{"event": ["notice"]}',
            b'{"event": "notice", "text": null}',
            b'{"event": "notice", "text": "x", "t": null}',
        ),
    ],
)
def test_a_line_that_is_none_of_ours_costs_itself_alone(log: Following, line: bytes) -> None:
    good = json.dumps({"n": 2, "t": 1.0, "event": "notice", "text": "good"}).encode()
    log.run.events.write_bytes(line + b"\n" + good + b"\n")
    assert [one.event.text for one in log.new() if isinstance(one.event, NoticeEvent)] == ["good"]


def test_a_run_is_followed_from_another_process_while_it_works(project: Path) -> None:
    first = slow(calls(call("view_file", path="calc.py")), 1.5)
    agent = Agent(coder=[first, text("I give up.")])
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted", "KOTEF_SANDBOX": "off"}
        # the one process of its own interpreter: what it writes is read while it comes
        watch = subprocess.Popen(
            [sys.executable, "-m", "kotef", "watch", "--json", "--wait", "60", "--root", str(project)],
            env=os.environ | env,
            stdout=subprocess.PIPE,
            text=True,
        )
        bound = ("--max-attempts", "1", "--root", str(project))
        run = Started(["run", "make add add", "--coder", "model", "--check", CHECK, *bound], env, project.parent)
        assert watch.stdout is not None
        told, seen_while_at_work = [], set()
        for text_line in watch.stdout:
            told.append(json.loads(text_line)["state"])
            if run.is_at_work:
                seen_while_at_work.add(told[-1])
        watch.stdout.close()
        assert watch.wait(60) == run.end().returncode == 3
    at_work = ["tool_running", "streaming", "tool_running", "streaming"]
    assert told == ["verifying", "planning", *at_work, "verifying", "planning", "idle"]
    assert {"verifying", "planning", "streaming"} <= seen_while_at_work
