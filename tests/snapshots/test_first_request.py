"""What a model is sent first, word for word; a change of it is a change a person should see.

RENEW=1 python -m pytest tests/snapshots writes the files anew.
"""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from support.loop import DONE, FIX, UNITTEST, Agent, git, kotef
from support.openai_server import OpenAIServer

from kotef.tools.registry import TABLE
from kotef.tools.schema_minify import BOUNDS

HERE = Path(__file__).parent
GOAL = "make add add"
FIRST_PROMPT = 1_300
"""Tokens of the coder's first request besides task and spec, at four characters each."""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "calc.py").write_text("def add(a, b):\n    return a - b\n")
    (root / "test_calc.py").write_text(
        "import unittest\nfrom calc import add\n\n\nclass T(unittest.TestCase):\n    def test_add(self):\n"
        "        self.assertEqual(add(1, 1), 2)\n"
    )
    git(root, "init", "-q")
    return root


@pytest.fixture
def shown(project: Path) -> dict[str, Any]:
    return json.loads(kotef(project, "prompt", "coder", GOAL, "--check", UNITTEST, "--json").stdout)


def must_be(name: str, text: str) -> None:
    file = HERE / name
    if os.environ.get("RENEW"):
        file.write_text(text)
    assert text == file.read_text(), f"{name} has changed; if that was meant: RENEW=1 python -m pytest tests/snapshots"


def part(shown: dict[str, Any], name: str) -> str:
    return next(part["text"] for part in shown["parts"] if part["name"] == name)


def test_the_system_prompt_and_the_tools_are_as_recorded(shown: dict[str, Any]) -> None:
    must_be("coder_system.md", part(shown, "system prompt") + "\n")
    must_be("coder_tools.json", json.dumps(shown["tools"], indent=1) + "\n")
    must_be("coder_first_message.md", part(shown, "first message") + "\n")


def test_every_tool_there_may_be_is_as_recorded() -> None:
    must_be("all_tools.json", json.dumps([row.schema for row in TABLE], indent=1) + "\n")


def test_the_first_request_is_what_was_shown(
    project: Path, shown: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = Agent(coder=[FIX, DONE])
    with OpenAIServer(agent) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        ran = kotef(project, "run", GOAL, "--check", UNITTEST, "--coder", "model", "--model", "scripted")
    assert ran.code == 0
    first = agent.requests("coder")[0]
    assert first.messages[0]["content"] == part(shown, "system prompt")
    assert first.body["tools"] == shown["tools"]
    prefixes = json.loads((ran.run_dir / "prefixes.json").read_text())
    assert prefixes["coder"]["scripted"]["sha256"] == shown["prefix"]


def test_it_is_short(shown: dict[str, Any]) -> None:
    """Besides task and spec: the system prompt, the tools, and the words around the task."""
    counted = sum(len(part["text"]) for part in shown["parts"]) - 2 * len(GOAL) - len(UNITTEST)  # the plan repeats it
    assert counted / 4 <= FIRST_PROMPT, f"{counted / 4:.0f} tokens"
    assert shown["tokens"] == sum(part["tokens"] for part in shown["parts"])


def counted(project: Path, *options: str) -> float:
    shown = json.loads(kotef(project, "prompt", "coder", GOAL, "--check", UNITTEST, *options, "--json").stdout)
    return (sum(len(part["text"]) for part in shown["parts"]) - 2 * len(GOAL) - len(UNITTEST)) / 4


def skills(project: Path, number: int) -> None:
    """As people write them: with a description far longer than a line."""
    for name in [f"a-skill-{one}" for one in range(number)]:
        folder = project / ".agents" / "skills" / name
        folder.mkdir(parents=True)
        about = (
            f"How to do {name} here, step by step; use it whenever the task has to do with it, and before you push. "
        )
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: {about * 3}\n---\nDo it.\n")


def test_it_is_short_with_the_web_and_with_two_skills_too(project: Path) -> None:
    assert counted(project, "--web") <= FIRST_PROMPT
    skills(project, 2)
    assert counted(project) <= FIRST_PROMPT


def test_many_skills_cost_no_more_than_a_few(project: Path) -> None:
    skills(project, 9)
    nine = counted(project)
    skills_more = project / ".agents" / "skills"
    for number in range(40):
        (skills_more / f"z{number}").mkdir()
        (skills_more / f"z{number}" / "SKILL.md").write_text(f"---\nname: z{number}\ndescription: x\n---\n")
    assert abs(counted(project) - nine) <= 1
    assert nine <= FIRST_PROMPT + 250


def test_the_planners_request_is_shown_too(project: Path) -> None:
    shown = json.loads(kotef(project, "prompt", "planner", GOAL, "--check", UNITTEST, "--json").stdout)
    assert [part["name"] for part in shown["parts"]] == ["tools", "first message"]
    assert GOAL in part(shown, "first message")
    assert shown["tools"][0]["function"]["name"] == "PlanAnswer"


def test_it_can_be_read_and_runs_nothing(project: Path) -> None:
    ran = kotef(project, "prompt", "coder", "--check", "touch ran")
    assert ran.code == 0
    assert "tokens in all" in ran.stdout
    assert not (project / "ran").exists()
    assert not (project / ".sdd").exists()


def test_steps_of_the_plan_stand_in_lines_of_their_own(project: Path) -> None:
    from kotef.coders.first_message import Past, first_message
    from kotef.context.prompts import Prompts
    from kotef.sdd.spec import Spec
    from kotef.settings import Limits
    from kotef.state import Plan, PlanStep, Task
    from kotef.tools.toolset import Kit

    task = Task(run_id="r", goal="g", spec=Spec(), checks=(), limits=Limits())
    steps = (PlanStep(description="one", failure="red"), PlanStep(description="two"))
    lines = first_message(Prompts(), Kit(), task, Plan(visit=1, steps=steps, source="code"), Past()).splitlines()
    at = lines.index("1. one")
    assert lines[at : at + 4] == ["1. one", "   answers this failure: red", "2. two", "Attempt 1 of 3."]


def test_no_schema_carries_what_a_call_can_do_without() -> None:
    def words(value: Any, *, named: bool = False) -> set[str]:
        if isinstance(value, list):
            return set().union(*map(words, value)) if value else set()
        if not isinstance(value, dict):
            return set()
        inner = (
            set().union(*(words(one, named=name == "properties") for name, one in value.items())) if value else set()
        )
        return inner if named else inner | value.keys()

    for row in TABLE:
        assert not words(row.schema["function"]["parameters"]) & {*BOUNDS, "$ref", "$defs", "anyOf"}, row.name
