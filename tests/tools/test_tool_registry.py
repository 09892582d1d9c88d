"""The tools as a model meets them: schemas, faults, effects one at a time."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args

import pytest
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import ValidationError

from kotef.checks.types import CommandResult
from kotef.settings import PROFILES
from kotef.shell import decide_command
from kotef.tools import registry
from kotef.tools.errors import ToolFault
from kotef.tools.guard import EditGuard
from kotef.tools.registry import EDITORS, NAMES, READERS, RUNNERS, build_tools, names
from kotef.tools.shell import MAX_OUTPUT, render
from kotef.tools.tool import Kind, ToolContext


@dataclass
class Visit:
    """A context on a real directory; commands are recorded, not run."""

    root: Path
    wrote: list[str] = field(default_factory=list)
    ran: list[tuple[str, float | None]] = field(default_factory=list)
    checked: list[list[str] | None] = field(default_factory=list)
    busy: int = 0
    most: int = 0

    async def occupied(self) -> None:
        self.busy += 1
        self.most = max(self.most, self.busy)
        await asyncio.sleep(0.01)
        self.busy -= 1

    async def run(self, command: str, timeout: float | None) -> CommandResult:
        self.ran.append((command, timeout))
        await self.occupied()
        return CommandResult(command=command, exit_code=0, stdout="ok\n", passed=True, seconds=0.24)

    async def run_checks(self, names: list[str] | None) -> str:
        self.checked.append(names)
        await self.occupied()
        return "pytest: passed"

    def tools(self) -> dict[str, BaseTool]:
        context = ToolContext(
            root=self.root,
            guard=EditGuard(frozenset({"tests/test_cart.py"})),
            run=self.run,
            run_checks=self.run_checks,
            wrote=self.wrote.append,
            rule=lambda command: decide_command(command, PROFILES["smoke"], root=self.root),
        )
        return {tool.name: tool for tool in build_tools(context)}

    def call(self, name: str, **arguments: Any) -> str:
        answer = asyncio.run(self.tools()[name].ainvoke(arguments))
        assert isinstance(answer, str)
        return answer


@pytest.fixture
def visit(root: Path) -> Visit:
    return Visit(root)


def test_every_list_of_names_comes_from_one_table_and_is_sorted(visit: Visit) -> None:
    assert NAMES == (
        "apply_patch",
        "edit_file",
        "find_files",
        "get_codebase_overview",
        "git_diff",
        "git_status",
        "grep",
        "list_dir",
        "manage_memory",
        "read_output",
        "report_contradiction",
        "run_checks",
        "run_command",
        "search_symbols",
        "skill_find",
        "skill_resource",
        "skill_use",
        "stop_command",
        "view_file",
        "view_truncated_output",
        "web_fetch",
        "web_search",
        "write_file",
    )
    assert tuple(sorted(NAMES)) == NAMES
    assert tuple(visit.tools()) == tuple(row.name for row in registry.offered()), "those that need no feature"
    assert set(NAMES) - set(visit.tools()) == {row.name for row in registry.TABLE if row.needs}
    assert sorted((*READERS, *EDITORS, *names("keeper"), *RUNNERS)) == list(NAMES)
    assert EDITORS == ("apply_patch", "edit_file", "write_file")
    assert (names("keeper"), registry.POLLS) == (("manage_memory",), ("read_output",))
    assert tuple(registry.BY_NAME) == NAMES


def test_the_schemas_are_brief(visit: Visit) -> None:
    schemas = [convert_to_openai_tool(tool) for tool in visit.tools().values()]
    text = json.dumps(schemas, separators=(",", ":"))
    assert len(text) < 4500, "about 1,100 tokens, paid for with every request"
    assert all(schema["function"]["description"] for schema in schemas)
    assert "Arguments of" not in text
    edit = next(schema for schema in schemas if schema["function"]["name"] == "edit_file")["function"]["parameters"]
    assert edit["properties"]["edits"]["items"]["required"] == ["search", "replace"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("view_file", {"path": "README.md"}, "1\t# Shop"),
        ("view_file", {"path": "src/cart.py", "start": 4, "lines": 1}, "4\tdef total"),
        ("list_dir", {}, "README.md"),
        ("find_files", {"glob": "*.py", "path": "src"}, "src/cart.py"),
        ("grep", {"pattern": "TOTAL", "ignore_case": True, "glob": "cart.py"}, "src/cart.py:4:"),
    ],
)
def test_readers_answer_and_write_nothing(visit: Visit, name: str, arguments: dict[str, Any], says: str) -> None:
    assert says in visit.call(name, **arguments)
    assert visit.wrote == []


def test_writers_tell_whose_file_it_is_after_they_wrote_it(visit: Visit) -> None:
    visit.call("edit_file", path="./src/../README.md", edits=[{"search": "Shop", "replace": "Store"}])
    visit.call("write_file", path="src/new.py", content="")
    assert visit.wrote == ["README.md", "src/new.py"]
    assert (visit.root / "README.md").read_text() == "# Store\n"


def test_a_fault_leaves_the_tool_as_it_is_and_nothing_is_claimed(visit: Visit) -> None:
    with pytest.raises(ToolFault) as caught:
        visit.call("write_file", path="tests/test_cart.py", content="")
    assert caught.value.kind == "permission_denied"
    with pytest.raises(ToolFault):
        visit.call("edit_file", path="README.md", edits=[{"search": "zebra", "replace": "x"}])
    assert visit.wrote == []


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("view_file", {}),
        ("view_file", {"path": "README.md", "end": 3}),
        ("view_file", {"path": "README.md", "start": 0}),
        ("edit_file", {"path": "README.md", "edits": []}),
        ("edit_file", {"path": "README.md", "edits": [{"old": "a", "new": "b"}]}),
        ("run_command", {"command": "ls", "timeout": -1}),
    ],
)
def test_arguments_that_do_not_fit_are_rejected_not_dropped(visit: Visit, name: str, arguments: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        visit.call(name, **arguments)


def test_a_command_is_run_with_its_timeout_and_rendered(visit: Visit) -> None:
    assert visit.call("run_command", command="pytest -q", timeout=5) == "exit 0 (0.2 s)\nok"
    assert visit.call("run_command", command="ls") == "exit 0 (0.2 s)\nok"
    assert visit.ran == [("pytest -q", 5), ("ls", None)]


@pytest.mark.parametrize(
    ("command", "words"),
    [("git commit -m x", "not run: `git commit` is refused"), ("./deploy.sh", "a person would have to allow it")],
)
def test_a_command_that_may_not_run_is_not_run(visit: Visit, command: str, words: str) -> None:
    with pytest.raises(ToolFault, match=words) as caught:
        visit.call("run_command", command=command)
    assert caught.value.kind == "permission_denied"
    assert visit.ran == []


def test_no_names_means_all_checks(visit: Visit) -> None:
    visit.call("run_checks")
    visit.call("run_checks", names=["pytest"])
    assert visit.checked == [None, ["pytest"]]


def test_effects_of_one_turn_happen_one_at_a_time_and_reads_do_not_wait(visit: Visit) -> None:
    async def turn() -> None:
        tools = visit.tools()
        reading = [tools["view_file"].ainvoke({"path": "README.md"})]
        running = [tools["run_command"].ainvoke({"command": "ls"}) for _ in range(3)]
        checking = [tools["run_checks"].ainvoke({}) for _ in range(2)]
        edits = [tools["edit_file"].ainvoke({"path": "README.md", "edits": [{"search": "#", "replace": "##"}]})]
        await asyncio.gather(*running, *checking, *reading)
        with pytest.raises(ToolFault):  # the lock is free again after a fault
            await tools["edit_file"].ainvoke({"path": "nowhere", "edits": [{"search": "a", "replace": "b"}]})
        await asyncio.gather(*edits)

    asyncio.run(turn())
    assert len(visit.ran) + len(visit.checked) == 5
    assert visit.most == 1


def test_an_edit_waits_for_a_command_that_runs(visit: Visit) -> None:
    async def turn() -> list[str]:
        order: list[str] = []
        tools = visit.tools()

        async def note(name: str, call: Any) -> None:
            await call
            order.append(name)

        await asyncio.gather(
            note("run", tools["run_command"].ainvoke({"command": "ls"})),
            note("edit", tools["write_file"].ainvoke({"path": "a", "content": "x"})),
        )
        return order

    assert asyncio.run(turn()) == ["run", "edit"]


def test_an_agent_can_call_them(visit: Visit) -> None:
    call = {"name": "view_file", "args": {"path": "README.md"}, "id": "c1", "type": "tool_call"}
    message = asyncio.run(visit.tools()["view_file"].ainvoke(AIMessage("", tool_calls=[call]).tool_calls[0]))
    assert isinstance(message, ToolMessage)
    assert message.tool_call_id == "c1"


def result(**facts: Any) -> CommandResult:
    return CommandResult(**({"command": "x", "exit_code": 1, "passed": False, "seconds": 2.345} | facts))


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"stdout": "a\n", "stderr": "b\n"}, "exit 1 (2.3 s)\na\n[stderr]\nb"),
        ({"stderr": "b"}, "exit 1 (2.3 s)\n[stderr]\nb"),
        ({}, "exit 1 (2.3 s)\n[no output]"),
        ({"exit_code": -9}, "killed by SIGKILL (2.3 s)\n[no output]"),
        ({"exit_code": -99}, "killed by signal 99 (2.3 s)\n[no output]"),
    ],
)
def test_the_first_line_tells_how_a_command_ended(facts: dict[str, Any], text: str) -> None:
    assert render(result(**facts)) == text


def test_a_timeout_is_told_in_words_with_what_was_printed() -> None:
    text = render(result(exit_code=None, timed_out=True, stdout="collecting"))
    assert text.startswith("timed out: it was stopped before it had finished")
    assert text.endswith("collecting")


@pytest.mark.parametrize(
    "facts", [{"stdout": "o" * 90_000}, {"stderr": "e" * 90_000}, {"stdout": "o\n" * 50_000, "stderr": "e\n" * 50_000}]
)
def test_long_output_is_bounded_to_head_and_tail(facts: dict[str, str]) -> None:
    text = render(result(**facts))
    assert MAX_OUTPUT * 0.9 < len(text) < MAX_OUTPUT + 300
    assert "characters left out" in text


def test_a_short_stream_is_never_cut_for_a_long_one() -> None:
    text = render(result(stdout="o" * 90_000, stderr="the error\n" * 20))
    assert text.endswith("the error\n" * 19 + "the error")


def test_the_registry_names_nothing_twice() -> None:
    names: Callable[..., tuple[str, ...]] = registry.names
    assert len(set(NAMES)) == len(NAMES) == sum(len(names(kind)) for kind in get_args(Kind))
