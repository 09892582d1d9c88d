"""Programs use kotef through the names that the package exports: runs, checks and the classifier."""

import asyncio
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TypedDict, get_type_hints

import click
import pytest
from langgraph.checkpoint.memory import InMemorySaver
from langgraph.graph import END, START, StateGraph
from support.loop import FIXED, UNITTEST, UNITTEST_TEST, one_bug

import kotef
from kotef.api import CheckOptions, ResumeOptions, RunOptions
from kotef.cli.commands.check import check as check_command
from kotef.cli.commands.resume import resume as resume_command
from kotef.cli.commands.run import run as run_command
from kotef.errors import NoChecksError, UsageError

NAMES = [
    "AgentState",
    "Diagnosis",
    "Event",
    "Inspection",
    "Result",
    "RunHandle",
    "__version__",
    "acheck",
    "aresume",
    "arun",
    "build_graph",
    "check",
    "classify",
    "resume",
    "run",
    "start",
]
ON_A_SCREEN = {"goal", "root", "run_id", "last", "as_json", "interactive", "github", "pr_body", "quiet", "verbose"}
"""Parameters of their own in Python, or without a meaning there."""
SLOW = "sleep 60"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """How far a search looks for rivals of the first edit that passes is tested in `tests/repair`."""
    monkeypatch.setattr("kotef.repair.search_loop._AFTER", 0.2)
    monkeypatch.setattr("kotef.repair.search_loop._MORE", 40)
    return one_bug(tmp_path / "project", UNITTEST_TEST)


def test_the_exported_names_are_these() -> None:
    assert kotef.__all__ == NAMES
    assert all(getattr(kotef, name) is not None for name in NAMES)
    with pytest.raises(AttributeError, match="no attribute 'rnu'"):
        kotef.rnu  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_loads_nothing_of_it() -> None:
    script = "import sys, kotef; print([name for name in sys.modules if name.startswith(('kotef.', 'lang', 'click'))])"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout == "[]\n"


@pytest.mark.parametrize(
    ("options", "command"),
    [(RunOptions, run_command), (ResumeOptions, resume_command), (CheckOptions, check_command)],
    ids=["run", "resume", "check"],
)
def test_every_option_of_a_command_is_one_in_python(options: type, command: click.Command) -> None:
    assert set(get_type_hints(options)) == {param.name for param in command.params} - ON_A_SCREEN


def test_a_run_returns_its_result_and_tells_what_happens(project: Path) -> None:
    handle = kotef.start("make add add", root=project, checks=[UNITTEST], coder="search", probes="off")
    names = [event.name for event in handle]
    result = handle.result()
    assert (result.outcome, result.exit_code, result.changed) == ("verified", 0, ("calc.py",))
    assert (names[0], names[-1]) == ("run_started", "run_finished")
    assert [event.number for event in handle] == list(range(1, len(names) + 1))
    assert (project / "calc.py").read_text() == FIXED


def test_a_run_that_ends_short_is_a_result_and_can_be_resumed(project: Path) -> None:
    first = kotef.run("make add add", root=project, checks=[UNITTEST, "false"], coder="search", max_attempts=1)
    assert (first.exit_code, first.issue) == (3, ".sdd/issues.md")
    second = kotef.resume(first.run_id, root=project, max_attempts=2)
    assert (second.run_id, second.exit_code) == (first.run_id, 3)


def test_asyncio_waits_and_reads_events_without_blocking(project: Path) -> None:
    async def go() -> tuple[list[str], kotef.Result, int]:
        ticks = 0

        async def clock() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0.01)
                ticks += 1

        beside = asyncio.create_task(clock())
        handle = kotef.start("make add add", root=project, checks=[UNITTEST], coder="search", probes="off")
        names = [event.name async for event in handle]
        result = await handle
        beside.cancel()
        return names, result, ticks

    names, result, ticks = asyncio.run(go())
    assert (result.outcome, names[-1]) == ("verified", "run_finished")
    assert ticks > len(names)


