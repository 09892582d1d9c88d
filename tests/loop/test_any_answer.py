"""Nothing that a model answers is a defect: arguments of any shape, for every tool, through a whole run."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from support.any_answers import answers
from support.any_json import arguments
from support.loop import DONE, Agent, Ran, one_bug
from support.openai_server import Call, Reply, Request, call, calls

from kotef.report import as_html
from kotef.runs.store import RunDir
from kotef.tools.catalog.claims import REPORT
from kotef.tools.registry import TABLE

GOAL = "make add add"
CHECK = "true"
"""The tree does not matter here, so nothing has to run."""
ONCE = ("--check", CHECK, "--max-attempts", "1", "--sandbox", "off")
SCHEMAS = {row.name: row.schema["function"]["parameters"] for row in TABLE if row.name != REPORT}
IN_A_TURN = 5
PHASES = (Phase.explicit, Phase.generate)
"""Each example is a whole run, and names what it was given: to shrink one takes minutes."""


@st.composite
def tool_calls(draw: st.DrawFn) -> tuple[str, Any]:
    """A tool that there is, or is not, and what it is given."""
    name = draw(st.sampled_from([*SCHEMAS, *SCHEMAS, "no_such_tool", "\x1b[31mred", "", "\ud800", "a b\n"]))
    return name, draw(arguments(name, SCHEMAS.get(name, {"type": "object"})))


def sent(name: Any, given: Any) -> Call:
    """Arguments are sent as text, as every server does."""
    return Call(name, json.dumps(given))


def coder(made: list[Call]) -> Any:
    """A few calls in each turn, with a good one at its end so that no row of mistakes ends the visit."""
    turns = [made[at : at + IN_A_TURN] for at in range(0, len(made), IN_A_TURN)]

    def answer(_: Request, number: int) -> Reply:
        if number >= len(turns):
            return DONE
        good = [call("find_files", glob=f"n{number}{each}*") for each in range(3)]
        turn = turns[number]
        return calls(*turn[:2], good[0], *turn[2:4], good[1], *turn[4:], good[2])

    return answer


def files(root: Path) -> Path:
    one_bug(root)
    for number in range(40):
        (root / f"n{number}.txt").write_text(f"{number}\n")
    return root


def sound(ran: Ran, *, also: int = 0) -> None:
    """The run came to an end of its own, and whatever is read of it can be read."""
    assert ran.code in {0, 3, 4, 6, also}, ran.stdout
    assert [event for event in ran.events if event["event"] == "defect"] == []
    assert not (ran.run_dir / "traceback.txt").exists()
    assert ran.result["exitCode"] == ran.code
    json.dumps(ran.result, ensure_ascii=False).encode()
    assert "\x1b" not in ran.stdout.replace("\x1b[0m", "")
    page = as_html(RunDir(ran.run_dir, ran.record))
    page.encode()
    assert "\x1b" not in page


def played(examples: int) -> settings:
    return settings(max_examples=examples, phases=PHASES, suppress_health_check=[*HealthCheck])


def any_arguments(root: Path, run, made: list[tuple[str, Any]]) -> None:
    sound(run(files(root), Agent(coder=coder([sent(*one) for one in made])), GOAL, *ONCE))


MADE = st.lists(tool_calls(), min_size=30, max_size=60)


@played(2)
@given(made=MADE)
def test_no_arguments_of_any_tool_end_a_run(tmp_path_factory: pytest.TempPathFactory, run, made) -> None:
    any_arguments(tmp_path_factory.mktemp("any") / "project", run, made)


@pytest.mark.matrix
@played(40)
@given(made=MADE)
def test_no_arguments_of_any_tool_end_any_run(tmp_path_factory: pytest.TempPathFactory, run, made) -> None:
    any_arguments(tmp_path_factory.mktemp("any") / "project", run, made)


@pytest.mark.parametrize(
    ("tool", "given_"),
    [
        ("run_checks", {"names": 5}),
        ("view_file", {"path": ["calc.py"], "start": {}}),
        ("edit_file", {"path": 7, "edits": 7}),
        ("edit_file", {"path": "calc.py", "edits": [7, None]}),
        ("apply_patch", {"patch": []}),
        ("manage_memory", {"action": [], "file": {}}),
        ("run_command", {"command": 1}),
        ("report_contradiction", {"place": 1, "why": []}),
    ],
)
def test_what_does_not_fit_a_schema_is_told_to_the_model(project: Path, run, tool: str, given_: Any) -> None:
    from support.loop import FIX

    agent = Agent(coder=[calls(sent(tool, given_)), FIX, DONE])
    ran = run(project, agent, GOAL, *ONCE)
    said = agent.requests("coder")[1].messages[-1]["content"]
    sound(ran)
    assert "nothing was executed" in said or "is not a valid tool" in said
    assert "pydantic" not in said


def test_arguments_nested_without_end_are_refused(project: Path, run) -> None:
    deep = ["[" * depth + "]" * depth for depth in (60, 900, 100_000)]
    turns = [
        calls(Call("view_file", '{"path": ' + one + "}"), call("find_files", glob=f"{at}*"))
        for at, one in enumerate(deep)
    ]
    agent = Agent(coder=[*turns, DONE])
    sound(run(project, agent, GOAL, *ONCE))
    assert "50 levels" in agent.requests("coder")[1].text


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        ('{"start": 1' + 40 * "0" + "}", "64 bits"),
        ('{"start": 1e999}', "too large"),
        (r'{"\ud800": 1}', "half of"),
    ],
)
def test_values_that_can_neither_be_kept_nor_sent_back_are_refused(project: Path, run, given_: str, said: str) -> None:
    agent = Agent(coder=[calls(Call("view_file", given_)), calls(call("find_files", glob="*")), DONE])
    sound(run(project, agent, GOAL, *ONCE))
    assert said in agent.requests("coder")[1].text


def test_the_name_of_a_tool_that_is_none_stays_on_one_line(project: Path, run) -> None:
    ran = run(project, Agent(coder=[calls(Call("a b\n\x1b[31m", "{}")), DONE]), GOAL, *ONCE)
    sound(ran)
    assert "↳ a b [31m" in ran.stdout


def test_a_count_of_tokens_beyond_reason_is_bounded(project: Path, run) -> None:
    from dataclasses import replace

    ran = run(project, Agent(coder=[replace(DONE, tokens=(10**30, 5))]), GOAL, *ONCE)
    sound(ran)
    assert ran.result["usage"]["tokensIn"] <= 2 * 10**9


# ---- messages of any shape


def any_messages(root: Path, run, made: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from kotef.models.openai import StrictChatOpenAI

    monkeypatch.setattr(StrictChatOpenAI.model_fields["retry_base"], "default", 0.001)
    StrictChatOpenAI.model_rebuild(force=True)
    script = [one for body in made for one in (Reply(body=body), calls(call("find_files", glob=f"{len(body)}*")))]

    def answer(_: Request, number: int) -> Reply:
        return script[number] if number < len(script) else DONE

    ran = run(files(root), Agent(coder=answer), GOAL, *ONCE)
    sound(ran, also=7)


BODIES = st.lists(answers().map(json.dumps), min_size=10, max_size=20)


@played(2)
@given(made=BODIES)
def test_no_shape_of_a_message_ends_a_run(tmp_path_factory, run, monkeypatch: pytest.MonkeyPatch, made) -> None:
    any_messages(tmp_path_factory.mktemp("any") / "project", run, made, monkeypatch)


@pytest.mark.matrix
@played(40)
@given(made=BODIES)
def test_no_shape_of_a_message_ends_any_run(tmp_path_factory, run, monkeypatch: pytest.MonkeyPatch, made) -> None:
    any_messages(tmp_path_factory.mktemp("any") / "project", run, made, monkeypatch)
