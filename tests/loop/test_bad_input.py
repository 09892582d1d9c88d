"""Bad input ends with its exit status and one clear line, and nothing of the user's is lost."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, PYTEST, Agent, Ran, contents, edit, git, kotef, unchanged, write
from support.openai_server import (
    Call,
    OpenAIServer,
    call,
    calls,
    closed,
    cut,
    empty,
    html,
    overflow,
    rate_limited,
    status,
    text,
    whole,
)

from kotef.sandbox import process

GOAL = "make add add"


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits between retries are real, only shorter."""
    from kotef.models.openai import StrictChatOpenAI

    monkeypatch.setattr(StrictChatOpenAI.model_fields["retry_base"], "default", 0.01)
    StrictChatOpenAI.model_rebuild(force=True)


def one_line_error(ran: Ran) -> str:
    """The one line on stderr."""
    lines = [line for line in ran.stderr.splitlines() if line.startswith("kotef: error:")]
    assert len(lines) == 1, ran.stderr
    return lines[0]


# ---- the repository


def test_without_git_it_works_and_says_so(project: Path, run) -> None:
    subprocess.run(["rm", "-rf", str(project / ".git")], check=True)
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK)
    assert (ran.code, ran.result["changed"]) == (0, ["calc.py"])
    assert "not a git repository" in ran.stdout


def test_a_detached_head_stays_where_it_is(project: Path, run) -> None:
    git(project, "checkout", "-q", "--detach")
    before = git(project, "rev-parse", "HEAD")
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK)
    assert ran.code == 0
    assert "HEAD is detached" in ran.stdout
    assert git(project, "rev-parse", "HEAD") == before
    assert git(project, "status", "--porcelain", "-b").startswith("## HEAD (no branch)")


def test_uncommitted_work_is_worked_with_and_kept(project: Path, run) -> None:
    (project / "mine.txt").write_text("uncommitted\n")
    with unchanged(project, "calc.py"):
        ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK)
    assert ran.code == 0
    assert "uncommitted work" in ran.stdout
    assert ran.result["changed"] == ["calc.py"]


def test_a_root_that_is_not_there(tmp_path: Path) -> None:
    ran = kotef(tmp_path / "nowhere", "run", GOAL)
    assert ran.code == 2
    assert "no such directory" in one_line_error(ran)


# ---- the spec


def test_sdd_that_is_a_file(project: Path, run) -> None:
    (project / ".sdd").write_text("oops\n")
    ran = run(project, Agent(), GOAL, "--check", CHECK)
    assert ran.code == 2
    assert ".sdd" in one_line_error(ran)
    assert (project / ".sdd").read_text() == "oops\n"


def test_a_broken_page_of_the_spec_is_named_and_does_not_stop_the_run(project: Path, run) -> None:
    (project / ".sdd").mkdir()
    (project / ".sdd" / "project.md").write_bytes(b"\xff\xfe\x00 not text \xff")
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK)
    assert ran.code == 0
    assert ".sdd/project.md:1:" in ran.stdout


def test_broken_settings_are_named_with_the_line(project: Path, run) -> None:
    (project / ".sdd").mkdir()
    (project / ".sdd" / "kotef.toml").write_text('checks = [\n"pytest"\noops\n')
    ran = run(project, Agent(), GOAL)
    assert ran.code == 2
    assert "kotef.toml" in one_line_error(ran)
    assert "line 3" in ran.stderr or ":3" in ran.stderr


def test_an_unknown_ticket_names_those_that_are_there(project: Path, run) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "07-speed.md").write_text("# Ticket: 07 Speed\n")
    ran = run(project, Agent(), "--ticket", "99")
    assert ran.code == 2
    assert "07" in one_line_error(ran)


