"""Each limit of a run ends it as `budget_exceeded`, with the figure and the limit, and a larger one lets it go on."""

import re

import pytest
from support.loop import CHECK, DONE, FIX, FIXED, Agent, text, write
from support.openai_server import Reply, call, calls, paced

ASKED = ("make add add", "--check", CHECK)


def shell(command: str) -> Reply:
    return calls(call("run_command", command=command))


DRIP = paced(text("one word after another, and no end to it " * 3), 0.2)
"""Never silent for long, and many seconds until it is whole."""


@pytest.mark.examples(4)
@pytest.mark.parametrize(
    ("agent", "given", "figure"),
    [
        (Agent(coder=[shell("true")] * 9), "--max-commands 2", r"2 of 2 commands run"),
        (Agent(coder=[write("a.txt", "x" * 4000)] * 9), "--max-written 3000", r"4,0\d\d of 3,000 bytes written"),
        (
            Agent(coder=[shell("head -c 50000 /dev/zero > big")] * 9),
            "--max-written 40000",
            r"50,000 of 40,000 bytes",
        ),
        (
            Agent(coder=[shell("head -c 6000000 /dev/zero > big")] * 9),
            "--max-written 40000",
            r"6,000,000 of 40,000 bytes",
        ),
        (Agent(coder=[DRIP] * 9), "--max-call-time 1", r"no complete answer within 1 s"),
        (Agent(planner=[DRIP] * 9), "--max-call-time 1", r"no complete answer within 1 s"),
        (Agent(coder=[DRIP] * 9), "--max-time 3", r"\b3 seconds (were over|used)"),
        (Agent(planner=[DRIP] * 9), "--max-time 3", r"[0-9]+ of 3 seconds used while a model was answering"),
    ],
    ids=["commands", "file tool", "command", "large file", "coder's call", "planner's call", "coder", "planner"],
)
def test_a_limit_ends_the_run_with_its_figure(project, run, agent: Agent, given: str, figure: str) -> None:
    option = given.split(maxsplit=1)[0]
    ran = run(project, agent, *ASKED, *given.split())
    assert (ran.code, ran.result["outcome"]) == (4, "budget_exceeded")
    assert ran.result["reason"] == option[2:].replace("-", "_")
    assert re.search(figure, ran.result["sentence"]), ran.result["sentence"]
    assert option in ran.result["sentence"]
    assert option in ran.result["resume"]
    assert [entry["outcome"] for entry in ran.issues] == ["budget_exceeded"]


def test_a_larger_limit_lets_it_go_on_and_the_count_goes_on(project, run) -> None:
    ran = run(project, Agent(coder=[shell("true")] * 9), *ASKED, "--max-commands", "2")
    assert ran.code == 4
    more = run(project, Agent(coder=[shell("true"), FIX, DONE]), "--last", "--max-commands", "5", command="resume")
    assert more.code == 0, more.stdout + more.stderr
    assert (project / "calc.py").read_text() == FIXED
    assert more.result["usage"]["commands"] == 3


def test_what_is_ignored_and_what_is_deleted_is_not_counted(project, run) -> None:
    (project / ".gitignore").write_text("__pycache__/\nbuild/\n")
    steps = [shell("mkdir build; head -c 90000 /dev/zero > build/out"), shell("rm -r build"), FIX, DONE]
    ran = run(project, Agent(coder=steps), *ASKED, "--max-written", "5000")
    assert ran.code == 0, ran.result["sentence"]
    assert 0 < ran.result["usage"]["written"] < 200


def test_a_planner_is_not_asked_for_an_attempt_that_cannot_be_finished(project, run) -> None:
    slow = "sleep 2 && false"
    agent = Agent(coder=[FIX, DONE] * 3)
    ran = run(project, agent, "make add add", "--check", slow, "--max-time", "6", "--reruns", "0")
    assert (ran.code, ran.result["reason"]) == (4, "max_time")
    assert ran.result["usage"]["seconds"] < 30
