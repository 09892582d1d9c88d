"""What stops a visit that leads nowhere, and what an honest visit never meets."""

import json
import signal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, Agent, Ran, blind, edit, kotef, plan, write
from support.openai_server import Call, OpenAIServer, Reply, Request, call, calls, text
from support.process import kotef_process

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
GUARDS = {"mistake_recovery", "repeat", "cap_reached", "notice"}


def look(path: str, **arguments: Any) -> Reply:
    return calls(call("view_file", path=path, **arguments))


def named(ran, name: str) -> list[dict[str, Any]]:
    return [event for event in ran.events if event["event"] == name]


def where(agent: Agent, words: str) -> list[int]:
    """Which requests of the coder hold these words."""
    return [number for number, request in enumerate(agent.requests("coder")) if words in request.text]


def closings(agent: Agent) -> list[Request]:
    return [request for request in agent.requests("coder") if request.body.get("tool_choice") == "none"]


def well_formed(agent: Agent) -> bool:
    """No request ends, or holds, two assistant messages in a row; every result has its call and the reverse."""
    for request in agent.requests("coder"):
        roles = [message["role"] for message in request.messages]
        made = [one["id"] for message in request.messages for one in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in request.messages if message["role"] == "tool"]
        if ("assistant", "assistant") in pairwise(roles) or made != answered:
            return False
    return True


@pytest.fixture
def files(project: Path) -> Path:
    """The tiny project, with 40 files to look at."""
    for number in range(40):
        (project / f"n{number}.txt").write_text(f"{'x' * number}\n")
    return project


def test_two_failing_calls_in_turn_end_by_the_guard_against_mistakes(project: Path, run) -> None:
    wrong = [look("nowhere.py"), calls(blind("calc.py", "no such text", "other text"))]
    agent = Agent(coder=lambda _, number: wrong[number % 2])
    ran = run(project, agent, GOAL, *ONCE, "--json")
    said = json.loads(ran.stdout)
    assert (said["stoppedBy"], said["exitCode"]) == ("mistakes", 3)
    assert said["attempts"][0]["stoppedBy"] == "mistakes"
    assert len(agent.requests("coder")) == 6, "no model call after the stop"
    assert where(agent, "take a different approach rather than a variation") == [3], "the nudge is shown once"
    facts = [
        {name: event[name] for name in ("visit", "failure_kinds", "count", "escalated", "can_continue")}
        for event in named(ran, "mistake_recovery")
    ]
    kinds = ["exec_error"] * 3
    assert facts == [
        {"visit": 1, "failure_kinds": kinds, "count": 3, "escalated": False, "can_continue": True},
        {"visit": 1, "failure_kinds": kinds, "count": 3, "escalated": True, "can_continue": False},
    ]
    told, after = (request.messages for request in agent.requests("coder")[3:5])
    assert after[: len(told) - 1] == told[:-1], "but for the nudge the next request begins as this one"
    assert "mistake_recovery" not in "".join(request.text for request in agent.requests("coder"))
    assert well_formed(agent)


def test_a_kill_between_two_mistakes_does_not_make_them_forgotten(project: Path) -> None:
    def script(request: Request, _: int) -> Reply:
        if "PlanAnswer" in request.tools:
            return plan("fix add")
        asked.append(request)
        return look(f"no{sum(message['role'] == 'tool' for message in request.messages)}.py")

    asked: list[Request] = []
    with OpenAIServer(script) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        line = ["run", GOAL, "--coder", "model", *ONCE, "--root", str(project)]
        killed = kotef_process(line, env, project.parent, kill_at="tool_finished:2")
        assert killed.returncode == -signal.SIGKILL
        ended = kotef_process(["resume", "--last", "--root", str(project)], env, project.parent)
    assert ended.returncode == 3, ended.stderr
    ran = Ran(ended.returncode, ended.stdout, ended.stderr, project)
    assert ran.result["stoppedBy"] == "mistakes"
    results = [sum(message["role"] == "tool" for message in request.messages) for request in asked]
    assert results == [0, 1, 2, 3, 4, 5], "no model call is repeated, and six mistakes in a row are the end"
    assert ["tool calls failed (" in request.text for request in asked] == [False, False, False, True, False, False]


