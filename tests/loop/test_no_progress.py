"""A visit that leads nowhere ends, and is an attempt; one that only takes long goes on."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.loop import CHECK, DONE, FIX, Agent, Ran, blind
from support.openai_server import Reply, Request, call, calls

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")


def named(ran: Ran) -> list[dict[str, Any]]:
    return [event for event in ran.events if event["event"] == "no_progress"]


def edited(number: int, old: str, new: str) -> Reply:
    """The first edit needs a look."""
    looks = [call("view_file", path="calc.py")] if not number else []
    return calls(*looks, blind("calc.py", old, new))


@pytest.fixture
def wide(project: Path) -> Path:
    """The tiny project with 135 files to look at, one of them with lines enough to be read again and again."""
    (project / "pages").mkdir()
    for number in range(135):
        lines = "".join(f"{number} {line} {'x' * (line % 7)}\n" for line in range(60 if number == 7 else 10))
        (project / "pages" / f"n{number}.txt").write_text(lines)
    return project


def ends(ran: Ran, agent: Agent, *, most: int) -> None:
    """It ended as an attempt, after one nudge, and says so wherever a person reads."""
    assert (ran.code, ran.result["stoppedBy"]) == (3, "no_progress"), ran.stdout
    assert ran.result["failureHistory"]["attempts"] == 1
    assert len(agent.requests("coder")) <= most
    assert [event["stopped"] for event in named(ran)] == [False, True]
    nudged = [number for number, request in enumerate(agent.requests("coder")) if "Notice: no progress" in request.text]
    assert len(nudged) == 1, "the nudge is in one request, and names it"
    assert "no progress: " in ran.stdout
    assert ran.result["attempts"][0]["whyStopped"].endswith("after a nudge")
    assert "attempt 1 stopped by" in ran.issues[0]["notes"][0]
    assert "stopped by: " in (ran.run_dir / "report.md").read_text()


def test_a_model_that_only_reads(wide: Path, run) -> None:
    agent = Agent(coder=lambda _, number: calls(call("view_file", path=f"pages/n{number}.txt")))
    ends(run(wide, agent, GOAL, *ONCE), agent, most=112)


@pytest.mark.matrix
def test_a_model_that_only_reads_lines_it_has_seen(wide: Path, run) -> None:
    def coder(_: Request, number: int) -> Reply:
        return calls(call("view_file", path="pages/n7.txt", start=1 + number % 50, lines=1 + number // 50))

    agent = Agent(coder=coder)
    ends(run(wide, agent, GOAL, *ONCE), agent, most=112)


@pytest.mark.matrix
@pytest.mark.parametrize(
    "step",
    [
        lambda number: call("grep", pattern=f"nowhere{number}|zz{number}", path=("pages", ".")[number % 2]),
        lambda number: call("grep", pattern=f"^{number} 1 ", path="pages"),
        lambda number: call("find_files", glob=f"pages/n{number}*"),
    ],
)
def test_a_model_that_only_searches(wide: Path, run, step: Any) -> None:
    turns = [("search", step), ("list", lambda number: call("list_dir", path=("pages", ".")[number % 2]))]
    agent = Agent(coder=lambda _, number: calls(turns[number % 7 == 3][1](number)))
    ran = run(wide, agent, GOAL, *ONCE)
    assert (ran.code, ran.result["stoppedBy"]) in {(3, "no_progress"), (3, "content_repeat")}
    assert len(agent.requests("coder")) <= 130


@pytest.mark.matrix
def test_a_model_that_edits_and_takes_it_back(project: Path, run) -> None:
    def coder(_: Request, number: int) -> Reply:
        there = f"a - b - {number // 2}"
        return edited(number, *(("a - b\n", f"{there}\n") if number % 2 == 0 else (f"{there}\n", "a - b\n")))

    agent = Agent(coder=coder)
    ends(run(project, agent, GOAL, *ONCE), agent, most=65)


@pytest.mark.matrix
def test_a_model_that_edits_and_takes_it_back_by_commands(project: Path, run) -> None:
    def coder(_: Request, number: int) -> Reply:
        there = f"a - b - {number // 2}"
        old, new = ("a - b", there) if number % 2 == 0 else (there, "a - b")
        return calls(call("run_command", command=f"sed -i 's/return {old}$/return {new}/' calc.py"))

    agent = Agent(coder=coder)
    ends(run(project, agent, GOAL, *ONCE), agent, most=65)


@pytest.mark.matrix
def test_a_model_that_runs_failing_commands(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: calls(call("run_command", command=f"echo ValueError: {number} >&2; exit 1")))
    ends(run(project, agent, GOAL, *ONCE), agent, most=85)


@pytest.mark.matrix
def test_a_model_that_writes_one_junk_file_after_the_other(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: calls(call("write_file", path=f"junk{number}.txt", content=f"{number}\n")))
    ends(run(project, agent, GOAL, *ONCE), agent, most=130)


def test_wrong_edits_that_leave_the_same_test_red_are_six_an_attempt(project: Path, run) -> None:
    """Each attempt starts from the tree of the one before; whatever the edits are, the run ends 3."""
    edits: list[str] = []

    def coder(request: Request, number: int) -> Reply:
        results = [message for message in request.messages if message["role"] == "tool"]
        if len(results) % 2 == 0 and (not results or "test" in str(results[-1])):
            edits.append(f"a - b - {number}")
            return calls(call("write_file", path="calc.py", content=f"def add(a, b):\n    return {edits[-1]}\n"))
        return calls(call("run_checks"))

    def after_a_look(request: Request, number: int) -> Reply:
        if not any(message["role"] == "tool" for message in request.messages):
            return calls(call("view_file", path="calc.py"), call("run_checks"))
        return coder(request, number)

    agent = Agent(coder=after_a_look)
    ran = run(project, agent, GOAL, "--check", CHECK, "--max-attempts", "3")
    assert (ran.code, ran.result["stoppedBy"]) == (3, "no_progress"), ran.stdout
    assert ran.result["failureHistory"]["attempts"] == 3
    assert len(edits) == 18
    assert "test_add" in named(ran)[0]["what"]
    assert [event["count"] for event in named(ran)] == [3, 6] * 3


@pytest.mark.matrix
def test_two_wrong_edits_in_turn(project: Path, run) -> None:
    wrong = ("a * b", "a / b")

    def coder(_: Request, number: int) -> Reply:
        step = number // 2
        if number % 2:
            return calls(call("run_command", command=CHECK))
        return edited(number, "a - b" if not step else wrong[(step - 1) % 2], wrong[step % 2])

    agent = Agent(coder=coder)
    ran = run(project, agent, GOAL, *ONCE)
    assert ran.code == 3
    assert ran.result["stoppedBy"] in {"no_progress", "content_repeat", "cycle"}
    assert len(agent.requests("coder")) <= 130


def test_an_honest_explorer_of_sixty_files_is_told_nothing(wide: Path, run) -> None:
    looks = [calls(call("view_file", path=f"pages/n{number}.txt")) for number in range(60)]
    agent = Agent(coder=[*looks, FIX, calls(call("run_checks")), DONE])
    ran = run(wide, agent, GOAL, *ONCE)
    assert (ran.code, named(ran)) == (0, []), ran.stdout


@pytest.mark.matrix
def test_an_honest_worker_on_many_files_is_told_nothing(wide: Path, run) -> None:
    turns = []
    for number in range(30):
        path = f"pages/n{number}.txt"
        line = f"{number} 3 {'x' * 3}"
        turns += [
            calls(call("view_file", path=path)),
            calls(call("grep", pattern=f"^{number} 5", path="pages")),
            calls(blind(path, f"{line}\n", f"{line} changed\n")),
        ]
    agent = Agent(coder=[*turns, FIX, DONE])
    ran = run(wide, agent, GOAL, *ONCE)
    assert (ran.code, named(ran)) == (0, []), ran.stdout


@pytest.mark.matrix
def test_the_result_can_be_read_back(project: Path, run) -> None:
    agent = Agent(coder=lambda _, number: calls(call("grep", pattern=f"nowhere{number}"), call("list_dir", path=".")))
    ran = run(project, agent, GOAL, *ONCE)
    assert json.loads((ran.run_dir / "result.json").read_text())["exitCode"] == 3