def test_an_open_dependency_is_named_and_can_be_ignored(project: Path, run) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "01-first.md").write_text("# Ticket: 01 First\n")
    (tickets / "02-second.md").write_text(f"# Ticket: 02 Second\n\nDependencies: 01\n\n## Tests\n\n```\n{CHECK}\n```\n")
    ran = run(project, Agent(), "--ticket", "2")
    assert ran.code == 2
    assert "depends on 01" in one_line_error(ran)
    assert "--ignore-dependencies" in one_line_error(ran)
    assert run(project, Agent(coder=[FIX, DONE]), "--ticket", "2", "--ignore-dependencies").code == 0


def test_a_ticket_without_checks_uses_those_that_are_found(project: Path, run) -> None:
    tickets = project / ".sdd" / "backlog" / "tickets" / "open"
    tickets.mkdir(parents=True)
    (tickets / "01-add.md").write_text("# Ticket: 01 Make add add\n")
    (project / ".sdd" / "kotef.toml").write_text(f'checks = ["{CHECK}"]\n')
    ran = run(project, Agent(coder=[FIX, DONE]), "--ticket", "01-add")
    assert (ran.code, [check["command"] for check in ran.result["checks"]]) == (0, [CHECK])


# ---- the checks


def test_a_check_command_that_does_not_exist_ends_before_any_model_call(project: Path, run) -> None:
    with unchanged(project):
        ran = run(project, Agent(), GOAL, "--check", "pytestt -q")
    assert (ran.code, ran.result["reason"]) == (5, "command_not_found")
    assert ran.server.calls == 0
    assert "pytestt" in ran.issues[0]["follow_up"]


def test_a_check_that_hangs_is_stopped_with_the_run(project: Path, run) -> None:
    late = replace(DONE, delay=60.0)  # a quick machine has time left to ask the model
    ran = run(project, Agent(coder=[late]), GOAL, "--check", "sleep 300", "--max-time", "1.5")
    assert (ran.code, ran.result["reason"]) == (4, "max_time")
    assert "--max-time" in ran.result["sentence"]
    assert ran.result["usage"]["seconds"] < 60


def test_a_check_that_reads_its_input_gets_none(project: Path, run) -> None:
    ran = run(project, Agent(coder=[DONE] * 3), GOAL, "--check", "python -c 'input()'")
    assert ran.code == 3
    assert "EOF" in str(ran.result["failureHistory"]["entries"])