def test_the_console_says_each_step_of_the_recovery_in_one_line(project: Path, run) -> None:
    wrong = [look("nowhere.py"), calls(call("no_such_tool")), calls(Call("view_file", '{"path": '))]
    ran = run(project, Agent(coder=lambda _, number: wrong[number % 3]), GOAL, *ONCE)
    lines = [line.strip() for line in ran.stdout.splitlines()]
    kinds = "exec_error, tool_not_found, schema_reject"
    assert f"several calls failed in a row ({kinds}); the model was given guidance" in lines
    assert f"calls kept failing ({kinds}); the attempt was stopped" in lines


def test_a_success_between_forgives(project: Path, run) -> None:
    steps = [look("no1.py"), look("no2.py"), look("calc.py"), look("no3.py"), look("no4.py"), FIX, DONE]
    ran = run(project, Agent(coder=steps), GOAL, *ONCE)
    assert (ran.code, named(ran, "mistake_recovery")) == (0, [])


def test_the_same_call_with_the_same_result_is_warned_of_and_then_ends_the_visit(project: Path, run) -> None:
    agent = Agent(coder=lambda *_: calls(call("list_dir", path=".")))
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.result["stoppedBy"] == "doom_loop"
    assert len(agent.requests("coder")) == 6, "the warning is followed by a chance to leave the loop"
    assert where(agent, "you are repeating yourself") == [3]
    assert [event["stopped"] for event in named(ran, "repeat")] == [False, True]
    assert "list_dir: the same call with the same result, 3 times; warned, continuing" in ran.stdout


def test_a_cycle_ends_the_visit(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: look(("calc.py", "test_calc.py", ".gitignore")[number % 3]))
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.result["stoppedBy"] == "cycle"
    assert len(agent.requests("coder")) == 18


def test_the_same_content_again_and_again_ends_the_visit(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: write("notes.txt", ("one\n", "two\n")[number % 2]))
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.result["stoppedBy"] == "content_repeat"
    assert len(agent.requests("coder")) == 10


def test_looking_eight_times_without_anything_new_ends_the_visit(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: calls(call("grep", pattern="add", path="calc.py", glob=f"*{'y' * number}*")))
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.result["stoppedBy"] == "content_repeat"
    assert len(agent.requests("coder")) == 16


def test_the_step_cap_ends_with_one_summary_that_is_kept(files: Path, run) -> None:
    looks = [look(f"n{number}.txt") for number in range(4)]
    last = calls(call("write_file", path="sneaky.txt", content="x"), content="I read four files; calc.py is next.")
    agent = Agent(coder=[*looks, last])
    ran = run(files, agent, GOAL, *ONCE, "--max-steps", "4")
    assert ran.result["stoppedBy"] == "step_cap"
    assert ran.result["attempts"][0]["said"] == "I read four files; calc.py is next."
    (closing,) = closings(agent)
    assert closing.body["tools"] == agent.requests("coder")[0].body["tools"], "the schemas stay, for the sake of caches"
    assert "step limit reached" in closing.text
    assert not (files / "sneaky.txt").exists(), "a call in the closing answer is not made"
    assert [event["text"] for event in named(ran, "notice") if "ignored" in event["text"]]
    assert [(event["cap"], event["can_continue"]) for event in named(ran, "cap_reached")] == [("step_cap", False)]


def test_a_spent_tool_budget_goes_on_from_a_summary_twice(files: Path, run) -> None:
    def coder(request: Request, number: int) -> Reply:
        if request.body.get("tool_choice") == "none":
            return text(f"summary after {number}")
        return look(f"n{number}.txt")

    agent = Agent(coder=coder)
    ran = run(files, agent, GOAL, *ONCE, "--max-tool-calls", "3")
    assert (ran.code, ran.result["stoppedBy"]) == (3, "tool_budget")
    assert ran.result["attempts"][0]["said"] == "summary after 11"
    assert [event["can_continue"] for event in named(ran, "cap_reached")] == [True, True, False]
    assert len(closings(agent)) == 3
    assert len(agent.requests("coder")) == 12
    assert "tool budget exhausted: 9 tool calls" in closings(agent)[-1].text
    assert "summary after 3" in agent.requests("coder")[-1].text
    assert well_formed(agent)


