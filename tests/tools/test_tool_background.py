"""Commands in the background: a handle, bounded output, never more than a few, and none that outlives its visit."""

import asyncio
import os
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from kotef.coders.change_attribution import Hands
from kotef.errors import CheckError
from kotef.sandbox import Completed, run_process
from kotef.tools import background
from kotef.tools.background import MOST, Background
from kotef.tools.errors import ToolFault
from kotef.workspace import Snapshots


class Watch:
    """How many commands run, as the hands of a visit are told."""

    def __init__(self) -> None:
        self.now = self.most = 0

    @contextmanager
    def __call__(self) -> Iterator[None]:
        self.now += 1
        self.most = max(self.most, self.now)
        yield_to = self.now
        try:
            yield
        finally:
            assert yield_to
            self.now -= 1


def play(root: Path, story: Callable[[Background], Awaitable[None]], watch: Watch | None = None) -> None:
    """A visit that runs commands for real."""

    async def start(command: str, log: Path, timeout: float | None) -> Completed:
        return await run_process(
            command, cwd=root, env=dict(os.environ), timeout=timeout or 60, idle_timeout=None, log=log, log_cap=10_000
        )

    async def visit() -> None:
        async with Background(start, root / "logs", 2, watching=watch or Watch()) as commands:
            await story(commands)

    asyncio.run(visit())


async def until(commands: Background, handle: str, words: str) -> str:
    """Read until the words are there."""
    deadline = time.monotonic() + 20
    while words not in (told := await commands.read(handle, 0.2)):
        assert time.monotonic() < deadline, told
    return told


def _line(path: Path) -> bool:
    return path.exists() and path.read_text().endswith("\n")


async def written(path: Path) -> None:
    """Wait until a command has written a line there."""
    deadline = time.monotonic() + 20
    while not _line(path):
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_a_command_runs_on_and_each_look_shows_what_is_new(tmp_path: Path) -> None:
    async def story(commands: Background) -> None:
        told = await commands.start("echo one; read x < pipe; echo two; exit 3", None)
        assert told.startswith("bg_2_1: running for ")
        if "one" not in told:
            await until(commands, "bg_2_1", "one")
        assert (await commands.read("bg_2_1")).endswith("[no new output]")
        (tmp_path / "pipe").write_text("go\n")
        told = await until(commands, "bg_2_1", "two")
        assert "one" not in told
        if "running" in told:
            told = await commands.read("bg_2_1", 20)
        assert "bg_2_1: ended, exit 3" in told

    os.mkfifo(tmp_path / "pipe")
    play(tmp_path, story)


def test_stopping_ends_all_that_a_command_started(tmp_path: Path) -> None:
    watch = Watch()

    async def story(commands: Background) -> None:
        await commands.start("sleep 300 & echo $! > pid; setsid sleep 300 & echo $! > other; wait", None)
        await written(tmp_path / "other")
        pids = [int((tmp_path / name).read_text()) for name in ("pid", "other")]
        assert all(map(is_alive, pids))
        assert (await commands.stop("bg_2_1")).startswith("bg_2_1: stopped")
        assert not any(map(is_alive, pids))
        assert (await commands.stop("bg_2_1")).startswith("bg_2_1: stopped"), "stopping twice is no error"
        assert watch.now == 0

    play(tmp_path, story, watch)
    assert watch.most == 1


def test_the_end_of_a_visit_ends_what_still_runs_also_when_it_fails(tmp_path: Path) -> None:
    async def story(commands: Background) -> None:
        await commands.start("echo $$ > pid; sleep 300", None)
        await written(tmp_path / "pid")
        raise RuntimeError("the visit")

    with pytest.raises(RuntimeError, match="the visit"):
        play(tmp_path, story)
    assert not is_alive(int((tmp_path / "pid").read_text()))


def test_only_a_few_run_at_a_time_and_one_that_ended_makes_room(tmp_path: Path) -> None:
    async def story(commands: Background) -> None:
        for _ in range(MOST):
            await commands.start("sleep 300", None)
        with pytest.raises(ToolFault, match=r"not started: bg_2_1, bg_2_2, bg_2_3 are still running"):
            await commands.start("true", None)
        await commands.stop("bg_2_2")
        assert (await commands.start("true", None)).startswith("bg_2_4: ")

    play(tmp_path, story)


@pytest.mark.parametrize(
    ("command", "timeout", "says"),
    [("no-such-command-here", None, "exit 127"), ("sleep 300", 0.1, "stopped at its timeout"), ("exit 4", 9, "exit 4")],
)
def test_what_ends_at_once_is_told_at_once(tmp_path: Path, command: str, timeout: float | None, says: str) -> None:
    async def story(commands: Background) -> None:
        told = await commands.start(command, timeout)
        assert says in (told if "running" not in told else await commands.read("bg_2_1", 20))

    play(tmp_path, story)


def test_output_is_bounded_on_disk_and_in_the_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(background, "MAX_OUTPUT", 1000)

    async def story(commands: Background) -> None:
        await commands.start("read x < pipe; yes | head -c 200000", None)
        (tmp_path / "pipe").write_text("go\n")
        kept: list[str] = []
        told = await commands.read("bg_2_1", 20, keep=lambda text: kept.append(text) or "tr_1")
        assert told.endswith("[view_truncated_output tr_1 shows what was kept]")
        assert len(kept[0]) > 5000
        assert (tmp_path / "logs" / "bg_2_1.log").stat().st_size < 11_000
        assert len(told) < 2000

    os.mkfifo(tmp_path / "pipe")
    play(tmp_path, story)


def test_a_handle_of_an_earlier_process_is_told_as_ended_and_not_given_again(tmp_path: Path) -> None:
    async def before(commands: Background) -> None:
        await commands.start("echo listening; sleep 300", None)
        await commands.read("bg_2_1", 0.1)

    async def after(commands: Background) -> None:
        for told in (await commands.read("bg_2_1"), await commands.stop("bg_2_1")):
            assert "ended when kotef was interrupted" in told
        assert (await commands.start("true", None)).startswith("bg_2_2: ")

    play(tmp_path, before)
    play(tmp_path, after)


@pytest.mark.parametrize("handle", ["bg_9_9", "", "../../etc/passwd", "bg_2_1/../x"])
def test_a_handle_nobody_gave_names_those_there_are(tmp_path: Path, handle: str) -> None:
    async def story(commands: Background) -> None:
        await commands.start("true", None)
        for act in (commands.read, commands.stop):
            with pytest.raises(ToolFault, match="the commands are: bg_2_1"):
                await act(handle)

    play(tmp_path, story)


def test_a_command_that_cannot_be_started_is_an_answer(tmp_path: Path) -> None:
    async def start(command: str, log: Path, timeout: float | None) -> Completed:
        raise CheckError(command, "cannot be started", hint="shorten it")

    async def visit() -> None:
        async with Background(start, tmp_path, 1, watching=Watch()) as commands:
            assert "not run: x: cannot be started" in await commands.start("x", None)

    asyncio.run(visit())


def test_what_changes_while_a_command_runs_in_the_background_is_the_coders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    root = tmp_path / "project"
    root.mkdir()
    hands = Hands(Snapshots.open(root), tmp_path)
    with hands.alongside():
        (root / "built").write_text("x")
        with hands.watching():
            (root / "ran").write_text("x")
        (root / "later").write_text("x")
    assert hands.foreign == set()
    (root / "person").write_text("x")
    with hands.alongside():
        pass
    assert hands.foreign == {"person"}, "what was there before it started is somebody else's"