def test_a_check_that_prints_without_end_is_capped_and_says_so(
    project: Path, run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(process.run_process.__kwdefaults__, "log_cap", 1_000_000)
    endless = f"yes '{'one line of many ' * 8}' | head -c 12000000"
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", f"{endless}; {CHECK}")
    assert ran.code == 0
    logs = sorted((ran.run_dir / "logs").glob("*.log"))
    assert max(log.stat().st_size for log in logs) < 1_200_000
    assert any(b"cut" in log.read_bytes()[-300:] or b"cap" in log.read_bytes()[-300:] for log in logs)


def test_a_check_that_kills_its_parent_and_daemonises_ends_and_leaves_nobody(project: Path, run) -> None:
    rude = project / "rude.sh"
    rude.write_text("setsid sh -c 'trap \"\" TERM; sleep 271' & kill -9 $PPID; exit 1\n")
    ran = run(project, Agent(coder=[DONE] * 3), GOAL, "--check", "sh rude.sh")
    assert ran.code == 3
    assert "sleep 271" not in subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout


# ---- the endpoint

ENDPOINTS = {
    "401": (status(401, "Incorrect API key"), "unauthorized"),
    "429": (rate_limited(0), "rate_limited"),
    "500": (status(500), "server_error"),
    "html": (html(), "nonsense"),  # code makes the plan, and the coder gets the same answer
    "empty": (empty(), "nonsense"),
    "dropped": (closed(), "truncated"),
    "truncated": (cut(text("half an answer that never ends"), 2), "truncated"),
}


@pytest.mark.examples(3)
@pytest.mark.parametrize("kind", ENDPOINTS)
def test_an_endpoint_of_no_use_ends_the_run_and_names_the_fault(project: Path, run, kind: str) -> None:
    reply, fault = ENDPOINTS[kind]
    with unchanged(project):
        ran = run(project, lambda _, __: reply, GOAL, "--check", CHECK)
    assert (ran.code, ran.result["outcome"], ran.result["reason"]) == (7, "model_unavailable", fault)
    assert ran.result["failureHistory"]["attempts"] == 0, "no attempt was made"
    assert ran.result["resume"].startswith("kotef resume")
    assert len(ran.issues) == 1


def test_an_endpoint_that_is_down(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--model", "any", "--coder", "model")
    assert (ran.code, ran.result["outcome"]) == (7, "model_unavailable")
    assert "127.0.0.1:9" in ran.result["sentence"]
    assert "stopped by: " not in ran.stdout, "the first line of the ending has said it"


def test_no_endpoint_at_all_is_a_usage_error_with_the_way_out(project: Path) -> None:
    ran = kotef(project, "run", GOAL, "--check", CHECK, "--coder", "model")
    assert ran.code == 2
    assert "OPENAI_BASE_URL" in one_line_error(ran)
    assert not (project / ".sdd").exists()


def test_a_busy_endpoint_is_waited_for(project: Path, run) -> None:
    agent = Agent(coder=[FIX, DONE])
    refused: list[int] = []

    def script(request, n):
        if n in (0, 2):
            refused.append(n)
            return rate_limited(0) if n else status(503)
        return agent(request, n)

    ran = run(project, script, GOAL, "--check", CHECK)
    assert ran.code == 0
    assert len(refused) == 2
    assert [event["event"] for event in ran.events].count("model_retry") == 2


def test_the_endpoint_fails_in_the_middle_of_a_visit(project: Path, run) -> None:
    """What was edited before is judged; it is an attempt, and the ending says why it stopped."""
    agent = Agent(coder=[write("half.txt", "x\n"), status(401)])
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert (ran.code, ran.result["outcome"]) == (7, "model_unavailable")
    assert ran.result["failureHistory"]["attempts"] == 1


def test_a_resume_after_a_dead_endpoint_goes_on(project: Path, run) -> None:
    assert run(project, lambda _, __: status(401), GOAL, "--check", CHECK).code == 7
    ran = run(project, Agent(coder=[FIX, DONE]), "--last", command="resume")
    assert ran.code == 0
    assert [(entry["state"], entry["outcome"]) for entry in ran.issues] == [("resolved", "verified")]


def test_malformed_arguments_are_answered_and_not_executed(project: Path, run) -> None:
    broken = calls(Call("write_file", '{"path": "x.txt", "content": "half'))
    agent = Agent(coder=[broken, FIX, DONE])
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert ran.code == 0
    assert not (project / "x.txt").exists()
    assert "could not be read" in agent.requests("coder")[1].text


def test_a_call_cut_by_the_output_limit_is_not_executed(project: Path, run) -> None:
    from dataclasses import replace

    half = replace(calls(Call("write_file", '{"path": "x.txt", "content": "half"}')), finish_reason="length")
    agent = Agent(coder=[half, FIX, DONE])
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert ran.code == 0
    assert not (project / "x.txt").exists()


def test_an_unknown_tool_is_answered_with_those_that_exist(project: Path, run) -> None:
    agent = Agent(coder=[calls(call("delete_everything", path="/")), FIX, DONE])
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert ran.code == 0
    assert "edit_file" in agent.requests("coder")[1].messages[-1]["content"]


def test_tool_calls_written_as_text_are_read(project: Path, run) -> None:
    said = text(
        '<tool_call>{"name": "edit_file", "arguments": {"path": "calc.py", "edits": '
        '[{"search": "a - b", "replace": "a + b"}]}}</tool_call>'
    )
    agent = Agent(coder=[calls(call("view_file", path="calc.py")), said, DONE])
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert (ran.code, ran.result["changed"]) == (0, ["calc.py"])


def test_an_answer_without_stream_and_usage_is_good_enough(project: Path, run) -> None:
    from support.openai_server import without_usage

    plain = [whole(without_usage(reply)) for reply in (FIX, DONE)]
    ran = run(project, Agent(coder=plain), GOAL, "--check", CHECK)
    assert ran.code == 0
    assert ran.result["usage"]["estimated"] is True
    assert ran.result["usage"]["tokensIn"] > 0


@pytest.mark.examples(1)
@pytest.mark.parametrize("server", ["openai", "vllm", "llama.cpp", "ollama"])
def test_a_conversation_that_is_too_long_ends_the_visit_and_says_so(project: Path, run, server: str) -> None:
    ran = run(project, Agent(coder=[overflow(server)]), GOAL, "--check", CHECK)
    assert (ran.code, ran.result["outcome"]) == (7, "model_unavailable")
    assert "context" in ran.result["sentence"]


# ---- budgets


def test_tokens_are_bounded(project: Path, run) -> None:
    agent = Agent(coder=[write(f"{n}.txt", "x\n") for n in range(50)])
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-tokens", "600")
    assert (ran.code, ran.result["reason"]) == (4, "max_tokens")
    assert "of 600 tokens" in ran.result["sentence"]
    assert agent.asked["coder"] <= 5


def test_calls_are_bounded_and_a_resume_needs_a_larger_limit(project: Path, run) -> None:
    agent = Agent(coder=[write(f"{n}.txt", "x\n") for n in range(50)])
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-calls", "4")
    assert (ran.code, ran.result["reason"], ran.server.calls) == (4, "max_calls", 4)
    again = run(project, Agent(), "--last", command="resume")
    assert again.code == 2
    assert "raise that limit" in one_line_error(again)
    more = run(project, Agent(coder=[FIX, DONE]), "--last", "--max-calls", "20", command="resume")
    assert more.code == 0


def test_a_money_limit_needs_a_price(project: Path, run) -> None:
    ran = run(project, Agent(), GOAL, "--check", CHECK, "--max-cost", "1")
    assert ran.code == 2
    assert "price of scripted" in one_line_error(ran)


def test_money_is_bounded(project: Path, run) -> None:
    config = Path(os.environ["XDG_CONFIG_HOME"]) / "kotef" / "config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[prices."scripted"]\ninput = 1000.0\noutput = 1000.0\n')
    agent = Agent(coder=[write(f"{n}.txt", "x\n") for n in range(50)])
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-cost", "0.5")
    assert (ran.code, ran.result["reason"]) == (4, "max_cost")
    assert 0.4 <= ran.result["usage"]["cost"] <= 0.5, "the next request was not paid for"


# ---- the disk, and others at work


def _mounted(*arguments: str) -> bool:
    return subprocess.run(["mount", *arguments], capture_output=True, check=False).returncode == 0


def test_a_full_disk_is_named_and_loses_nothing(tmp_path: Path, run) -> None:
    root = tmp_path / "small"
    root.mkdir()
    if not _mounted("-t", "tmpfs", "-o", "size=2m", "tmpfs", str(root)):
        pytest.skip("needs the right to mount a tmpfs")
    try:
        (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
        before = contents(root)
        agent = Agent(coder=[calls(call("run_command", command="cat /dev/zero > fill")), FIX, DONE] * 3)
        ran = run(root, agent, GOAL, "--check", "python -c 'import calc; assert calc.add(1, 1) == 2'")
        assert ran.code == 5
        assert (root / "calc.py").read_bytes() == before["calc.py"]
        assert "no space" in (ran.stdout + ran.stderr).lower() or "disk" in (ran.stdout + ran.stderr).lower()
        assert len(ran.issues) == 1 or "issue entry" in ran.stderr
    finally:
        subprocess.run(["umount", "-l", str(root)], check=False)


def test_a_write_that_finds_the_disk_full_ends_the_run(project: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault of section 5, faked at the one place where files are written."""
    from kotef.errors import NoSpaceError
    from kotef.tools import files as files_tool

    def full(path: Path, *_: object, **__: object) -> None:
        raise NoSpaceError(path)

    monkeypatch.setattr(files_tool, "write_atomic", full)
    with unchanged(project):
        ran = run(project, Agent(coder=[write("a.txt", "a\n")]), GOAL, "--check", CHECK)
    assert (ran.code, ran.result["reason"]) == (5, "no_space")
    assert len(ran.issues) == 1


def test_a_report_that_finds_no_room_costs_no_result(project: Path, run, monkeypatch: pytest.MonkeyPatch) -> None:
    from kotef.errors import NoSpaceError
    from kotef.runs import finish

    def full(path: Path, *_: object, **__: object) -> None:
        raise NoSpaceError(path)

    monkeypatch.setattr(finish, "write_atomic", full)
    ran = run(project, Agent(coder=[FIX, DONE]), GOAL, "--check", CHECK)

    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert not (ran.run_dir / "report.md").exists()


def test_a_sdd_that_cannot_be_written_is_named(project: Path, run) -> None:
    sdd = project / ".sdd"
    sdd.mkdir()
    if os.geteuid() == 0:
        if not (_mounted("--bind", str(sdd), str(sdd)) and _mounted("-o", "remount,ro,bind", str(sdd))):
            pytest.skip("needs the right to mount, as root")
    else:
        sdd.chmod(0o555)
    try:
        with unchanged(project):
            ran = run(project, Agent(), GOAL, "--check", CHECK)
        assert ran.code == 5
        assert ".sdd/runs" in one_line_error(ran)
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", "-l", str(sdd)], check=False)
        else:
            sdd.chmod(0o755)


def test_a_second_run_in_one_workspace_is_refused_with_pid_and_run(project: Path, run) -> None:
    holder = f"""
import sys, time
from pathlib import Path
from kotef.sandbox import process
from kotef.workspace import workspace_lock
with workspace_lock(Path({str(project)!r}), "20260101-000000-abcd"):
    print("held", flush=True)
    time.sleep(60)
"""
    with subprocess.Popen([sys.executable, "-c", holder], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "held\n"
        with unchanged(project):
            ran = run(project, Agent(), GOAL, "--check", CHECK)
        other.kill()
    assert ran.code == 2
    assert "20260101-000000-abcd" in one_line_error(ran)
    assert str(other.pid) in one_line_error(ran)
    assert not (project / ".sdd").exists(), "nothing was run, so nothing is kept"


def test_a_persons_edit_during_the_run_survives(project: Path, run) -> None:
    """Somebody types into a file while the coder works elsewhere; the run fails and puts back only its own."""
    agent = Agent(coder=[])
    other = project / "other.py"
    other.write_text("before\n")

    def script(request, n):
        if "PlanAnswer" in request.tools:
            return agent(request, n)
        other.write_text("typed by a person\n")
        return edit("calc.py", "a - b", "a * b") if request.messages[-1]["role"] == "user" else DONE

    ran = run(project, script, GOAL, "--check", CHECK, "--max-attempts", "1")
    assert ran.code == 3
    assert other.read_text() == "typed by a person\n"


def test_json_prints_one_object_and_nothing_else(unittest_project: Path, run) -> None:
    import json

    import jsonschema

    ran = run(unittest_project, Agent(coder=[FIX, DONE]), GOAL, "--check", f"{PYTEST} test_calc.py", "--json")
    printed = json.loads(ran.stdout)
    assert printed == ran.result
    jsonschema.validate(printed, json.loads(kotef_schema()))
    with OpenAIServer([]) as server:
        assert server.calls == 0


def kotef_schema() -> str:
    """What `kotef schema result` prints."""
    return subprocess.run(
        [sys.executable, "-m", "kotef", "schema", "result"], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize("arguments", [["mend \udcff"], ["mend", "--check", "cat \udcff"]])
def test_words_that_are_no_utf_8_are_a_usage_error(project: Path, arguments: list[str]) -> None:
    ran = kotef(project, "run", *arguments)
    assert ran.code == 2
    assert (
        ran.stderr
        == "kotef: error: the goal, the ticket or a check contains bytes that are not UTF-8 (write it again)\n"
    )
    assert not list((project / ".sdd").glob("runs/2*"))
