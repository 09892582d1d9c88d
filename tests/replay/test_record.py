"""Is a record read whatever became of it, and does it find again what was heard?"""

import asyncio
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage

from kotef.checks.types import CommandResult
from kotef.replay.player import NeverHeardError, Player
from kotef.replay.record_types import Commanded, asked_of, read_record
from kotef.replay.recorder import Recorder, comes_from_outside, without_pid
from kotef.replay.tape import CommandKey


def ran(recorder: Recorder, command: str, said: str) -> None:
    async def result() -> CommandResult:
        return CommandResult(command=command, exit_code=0, passed=True, stdout=said)

    asyncio.run(recorder.command(CommandKey("command", "", command), result))


async def never() -> CommandResult:
    raise AssertionError("a command was run")


@given(st.binary())
def test_any_bytes_are_lines_or_unread(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("record") / "record.jsonl"
    path.write_bytes(content)
    lines, unread = read_record(path)
    assert len(lines) + unread <= content.count(b"\n") + 1


def test_equal_commands_are_played_in_their_order(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "record.jsonl", tmp_path)
    for said in ("first", "second"):
        ran(recorder, "make", said)
    player = Player(read_record(tmp_path / "record.jsonl")[0], tmp_path)

    async def play() -> list[str]:
        return [(await player.command(CommandKey("command", "", "make"), never)).stdout for _ in range(2)]

    assert asyncio.run(play()) == ["first", "second"]
    with pytest.raises(NeverHeardError, match="the command `make` in visit 0 was never recorded"):
        asyncio.run(player.command(CommandKey("command", "", "make"), never))
    with pytest.raises(NeverHeardError):
        player.answer([], [])


def test_a_record_goes_on_after_a_kill_and_a_torn_line_is_the_only_loss(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    ran(Recorder(path, tmp_path), "one", "1")
    with path.open("a") as file:
        file.write('{"kind": "comm')
    ran(Recorder(path, tmp_path), "two", "2")
    lines, unread = read_record(path)
    assert [line.command for line in lines if isinstance(line, Commanded)] == ["one", "two"]
    assert len({line.n for line in lines if isinstance(line, Commanded)}) == 2
    assert unread == 1


def test_a_record_that_cannot_be_written_costs_the_record_alone(tmp_path: Path) -> None:
    recorder = Recorder(tmp_path / "nowhere" / "record.jsonl", tmp_path)
    ran(recorder, "make", "done")
    assert not (tmp_path / "nowhere").exists()


def test_a_request_is_the_same_wherever_the_workspace_lies_and_whatever_calls_are_numbered() -> None:
    def asked(root: str, number: str, said: str = "fine") -> list[tuple[str, str]]:
        call = {"name": "view_file", "args": {"path": "a"}, "id": number, "type": "tool_call"}
        messages = [
            HumanMessage(f"work in {root}"),
            AIMessage(content="", tool_calls=[call]),
            ToolMessage(said, tool_call_id=number),
        ]
        return asked_of(messages, [{"function": {"name": "view_file", "parameters": {}}}], root)

    assert asked("/home/one", "call_1") == asked("/tmp/again", "call_2")
    assert asked("/home/one", "call_1")[:3] == asked("/home/one", "call_1", "otherwise")[:3]
    assert asked("/home/one", "call_1") != asked("/home/one", "call_1", "otherwise")
    assert [who for who, _ in asked("/a", "1")] == ["tools", "human", "ai", "tool"]


def test_the_log_of_a_check_is_the_same_in_another_process() -> None:
    assert without_pid("coder-4711-3-pytest") == without_pid("coder-12-1-pytest") == "coder-pytest"
    assert without_pid("visit-1-pytest-2-3") == "visit-1-pytest-2-3"


def test_what_reaches_outside_is_kept_and_what_follows_from_the_files_is_not() -> None:
    assert comes_from_outside("web_fetch", {"url": "x"})
    assert comes_from_outside("run_command", {"command": "x", "background": True})
    assert comes_from_outside("their_server_tool", {})
    assert comes_from_outside("git_diff", {"base": "HEAD"})
    for tool in ("view_file", "edit_file", "run_command", "run_checks", "grep", "git_diff"):
        assert not comes_from_outside(tool, {})
