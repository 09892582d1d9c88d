"""What the planner's model sees of the repository, and what it is told of its plan."""

from pathlib import Path

from support.loop import CHECK, DONE, FIX, Agent, call, calls, kotef, plan, write

GOAL = "make test_calc.py pass"


def test_the_planner_sees_source_a_map_and_the_diff_so_far(project: Path, run) -> None:
    agent = Agent(
        coder=[write("notes.txt", "x\n"), DONE, FIX, DONE],
        planner=lambda _, number: plan(f"idea {number}", hypothesis=f"cause {number}"),
    )
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert ran.code == 0
    first, second = (request.text for request in agent.requests("planner"))
    assert "calc.py\n  1: def add(a, b):" in first
    assert "What this run has changed so far" not in first
    assert "+++ b/notes.txt" in second


def test_a_plan_that_names_files_that_do_not_exist_is_told_so_once(project: Path, run) -> None:
    def invented(_: object, __: int):
        step = {"description": "fix the sum", "files": ["src/calcs.py"], "addresses": ""}
        return calls(call("PlanAnswer", hypothesis="", steps=[step], blocked=""))

    agent = Agent(coder=[FIX, DONE], planner=invented)
    ran = run(project, agent, GOAL, "--check", CHECK)
    assert ran.code == 0
    first, second = (request.text for request in agent.requests("planner"))
    assert "do not exist" not in first
    assert "- src/calcs.py (nearest: calc.py)" in second
    assert ran.result["usage"]["calls"] == 4


def test_the_preview_of_the_planner_shows_the_map(project: Path) -> None:
    ran = kotef(project, "prompt", "planner", "add() subtracts")
    assert ran.code == 0
    assert "calc.py\n  1: def add(a, b):" in ran.stdout
