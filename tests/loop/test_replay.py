"""Does a run that is played again come to the same end, with no model, no key and no command?"""

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import HumanMessage
from support.loop import (
    BUG,
    CHECK,
    DONE,
    FIX,
    FIXED,
    UNITTEST,
    Agent,
    Ran,
    blind,
    edit,
    git,
    kotef,
    plan,
    unchanged,
    write,
)
from support.openai_server import Reply, calls, overflow, status, without_usage
from support.openai_server import call as call_of

from kotef.replay import Recorder
from kotef.replay.record_types import Declined, asked_of, read_record
from kotef.workspace import workspace_lock


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """From its call on, a command that is run or a model that is asked is a failure of the test."""

    def forbidden(*_: Any, **__: Any) -> None:
        raise AssertionError("something outside was asked")

    def forbid() -> None:
        for name in ("OPENAI_BASE_URL", "KOTEF_MODEL", "OPENAI_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr("kotef.runs.executor.run_check", forbidden)
        monkeypatch.setattr("kotef.runs.executor.run_process", forbidden)
        monkeypatch.setattr("kotef.models.openai.open_client", forbidden)
        monkeypatch.setattr("kotef.repair.coder.SearchCoder.work", forbidden)

    return forbid


def replayed(root: Path, *arguments: str) -> tuple[int, dict[str, Any]]:
    """`kotef replay --json`, with its workspace held to be as it was."""
    with unchanged(root):
        done = kotef(root, "replay", "--json", *arguments)
    return done.code, json.loads(done.stdout)


def command(line: str) -> Reply:
    """The coder runs a command."""
    return calls(call_of("run_command", command=line))


def record_of(ran: Ran) -> Path:
    return ran.run_dir / "record.jsonl"


def changed_lines(ran: Ran, change: Callable[[dict[str, Any]], dict[str, Any] | None]) -> None:
    """The record with each line as `change` makes it; None leaves it out."""
    lines = [change(json.loads(line)) for line in record_of(ran).read_text().splitlines()]
    record_of(ran).write_text("".join(f"{json.dumps(line)}\n" for line in lines if line is not None))


def test_a_verified_run_is_verified_again_with_what_its_commands_wrote(
    project: Path, run: Any, alone: Callable[[], None]
) -> None:
    look = command("echo made > made.txt; cat made.txt")
    done = run(project, Agent([look, FIX, DONE]), "make add right", "--check", CHECK)
    assert done.code == 0
    alone()
    code, found = replayed(project)
    assert code == 0
    assert found["same"]
    assert found["now"]["outcome"] == "verified"
    assert found["divergences"] == []
    assert found["then"] == found["now"], "failures and trees are the same, byte for byte"
    assert len(found["now"]["trees"]) == 2


def test_a_run_that_failed_three_times_fails_so_again(project: Path, run: Any, alone: Callable[[], None]) -> None:
    attempts = [
        edit("calc.py", "a - b", "a * b"),
        DONE,
        edit("calc.py", "a * b", "a / b"),
        DONE,
        command("sed -i s,a./.b,b,  calc.py"),
        DONE,
    ]
    done = run(project, Agent(attempts), "make add right", "--check", CHECK)
    assert done.result["outcome"] == "bounded_attempts_exceeded"
    alone()
    code, found = replayed(project)
    assert code == 0
    assert found["divergences"] == []
    assert found["now"]["attempts"] == 3
    assert len(set(found["now"]["trees"])) == 4
    assert len(found["now"]["failures"]) == 4


def test_coders_without_a_model_are_played_too(unittest_project: Path, run: Any, alone: Callable[[], None]) -> None:
    done = run(unittest_project, Agent(), "--check", UNITTEST, "--coder", "fixers,search")
    assert done.result["winner"] == "search"
    alone()
    code, found = replayed(unittest_project)
    assert code == 0
    assert found["now"]["trees"] == found["then"]["trees"]


def test_a_person_sees_the_run_and_the_verdict_on_it(project: Path, run: Any) -> None:
    run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    done = kotef(project, "replay")
    assert "↳ edit_file calc.py ✓" in done.stdout
    assert "the same result: verified after 0 failed attempts" in done.stdout


def test_an_endpoint_that_failed_fails_again(project: Path, run: Any, alone: Callable[[], None]) -> None:
    done = run(project, Agent([status(401, "no such key")]), "make add right", "--check", CHECK)
    assert done.result["outcome"] == "model_unavailable"
    alone()
    code, found = replayed(project)
    assert code == 0
    assert found["then"] == found["now"]


def test_a_conversation_that_was_too_long_is_compacted_again(
    project: Path, run: Any, alone: Callable[[], None]
) -> None:
    for number in range(6):
        (project / f"n{number}.txt").write_text("".join(f"{number} line {line} {'x' * 60}\n" for line in range(165)))
    looks = [calls(call_of("view_file", path=f"n{number}.txt")) for number in range(6)]
    script = [*map(without_usage, looks), overflow("llama.cpp"), without_usage(FIX), DONE]
    done = run(project, Agent(script), "make add right", "--check", CHECK)
    assert done.code == 0
    assert [event for event in done.events if event["event"] == "compacted"]
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])


