"""A command of the coder leaves nothing in the user's git that would run later."""

import json
from pathlib import Path

import pytest
from support.loop import CHECK, DONE, FIX, Agent, edit, git
from support.openai_server import Reply, call, calls

GOAL = "make add add"
ONCE = ("--check", CHECK, "--max-attempts", "1")
PLANT = "python plant.py"
PLANTER = """\
import pathlib, sys, time

before, after = map(float, sys.argv[1:]) if len(sys.argv) == 3 else (0, 0)
time.sleep(before)
hook = pathlib.Path(".git/hooks/pre-commit")
hook.write_text("#!/bin/sh\\nexit 1\\n")
hook.chmod(0o755)
pathlib.Path("planted.txt").touch()
time.sleep(after)
"""
SAID = ".git/hooks and .git/config are the user's"


def shell(command: str, **more: object) -> Reply:
    return calls(call("run_command", command=command, **more))


def notices(ran) -> list[str]:
    return [event["text"] for event in ran.events if event["event"] == "notice" and event["text"].startswith(SAID)]


def state(project: Path) -> dict[str, bytes]:
    place = project / ".git"
    return {path.name: path.read_bytes() for path in (place / "config", *(place / "hooks").iterdir())}


@pytest.fixture
def before(project: Path) -> dict[str, bytes]:
    """What there is of hooks and configuration; and a program that plants a hook, after and before some seconds."""
    (project / "plant.py").write_text(PLANTER)
    return state(project)


def test_a_planted_hook_is_gone_before_anything_runs_it(project: Path, before: dict[str, bytes], run) -> None:
    agent = Agent(coder=[shell(PLANT), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    assert state(project) == before
    line = f"{SAID}: pre-commit was put back"
    assert [text.startswith(line) for text in notices(ran)] == [True]
    assert line in agent.requests("coder")[1].messages[-1]["content"].splitlines()
    assert "exit 1" in (ran.run_dir / "git-put-back" / "pre-commit").read_text()
    git(project, "commit", "-qam", "no hook stands in the way")


def test_a_changed_configuration_and_a_failing_command_make_no_difference(
    project: Path, before: dict[str, bytes], run
) -> None:
    (project / "configure.py").write_text("open('.git/config', 'a').write('[core]\\n\\thooksPath = evil\\n')\n")
    agent = Agent(coder=[shell("python configure.py; exit 3"), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, state(project)) == (0, before)
    assert f"{SAID}: config was put back" in agent.requests("coder")[1].messages[-1]["content"]


@pytest.mark.parametrize("command", [f"{PLANT} 0.4 60", f"setsid {PLANT} 0.4 60 & sleep 60"])
def test_a_background_process_cannot_win(project: Path, before: dict[str, bytes], run, command: str) -> None:
    agent = Agent(coder=[shell(command, background=True), shell("sleep 1"), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, state(project)) == (0, before)
    assert (project / "planted.txt").exists(), "it was planted, while the other command ran"
    assert notices(ran)


def test_what_a_background_command_planted_is_told_in_its_output(project: Path, before: dict[str, bytes], run) -> None:
    steps = [shell(PLANT, background=True), calls(call("read_output", handle="bg_1_1", wait=5)), FIX, DONE]
    agent = Agent(coder=steps)
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, state(project), len(notices(ran))) == (0, before, 1)
    assert f"{SAID}: pre-commit was put back" in json.dumps(agent.requests("coder")[2].messages)


def test_tests_that_plant_a_hook_are_found_out_when_the_coder_runs_them(
    project: Path, before: dict[str, bytes], run
) -> None:
    agent = Agent(
        coder=[
            edit("calc.py", "def add(a, b):\n    return a - b", "import plant\n\n\ndef add(a, b):\n    return a + b"),
            calls(call("run_checks")),
            edit("calc.py", "import plant\n\n\n", ""),
            DONE,
        ]
    )
    ran = run(project, agent, GOAL, *ONCE)
    assert (ran.code, state(project), len(notices(ran))) == (0, before, 1)


def test_honest_commands_and_a_directory_without_git_meet_nothing_of_it(tmp_path: Path, project: Path, run) -> None:
    honest = [shell("git status --short"), shell("git log -1"), FIX, DONE]
    assert notices(run(project, Agent(coder=honest), GOAL, *ONCE)) == []
    bare = tmp_path / "bare"
    bare.mkdir()
    for name in ("calc.py", "test_calc.py"):
        (bare / name).write_text(git(project, "show", f"HEAD:{name}"))
    ran = run(bare, Agent(coder=[shell("mkdir -p .git/hooks; echo x > .git/hooks/pre-commit"), FIX, DONE]), GOAL, *ONCE)
    assert (ran.code, notices(ran)) == (0, [])
