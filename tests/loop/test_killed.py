"""Whatever the moment of a kill: nothing happens twice, an edit happens once, and a command in doubt is named."""

import random
import signal
from pathlib import Path

import pytest
from support.killing import SECOND_VISIT, faults, moments_within, run_killed, run_killed_at
from support.loop import CHECK, DONE, FIXED, Agent, Ran, contents, edit
from support.openai_server import OpenAIServer, Reply, call, calls
from support.process import kotef_process

from kotef.middleware.idempotency import APPLIED, IN_DOUBT

BESIDE = ("report.md", "result.json")
"""What a run that has ended leaves, beside the record of its tree."""


def killed_once(root: Path, steps: list[Reply], kill_at: str) -> tuple[Ran, list[str]]:
    """A run that is killed there and resumed, and what the coder was told by its tools."""
    agent = Agent(coder=lambda request, _: steps[sum(one["role"] == "assistant" for one in request.messages)])
    with OpenAIServer(agent) as server:
        env = {"OPENAI_BASE_URL": server.base_url, "KOTEF_MODEL": "scripted"}
        start = ["run", "make add add", "--coder", "model", "--check", CHECK, "--root", str(root)]
        killed = kotef_process(start, env, root.parent, kill_at=kill_at)
        assert killed.returncode == -signal.SIGKILL, killed.stderr
        done = kotef_process(["resume", "--last", "--root", str(root)], env, root.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    told = [one["content"] for one in agent.requests("coder")[-1].messages if one["role"] == "tool"]
    return Ran(done.returncode, done.stdout, done.stderr, root), told


@pytest.mark.parametrize("moment", ["written:calc.py", "file:1"])
def test_an_edit_that_a_kill_interrupts_is_made_once_and_leaves_nothing_beside_it(project: Path, moment: str) -> None:
    files = sorted(contents(project))
    ran, told = killed_once(project, [edit("calc.py", "a - b", "a + b"), DONE], moment)
    assert (project / "calc.py").read_text() == FIXED
    assert (told[1] == APPLIED) == (moment == "file:1")
    assert sorted(contents(project)) == files
    assert not [event for event in ran.events if event["event"] == "in_doubt"], "its file tells how far it came"
    assert (ran.result["failureHistory"]["attempts"], ran.issues) == (0, [])


def test_a_command_that_a_kill_interrupts_is_named_in_doubt_and_not_run_again(project: Path) -> None:
    line = "echo one >> ../list.txt; sleep 60; echo two >> ../list.txt"
    steps = [calls(call("run_command", command=line)), edit("calc.py", "a - b", "a + b"), DONE]
    ran, told = killed_once(project, steps, f"there:{project.parent / 'list.txt'}")
    assert (project.parent / "list.txt").read_text() == "one\n"
    assert told[0] == IN_DOUBT
    assert [event["arguments"] for event in ran.events if event["event"] == "in_doubt"] == [str({"command": line})]


@pytest.mark.parametrize("name", ["left.json", *(pytest.param(each, marks=pytest.mark.kill) for each in BESIDE)])
def test_a_run_that_is_killed_while_it_writes_what_it_leaves_behind_leaves_it_after_a_resume(
    project: Path, name: str
) -> None:
    steps = [edit("calc.py", "a - b", "a + b"), DONE]
    ran, _ = killed_once(project, steps, f"written:{name}")
    assert ran.result["outcome"] == "verified"
    assert {"left.json", *BESIDE} <= {path.name for path in ran.run_dir.iterdir()}
    assert [event["event"] for event in ran.events].count("run_finished") == 1


@pytest.mark.kill
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_killed_at_ten_random_moments_of_twenty_turns_a_run_ends_as_if_nothing_had_happened(
    tmp_path: Path, seed: int
) -> None:
    moments = moments_within(SECOND_VISIT, 10, random.Random(seed))
    killed = run_killed(tmp_path, moments)
    assert faults(killed) == [], f"seed {seed}: killed at {killed.deaths} of {moments}"
    # A moment is a number of requests, and a run that loses less to its kills sends fewer: the last ones may find it ended.
    assert len(killed.deaths) >= 5, f"seed {seed}: only {killed.deaths} of {moments} found it alive"


LINES = 2 * 6
"""Of the ledger: each of the six effects begins and ends."""


@pytest.mark.kill
@pytest.mark.parametrize(
    "moment",
    [
        *(f"noted:{number}" for number in range(1, LINES + 1)),
        *(f"unnoted:{number}" for number in range(2, LINES + 1, 2)),
    ],
)
def test_killed_between_an_effect_and_its_record_a_run_ends_as_if_nothing_had_happened(
    tmp_path: Path, moment: str
) -> None:
    killed = run_killed_at(tmp_path, moment)
    assert faults(killed) == []
    assert len(killed.deaths) == 1
    number = int(moment.partition(":")[2])
    ended = moment.startswith("noted") and number % 2 == 0
    doubts = [event["tool"] for event in killed.ran.events if event["event"] == "in_doubt"]
    assert doubts == (["run_command"] if number in COMMAND_LINES and not ended else [])


COMMAND_LINES = {1, 2, 5, 6, 9, 10}
"""Those of a command."""