def test_calls_beyond_the_tool_budget_are_not_made(files: Path, run) -> None:
    many = calls(*(call("write_file", path=f"new{number}.txt", content="x") for number in range(5)))
    ran = run(files, Agent(coder=[many, text("two of five")]), GOAL, *ONCE, "--max-tool-calls", "2", "--continues", "0")
    assert ran.result["stoppedBy"] == "tool_budget"
    assert len(named(ran, "tool_finished")) == 2
    assert "3 tool calls beyond the tool budget were not made" in [event["text"] for event in named(ran, "notice")]


def test_a_person_can_grant_one_more_and_it_goes_on_from_the_tree(files: Path, run) -> None:
    first = Agent(coder=[write("notes.txt", "half\n"), look("calc.py"), text("calc.py is next")])
    limits = ("--max-tool-calls", "2", "--continues", "0")
    stopped = run(files, first, GOAL, *ONCE, *limits)
    assert (stopped.code, stopped.result["stoppedBy"]) == (3, "tool_budget")
    assert "--continue" in named(stopped, "cap_reached")[0]["detail"]
    assert not (files / "notes.txt").exists(), "the attempt failed, its tree was undone"
    second = Agent(coder=[FIX, DONE])
    ran = run(files, second, "--last", "--continue", command="resume")
    assert (ran.code, ran.result["failureHistory"]["attempts"]) == (0, 1)
    assert (files / "notes.txt").read_text() == "half\n"
    assert "calc.py is next" in second.requests("coder")[0].text