def test_a_request_that_is_not_as_recorded_is_named_with_visit_and_call(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)

    def other(line: dict[str, Any]) -> dict[str, Any]:
        if line["kind"] == "answer" and (line["node"], line["call"]) == ("coder", 2):
            line["request"][-1][1] = "0" * 16
        return line

    changed_lines(done, other)
    code, found = replayed(project)
    assert code == 0, "the ending is the same"
    assert [one["visit"] for one in found["divergences"]] == [1]
    assert "call 2 of the coder: message" in found["divergences"][0]["what"]


def test_a_call_that_was_never_recorded_ends_the_replay(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    changed_lines(done, lambda line: None if line["kind"] == "answer" and line["node"] == "coder" else line)
    code, found = replayed(project)
    assert code == 3
    assert found["divergences"][0]["what"] == "call 1 of the coder in visit 1 was never recorded"
    shown = kotef(project, "replay")
    assert shown.code == 3
    assert "not as recorded: visit 1, call 1 of the coder in visit 1 was never recorded" in shown.stdout
    assert "a different result: verified" in shown.stdout


def test_a_command_that_was_never_recorded_is_not_run(project: Path, run: Any, alone: Callable[[], None]) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    changed_lines(done, lambda line: None if line["kind"] == "command" and line["visit"] == 1 else line)
    alone()
    code, found = replayed(project)
    assert code == 3
    assert f"the command `{CHECK}` (visit-1-{CHECK}) in visit 1" in found["divergences"][0]["what"]


def test_an_answer_that_is_changed_comes_to_another_end(project: Path, run: Any) -> None:
    done = run(
        project, Agent([write("calc.py", FIXED.replace("+", "*")), DONE]), "x", "--check", CHECK, "--max-attempts", "1"
    )
    assert done.code == 3

    def blocked(line: dict[str, Any]) -> dict[str, Any]:
        if line["kind"] == "answer" and line["node"] == "planner":
            line["message"]["tool_calls"][0]["args"]["blocked"] = "a person must say"
        return line

    changed_lines(done, blocked)
    code, found = replayed(project)
    assert code == 3
    assert "outcome: bounded_attempts_exceeded → blocked" in found["differences"]


def test_a_baseline_that_was_taken_over_is_taken_over_again(project: Path, run: Any, alone: Callable[[], None]) -> None:
    arguments = ("make add right", "--check", CHECK, "--max-attempts", "1")
    run(project, Agent([edit("calc.py", "a - b", "a * b"), DONE]), *arguments)
    again = run(project, Agent([FIX, DONE]), *arguments)
    assert [event for event in again.events if event["event"] == "baseline_reused"]
    alone()
    assert replayed(project)[0] == 0


def test_into_leaves_the_copy_and_only_there(project: Path, run: Any, tmp_path: Path) -> None:
    run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    (project / "calc.py").write_text("# somebody went on\n")
    place = tmp_path / "again"
    code, found = replayed(project, "--into", str(place))
    assert code == 0
    assert (place / "calc.py").read_text() == FIXED
    assert found["into"] == str(place)
    full = kotef(project, "replay", "--into", str(place))
    assert full.code == 2
    assert "not empty" in full.stderr


def test_nothing_is_left_without_it(project: Path, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    states = lambda: sorted(Path.home().glob("state/kotef/*"))  # noqa: E731
    before = states()
    assert kotef(project, "replay").code == 0
    assert list((tmp_path / "temporary").iterdir()) == []
    assert states() == before


def test_a_run_of_an_earlier_kotef_has_no_record(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    record_of(done).unlink()
    said = kotef(project, "replay", "--json")
    assert said.code == 2
    assert "has no record to replay" in json.loads(said.stdout)["error"]


def test_a_run_that_is_still_at_work_is_not_compared_with_what_it_will_be(project: Path, run: Any) -> None:
    ran = run(project, Agent(coder=[FIX, DONE]), "make add add", "--check", CHECK)
    with workspace_lock(project, ran.run_dir.name):
        played = kotef(project, "replay")
    assert (played.code, f"run {ran.run_dir.name} (pid" in played.stderr) == (2, True)


def test_a_run_whose_snapshot_is_gone_cannot_be_played(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    for store in Path.home().glob("state/kotef/*/store.git"):
        store.rename(store.with_name("elsewhere.git"))
    said = kotef(project, "replay")
    assert (said.code, done.code) == (2, 0)
    assert "the state before this run is gone" in said.stderr


def test_a_torn_record_is_played_up_to_the_tear(project: Path, run: Any) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    with record_of(done).open("a") as file:
        file.write('{"kind":"answer","vis')
    code, found = replayed(project)
    assert code == 0
    assert found["notices"] == ["1 line of the record cannot be read"]


@pytest.mark.examples(1)
@pytest.mark.parametrize("damage", ['{"visit": 1, "pas', "{}", "[]", "\udcff"])
def test_a_visit_whose_verdict_cannot_be_read_is_named_and_not_compared(project: Path, run: Any, damage: str) -> None:
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    (done.run_dir / "visit-1.json").write_bytes(damage.encode("utf-8", "surrogateescape"))
    code, found = replayed(project)
    assert (code, found["differences"]) == (0, [])
    assert found["notices"] == ["the verdict on visit 1 cannot be read; it is not compared"]
    assert len(found["then"]["trees"]) == len(found["now"]["trees"]) == 1


def test_a_record_is_its_owners_alone_and_holds_no_secret(
    project: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = "sk-" + "planted4711" * 2
    monkeypatch.setenv("OPENAI_API_KEY", secret)
    (project / "note.txt").write_text(f"{secret}\n")
    script = [command("cat note.txt"), calls(call_of("view_file", path="note.txt")), FIX, DONE]
    done = run(project, Agent(script), "make add right", "--check", CHECK)
    assert stat.S_IMODE(record_of(done).stat().st_mode) == 0o600
    assert secret not in record_of(done).read_text()
    assert "[secret:OPENAI_API_KEY]" in record_of(done).read_text()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])


def test_a_record_that_is_full_says_so_and_the_run_goes_on(
    project: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kotef.replay.recorder.LARGEST", 3_000)
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK)
    assert done.code == 0
    lines, _ = read_record(record_of(done))
    assert lines[-1].kind == "full"
    assert record_of(done).stat().st_size < 3_200
    code, found = replayed(project)
    assert code == 3
    assert "the record is incomplete: it reached its size limit" in found["notices"]


def test_what_is_outside_of_the_files_is_heard_not_asked(project: Path, run: Any, alone: Callable[[], None]) -> None:
    waits = calls(call_of("run_command", command="echo beside; sleep 5", background=True))
    reads = calls(call_of("read_output", handle="bg_1_1"))
    script = [calls(call_of("git_status")), waits, reads, FIX, DONE]
    done = run(project, Agent(script), "make add right", "--check", CHECK)
    assert done.code == 0
    (project / ".git" / "HEAD").write_text("ref: refs/heads/another\n")
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])


def test_a_run_that_was_ended_from_outside_is_compared_up_to_there(project: Path, run: Any) -> None:
    attempts = [edit("calc.py", "a - b", "a * b"), DONE, calls(blind("calc.py", "a * b", "a + b")), DONE]
    done = run(project, Agent(attempts, planner=[plan("one"), plan("two")]), "make add right", "--check", CHECK)
    changed_lines(done, lambda line: None if line["kind"] == "answer" and line["visit"] == 2 else line)
    (done.run_dir / "result.json").unlink()
    for path in done.run_dir.glob("visit-2*"):
        path.unlink()
    code, found = replayed(project)
    assert code == 0
    assert found["endedFromOutside"]
    assert found["then"]["outcome"] == "killed"
    assert found["now"]["attempts"] == 1


def test_the_workspace_may_have_been_dirty_and_have_files_git_ignores(
    project: Path, run: Any, alone: Callable[[], None]
) -> None:
    (project / "calc.py").write_text(BUG + "\n\ndef more():\n    return 1\n")
    (project / ".gitignore").write_text("__pycache__/\nlocal.txt\n*.log\n")
    (project / "local.txt").write_text("only here\n")
    script = [calls(call_of("view_file", path="local.txt")), FIX, DONE]
    done = run(project, Agent(script), "make add right", "--check", CHECK)
    assert done.code == 0
    (project / "local.txt").unlink()
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])


