"""A model, or whoever stands for it, that answers too much, in pieces that are none, or for ever, costs a bounded run."""

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.attacks import World
from support.loop import DONE, FIX, Agent, edit, plan, write
from support.openai_server import Call, Reply, Request, call, calls, paced, text, whole

LOOK = calls(call("view_file", path="calc.py"))
LEVEL = "off"
"""What a model says is the same at each level; what it does is tried in `test_hostile_coders`."""


@dataclass(frozen=True)
class Nonsense:
    """One way to answer, and how the run must end."""

    name: str
    coder: Callable[[Request, int], Reply]
    outcomes: tuple[str, ...] = ("bounded_attempts_exceeded",)
    planner: Callable[[Request, int], Reply] | None = None
    arguments: tuple[str, ...] = ()
    quick: bool = False
    most_calls: int = 40
    """Requests after which it is a loop."""
    bound: float = 30.0


def then_done(first: Reply) -> Callable[[Request, int], Reply]:
    """This answer, and after it the last words."""
    return lambda _, number: first if number == 0 else DONE


def always(reply: Reply) -> Callable[[Request, int], Reply]:
    return lambda _request, _number: reply


def deep(levels: int) -> str:
    return '{"path": ' + "[" * levels + "]" * levels + "}"


ANSWER = json.dumps({"id": "x", "choices": [{"index": 0, "message": {"content": "SIZE"}, "finish_reason": "stop"}]})
CONTROL = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x1b[0m\x00\x08\x7f\x9b31m\u202egnp.exe\u2066\ufeff\u200b"
BAD_MODEL = ("model_unavailable", "bounded_attempts_exceeded", "stuck")

SIZES = [
    Nonsense(
        "an answer of 100 MB",
        always(Reply(body=ANSWER.replace("SIZE", "x" * 100_000_000))),
        BAD_MODEL,
    ),
    Nonsense("a line of 100 MB that is no JSON", always(Reply(body="x" * 100_000_000)), BAD_MODEL),
    Nonsense(
        "a stream of one token after the other without an end",
        always(paced(text("never ending " * 100_000), 0.02)),
        ("budget_exceeded", "model_unavailable", "bounded_attempts_exceeded"),
        arguments=("--max-time", "4"),
        quick=True,
    ),
    Nonsense("ten megabytes of last words", then_done(whole(text("word " * 2_000_000)))),
    Nonsense("a file of 20 MB", then_done(whole(write("big.txt", "x" * 20_000_000)))),
    Nonsense("three thousand tool calls in one answer", then_done(whole(calls(*[call("view_file", path="calc.py")] * 3000)))),
    Nonsense("three thousand edits in one call", then_done(whole(calls(call("edit_file", path="calc.py", edits=[{"search": "a", "replace": "b"}] * 3000))))),
]  # fmt: skip

SHAPES = [
    Nonsense("arguments nested 100,000 deep", then_done(whole(calls(Call("view_file", deep(100_000))))), quick=True),
    Nonsense("an answer nested 100,000 deep", always(Reply(body='{"choices": ' + "[" * 100_000)), BAD_MODEL),
    Nonsense("arguments that are a list, a number, nothing", then_done(calls(*[Call("view_file", words) for words in ("[]", "7", "null", '"x"', "{}{}")]))),
    Nonsense("a number of 10,000 digits", then_done(calls(Call("view_file", '{"path": "calc.py", "start": ' + "9" * 10_000 + "}")))),
    Nonsense("not a number, and more than there is", then_done(calls(Call("view_file", '{"path": "calc.py", "start": NaN}'), Call("run_command", '{"command": "true", "timeout": 1e999}')))),
    Nonsense("tools with names of a megabyte, of nothing and of controls", then_done(calls(Call("x" * 1_000_000), Call(""), Call(CONTROL), Call("__class__")))),
    Nonsense("control characters everywhere", then_done(calls(call("view_file", path=CONTROL), call("grep", pattern=CONTROL), call("write_file", path="a\x1bb.txt", content=CONTROL), call("run_command", command=f"printf '{CONTROL.replace(chr(0), '')}'"), content=CONTROL)), quick=True),
    Nonsense("half characters", then_done(calls(Call("write_file", '{"path": "a.txt", "content": "\\ud800"}'), Call("grep", '{"pattern": "\\udfff"}'), Call("run_command", '{"command": "echo \\ud83d"}')))),
    Nonsense("a pattern and a glob that explode", then_done(calls(call("grep", pattern="(a+)+$"), call("grep", pattern="(" * 5000), call("find_files", glob="{" * 5000), call("find_files", glob="*" * 400 + "x")))),
    Nonsense("a plan of 10,000 steps", always(DONE), planner=always(whole(plan(*["do it " * 50] * 10_000)))),
    Nonsense("a plan of controls", always(DONE), planner=always(plan(CONTROL, hypothesis=CONTROL)), quick=True),
]  # fmt: skip

LOOPS = [
    Nonsense("the same call for ever", always(LOOK), quick=True),
    Nonsense("two calls in turn for ever", lambda _, number: (LOOK, calls(call("list_dir")))[number % 2]),
    Nonsense("a new call each time for ever", lambda _, number: calls(call("view_file", path=f"no-{number}.py")), most_calls=120),
    Nonsense("the same words for ever", always(calls(call("run_command", command="true"), content="I will look again."))),
    Nonsense(
        "coder and planner that undo each other",
        lambda _, number: (edit("calc.py", "a - b", "a * b"), DONE, edit("calc.py", "a * b", "a - b"), DONE)[number % 4],
        ("bounded_attempts_exceeded", "stuck"),
        planner=lambda _, number: plan(f"do the other thing, {number}"),
        arguments=("--max-attempts", "8"),
        quick=True,
    ),
    Nonsense(
        "a planner that always asks for the same",
        always(DONE),
        ("bounded_attempts_exceeded", "stuck"),
        planner=always(plan("wait")),
        arguments=("--max-attempts", "20"),
        most_calls=60,
    ),
]  # fmt: skip

ALL = [
    pytest.param(one, id=one.name, marks=() if one.quick else (pytest.mark.hostile,))
    for one in (*SIZES, *SHAPES, *LOOPS)
]


@pytest.fixture(autouse=True)
def _quick_retries(monkeypatch: pytest.MonkeyPatch) -> None:
    """The waits between retries are real, only shorter."""
    from kotef.models.openai import StrictChatOpenAI

    monkeypatch.setattr(StrictChatOpenAI.model_fields["retry_base"], "default", 0.01)
    StrictChatOpenAI.model_rebuild(force=True)


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.build()
    return made


@pytest.mark.examples(3)
@pytest.mark.parametrize("nonsense", ALL)
def test_the_run_ends_in_bounds_and_says_why(nonsense: Nonsense, world: World, monkeypatch: Any) -> None:
    agent = Agent(coder=nonsense.coder)
    if nonsense.planner:
        agent.planner = nonsense.planner
    ran = world.run(monkeypatch, agent, LEVEL, *nonsense.arguments)
    assert ran.result["outcome"] in nonsense.outcomes, ran.result["sentence"]
    assert ran.server is not None
    assert ran.server.calls <= nonsense.most_calls
    world.assert_unharmed(ran, bound=nonsense.bound)
    shown = ran.stdout + ran.stderr
    assert not [part for part in ("\x1b]", "\x1b[2J", "\x07", "\x9b", "\u202e") if part in shown]


@pytest.mark.hostile
def test_what_was_right_before_the_nonsense_is_kept(world: World, monkeypatch: Any) -> None:
    """An attempt that mended the bug, and then a hundred megabytes: the checks judge the tree, not the talk."""
    big = Reply(body=ANSWER.replace("SIZE", "x" * 100_000_000))
    ran = world.run(monkeypatch, Agent(coder=lambda _, number: FIX if number == 0 else big), LEVEL)
    assert (ran.code, ran.result["outcome"]) == (0, "verified")
    world.assert_no_secret(ran)


def test_a_slow_stream_does_not_defeat_the_clock(world: World, monkeypatch: Any) -> None:
    began = time.monotonic()
    ran = world.run(monkeypatch, Agent(coder=always(paced(text("a " * 10_000), 0.2))), LEVEL, "--max-time", "3")
    assert time.monotonic() - began < 15
    assert ran.result["outcome"] == "budget_exceeded"