def test_there_is_nothing_to_grant_to_a_run_that_was_not_stopped_by_a_cap(project: Path, run) -> None:
    run(project, Agent(coder=[DONE]), GOAL, *ONCE)
    refused = kotef(project, "resume", "--last", "--continue", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    assert refused.code == 2
    assert "leave --continue out" in refused.stderr


def test_a_budget_is_reserved_before_it_is_spent(files: Path, run) -> None:
    (files / "long.txt").write_text("".join(f"{'word ' * 15}{number}\n" for number in range(390)))
    agent = Agent(coder=[look("long.txt"), FIX, DONE])
    ran = run(files, agent, GOAL, *ONCE, "--max-tokens", "6000")
    assert (ran.code, ran.result["reason"]) == (4, "max_tokens")
    assert len(agent.requests("coder")) == 1, "the second request alone would have been too large"
    assert ran.result["usage"]["tokensIn"] + ran.result["usage"]["tokensOut"] < 6000


def test_a_new_visit_remembers_what_failed_in_the_one_before_and_a_resume_does(project: Path, run) -> None:
    wrong = calls(blind("calc.py", "no such text", "other text"))
    agent = Agent(coder=[look("calc.py"), wrong, DONE, wrong, DONE])
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-attempts", "2")
    assert where(agent, "## Recent Failures") == [3, 4], "not before the conversation was dropped"
    line = "- [edit_mismatch] edit_file: calc.py: edit 1 of 1: search is not found"
    assert line in agent.requests("coder")[3].text
    assert "(turn 2)" in agent.requests("coder")[3].text
    assert agent.requests("coder")[3].messages[-1]["content"].index("## Recent Failures"), "at the tail"
    later = Agent(coder=[FIX, DONE])
    assert run(project, later, "--last", "--max-attempts", "3", command="resume").code == 0
    shown = later.requests("coder")[0].text
    assert shown.count("- [edit_mismatch]") == 1, "the same failure one turn later is the one on record"
    assert (ran.run_dir / "recent.json").exists()


def test_a_command_that_ends_red_is_no_mistake_and_one_that_cannot_run_is(project: Path, run) -> None:
    red = [calls(call("run_command", command=f"echo {number}; exit 3")) for number in range(4)]
    lost = [calls(call("run_command", command=f"no-such-program-{number}")) for number in range(3)]
    agent = Agent(coder=[*red, *lost, FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 0
    assert [event["count"] for event in named(ran, "mistake_recovery")] == [3]
    assert where(agent, "tool calls failed (") == [7]


def test_sixty_sensible_steps_trip_nothing(files: Path, run) -> None:
    """Looking around, red tests between edits, an empty search, a mistake now and then: all of it is work."""
    steps = [look(f"n{number}.txt") for number in range(20)]
    steps += [calls(call("view_file", path=f"n{number}.txt", lines=1)) for number in range(31, 40)]
    steps += [calls(call("grep", pattern=f"name{number}")) for number in range(5)]
    steps += [look("calc.py"), look("test_calc.py"), look("missing.py"), look("calc.py", start=1, lines=1)]
    body = "a - b"
    for number in range(2):
        steps += [
            calls(blind("calc.py", body, f"a - b - {number}")),
            calls(call("run_command", command=CHECK)),
        ]
        body = f"a - b - {number}"
        steps += [look("calc.py")] if number % 2 else []
    steps += [
        calls(call("find_files", glob=f"n{number}*.txt"), content="Next I look for more.") for number in range(10)
    ]
    steps += [
        calls(call("list_dir")),
        calls(call("run_checks")),
        calls(blind("calc.py", "nowhere", "x")),
        look("calc.py"),
    ]
    steps += [look(f"n{number}.txt") for number in range(20, 30)]
    steps += [edit("calc.py", body, "a + b"), calls(call("run_checks")), DONE]
    assert len(steps) > 60
    agent = Agent(coder=steps)
    ran = run(files, agent, GOAL, *ONCE)
    assert ran.code == 0, ran.stdout
    assert {event["event"] for event in ran.events} & GUARDS <= {"notice"}
    assert not [event for event in named(ran, "notice") if "answer in words" in event["text"]]
    requests = agent.requests("coder")
    for earlier, later in pairwise(requests):
        assert later.messages[: len(earlier.messages)] == earlier.messages, "append only: no tail was stored or shown"


# ---- where a person reads that a visit was cut short


def test_a_person_reads_everywhere_what_cut_a_visit_short_and_how_to_go_on(files: Path, run) -> None:
    words = "calc.py is next. " + "x" * 600
    agent = Agent(coder=[look("calc.py"), look("n1.txt"), text(words)])
    ran = run(files, agent, GOAL, *ONCE, "--max-tool-calls", "2", "--continues", "0")
    cap = "tool budget exhausted: 2 tool calls in one visit (--max-tool-calls"
    (attempt,) = ran.result["attempts"]
    assert attempt["whyStopped"].startswith(cap)
    assert (len(attempt["said"]), attempt["said"][:16]) == (400, words[:16])
    go_on = f"kotef resume {ran.result['runId']} --continue"
    assert ran.result["resume"] == go_on
    report = (ran.run_dir / "report.md").read_text()
    for said in (f"\n  - stopped by: {cap}", "\n  - the coder's last words (a claim): calc.py is next.", f"`{go_on}`"):
        assert said in report
    (entry,) = ran.issues
    assert entry["resume"] == go_on
    assert entry["notes"][0].startswith(f"attempt 1 stopped by: {cap}")
    assert entry["notes"][1].startswith("attempt 1, the coder's last words (a claim): calc.py is next.")
    shown = " ".join(ran.stdout.split())
    assert f"attempt 1 stopped by: {cap}" in shown
    assert "last words (a claim): calc.py is next." in shown
    assert f"resume: {go_on}" in shown
    refused = kotef(files, "resume", "--last", "--base-url", "http://127.0.0.1:9/v1", "--model", "m")
    assert (refused.code, "or --continue" in refused.stderr) == (2, True)


def test_a_guard_is_named_without_an_offer_to_grant_more(project: Path, run) -> None:
    agent = Agent(coder=lambda *_: calls(call("list_dir", path=".")))
    ran = run(project, agent, GOAL, *ONCE)
    said = "stopped by: list_dir: the same call with the same result"
    assert said in (ran.run_dir / "report.md").read_text()
    assert said in ran.issues[0]["notes"][0]
    assert "--continue" not in ran.result["resume"]


def test_a_visit_that_ended_by_itself_is_not_said_to_be_stopped(project: Path, run) -> None:
    ran = run(project, Agent(coder=[DONE]), GOAL, *ONCE)
    assert ran.result["attempts"][0]["whyStopped"] == ""
    assert "stopped by" not in (ran.run_dir / "report.md").read_text() + str(ran.issues) + ran.stdout