def test_what_a_worktree_ignores_by_the_list_of_its_repository_is_ignored_in_the_copy(
    project: Path, run: Any, alone: Callable[[], None], tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    git(project, "worktree", "add", "-q", str(tree))
    (project / ".git" / "info" / "exclude").write_text("made.txt\n")
    done = run(tree, Agent([command("echo made > made.txt"), FIX, DONE]), "make add right", "--check", CHECK)
    assert done.code == 0
    alone()
    kotef(tree, "replay", "--into", str(tmp_path / "again"))
    assert (tmp_path / "again" / ".git" / "info" / "exclude").read_text() == "made.txt\n"


def test_a_record_that_was_full_stays_so_when_the_run_goes_on(
    unittest_project: Path, run: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kotef.replay.recorder.LARGEST", 3_000)
    done = run(unittest_project, Agent([DONE]), "make add right", "--check", UNITTEST, "--max-attempts", "1")
    before = record_of(done).read_bytes()
    assert b'"kind":"full"' in before
    monkeypatch.setattr("kotef.replay.recorder.LARGEST", 100_000)
    kotef(unittest_project, "resume", "--last", "--max-attempts", "2")
    assert record_of(done).read_bytes() == before


def test_the_size_of_a_record_is_counted_in_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kotef.replay.recorder.LARGEST", 1_000)
    recorder = Recorder(tmp_path / "record.jsonl", tmp_path)
    while recorder.write(Declined(visit=1, coder="ё" * 100, why="")):
        pass
    assert recorder.path.stat().st_size < 1_100


@pytest.mark.parametrize("name", ["plain", 'quo"ted', "back\\slash"])
def test_a_request_says_the_same_wherever_the_workspace_lies(name: str) -> None:
    here, there = (
        asked_of([HumanMessage(f"look into /{place}/{name}/calc.py")], [], f"/{place}/{name}") for place in ("a", "b")
    )
    assert here == there


def test_a_program_as_the_coder_is_not_started_again(
    project: Path, alone: Callable[[], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "bin" / "agent"
    program.parent.mkdir()
    code = "if os.path.exists('once'):\n    open('calc.py', 'w').write('def add(a, b):\\n    return a + b\\n')"
    program.write_text(f"#!{sys.executable}\nimport os\n{code}\nopen('once', 'w').write('x\\n')\nprint('I looked.')\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    done = kotef(project, "run", "make add right", "--check", CHECK, "--coder", "fixers,agent {brief}")
    assert (done.code, done.result["winner"], done.result["visits"]) == (0, "command", 2)
    program.unlink()
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])
    assert (found["now"]["attempts"], found["now"]["trees"]) == (1, found["then"]["trees"])


def test_what_a_person_approved_and_allowed_is_not_asked_again(
    project: Path, run: Any, alone: Callable[[], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    async def edited(*_: Any) -> tuple[str, ...]:
        asked.append("plan")
        return ("look first", "fix add")

    async def once(*_: Any) -> str:
        asked.append("command")
        return "once"

    monkeypatch.setattr("kotef.cli.interactive.is_attended", lambda _: True)
    monkeypatch.setattr("kotef.cli.screen.Screen.approve", edited)
    monkeypatch.setattr("kotef.cli.screen.Screen.permit", once)
    install = command("pip install --no-index nothing-at-all")
    done = run(project, Agent([install, FIX, DONE]), "make add right", "--check", CHECK, "-i")
    assert (done.code, asked) == (0, ["plan", "command"])
    assert done.result["attempts"][0]["steps"] == ["look first", "fix add"]
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"], asked) == (0, [], ["plan", "command"])


def test_who_quits_at_the_plan_quits_there_again(project: Path, run: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    async def no(*_: Any) -> None:
        return None

    monkeypatch.setattr("kotef.cli.interactive.is_attended", lambda _: True)
    monkeypatch.setattr("kotef.cli.screen.Screen.approve", no)
    done = run(project, Agent([FIX, DONE]), "make add right", "--check", CHECK, "-i")
    assert done.result["reason"] == "quit"
    code, found = replayed(project)
    assert (code, found["endedFromOutside"], found["divergences"]) == (0, True, [])
    assert found["now"]["reason"] == "quit"


def test_calls_of_one_answer_are_played_in_the_order_they_had(
    project: Path, run: Any, alone: Callable[[], None]
) -> None:
    slow = call_of("run_command", command="sleep 0.2; cat calc.py; echo made > made.txt")
    edits = call_of("edit_file", path="calc.py", edits=[{"search": "a - b", "replace": "a + b"}])
    look = call_of("view_file", path="calc.py")
    turn = calls(look, slow, edits, call_of("view_file", path="made.txt"), call_of("grep", pattern="return"))
    done = run(project, Agent([turn, DONE]), "make add right", "--check", CHECK)
    assert done.code == 0
    alone()
    code, found = replayed(project)
    assert (code, found["divergences"]) == (0, [])