def test_a_cancelled_run_ends_interrupted_and_can_be_resumed(project: Path) -> None:
    handle = kotef.start("make add add", root=project, checks=[SLOW])
    next(event for event in handle if event.name == "check_started")
    handle.cancel()
    result = handle.result(timeout=30)
    assert (result.outcome, result.exit_code, bool(result.resume)) == ("interrupted", 130, True)


def test_a_cancelled_task_stops_its_run(project: Path) -> None:
    async def go() -> None:
        task = asyncio.create_task(kotef.arun("make add add", root=project, checks=[SLOW]))
        await asyncio.sleep(1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    began = time.monotonic()
    asyncio.run(go())
    assert time.monotonic() - began < 30
    assert not list((project / ".sdd").glob("*.lock"))
    assert kotef.check(project, checks=["true"]).green, "the workspace is free again"


def test_the_state_can_be_kept_by_a_checkpointer_of_the_program(
    project: Path, caplog: pytest.LogCaptureFixture
) -> None:
    saver = InMemorySaver()
    options: Any = {"root": project, "checks": [UNITTEST, "false"], "coder": "search", "max_attempts": 1}
    first = kotef.run("make add add", checkpointer=saver, **options)
    second = kotef.resume(first.run_id, root=project, max_attempts=2, checkpointer=saver)
    assert (second.run_id, second.exit_code) == (first.run_id, 3)
    assert not caplog.messages, "each type in a checkpoint is known"
    assert saver.get({"configurable": {"thread_id": first.run_id}}) is not None


def test_a_run_is_a_node_of_another_graph(project: Path) -> None:
    class State(TypedDict):
        goal: str
        outcome: str

    async def fix(state: State) -> dict[str, str]:
        result = await kotef.arun(state["goal"], root=project, checks=[UNITTEST], coder="search", probes="off")
        return {"outcome": result.outcome}

    graph = StateGraph(State)
    graph.add_node("fix", fix)
    graph.add_edge(START, "fix")
    graph.add_edge("fix", END)
    state: Any = {"goal": "make add add"}
    assert asyncio.run(graph.compile().ainvoke(state))["outcome"] == "verified"


def test_what_cannot_be_done_is_an_error_of_ours(project: Path, tmp_path: Path) -> None:
    unknown: Any = {"colour": "red"}
    with pytest.raises(UsageError, match="colour: not an option of kotef run"):
        kotef.run("x", root=project, **unknown)
    with pytest.raises(UsageError, match="max-attempts"):
        kotef.run("x", root=project, max_attempts=99)
    with pytest.raises(UsageError, match="the command is empty"):
        kotef.run("x", root=project, checks=[" "])
    with pytest.raises(UsageError):
        kotef.resume("20200101-000000-aaaa", root=project)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NoChecksError):
        kotef.check(tmp_path / "empty")


def test_a_goal_that_looks_like_an_option_is_a_goal(project: Path) -> None:
    result = kotef.run("--json is broken", root=project, checks=["true"], coder="search", max_attempts=1)
    assert "--json is broken" in (project / ".sdd" / "runs" / result.run_id / "report.md").read_text()


def test_checks_are_judged_and_output_is_classified(project: Path) -> None:
    found = kotef.check(project, checks=[UNITTEST])
    assert (found.green, found.exit_code, found.checks[0].failures[0].test) == (False, 3, "test_calc.py::Add::test_add")
    assert asyncio.run(kotef.acheck(project, checks=["true"])).green
    diagnosis = kotef.classify(
        b"E   assert 1 == 2\nFAILED test_a.py::test_b - assert 1 == 2\n1 failed in 0.1s\n", "pytest", 1
    )
    assert (diagnosis.kind, diagnosis.tests) == ("test_failure", ("test_a.py::test_b",))
    assert kotef.classify("all good", "pytest", 0).kind is None
