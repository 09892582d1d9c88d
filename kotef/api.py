"""Public Python surface: runs, checks and the classifier for a program of yours; `kotef` exports its names.

Options are those of the command of the same name, with the same defaults, environment variables and errors.
"""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator, Callable, Generator, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any, Final, Literal, TypedDict, Unpack

import click

from kotef.checks.contradictions import diagnosis_of
from kotef.classification import Diagnosis, classify_text
from kotef.cli.commands.check import check as check_options
from kotef.cli.commands.resume import resume as resume_options
from kotef.cli.commands.run import run as run_options
from kotef.cli.run_setup import ready, ready_again
from kotef.cli.workspace_check import inspect_workspace
from kotef.errors import UsageError
from kotef.events import RecordedEvent
from kotef.graph import build_graph
from kotef.redaction import scope
from kotef.runs.inspection_result import Inspection
from kotef.runs.result import Result
from kotef.runs.run_config import RunConfig
from kotef.runs.signals import StopRequest
from kotef.runs.start import resume as go_on
from kotef.runs.start import start as begin
from kotef.state import AgentState
from kotef.telemetry import observed

if TYPE_CHECKING:
    from langgraph.checkpoint.base import BaseCheckpointSaver

__all__ = [
    "AgentState",
    "Diagnosis",
    "Event",
    "Inspection",
    "Result",
    "RunHandle",
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

log = logging.getLogger("kotef")

StrPath = str | PathLike[str]
Ready = Callable[[], RunConfig]
Go = Callable[[RunConfig], Result]

_QUIET: Final = ("--json", "--no-interactive")
"""Nothing is printed, and no one is asked."""


class CommonOptions(TypedDict, total=False):
    """Options of `kotef run` and `kotef resume`."""

    max_attempts: int
    max_tokens: int
    max_calls: int
    max_cost: float
    max_time: float
    max_call_time: float
    max_commands: int
    max_written: int
    reruns: int
    probes: Literal["off", "fast", "full"]
    probe_time: float
    max_steps: int
    max_tool_calls: int
    context_window: int
    continues: int
    sandbox: str
    network: bool
    reads: Sequence[str]
    coder: str
    coder_env: Sequence[str]
    coder_files: Sequence[str]
    model: str
    planner_model: str
    fallback_model: str
    base_url: str
    allow_install: bool
    accept_ambiguous: bool
    branch: str
    commit_hooks: bool


class RunOptions(CommonOptions, total=False):
    """Options of `kotef run`; its help says what each means."""

    ticket: str
    ticket_file: str
    checks: Sequence[str]
    profile: Literal["strict", "fast", "smoke", "yolo"]
    agent: str
    skills: Sequence[str]
    allow_edits: Sequence[str]
    allow_unverified: bool
    ignore_dependencies: bool
    fresh: bool
    no_cache: bool
    trust: bool
    web: bool
    web_search_url: str
    mcp: bool


class ResumeOptions(CommonOptions, total=False):
    """Options of `kotef resume`; its help says what each means."""

    from_file: str
    fingerprint: str
    one_more: bool


class CheckOptions(TypedDict, total=False):
    """Options of `kotef check`; its help says what each means."""

    checks: Sequence[str]
    against: str
    compare: bool
    reruns: int
    probes: Literal["off", "fast", "full"]
    sandbox: str
    network: bool
    reads: Sequence[str]


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a run's `events.jsonl`."""

    number: int
    """Monotonic in a run, resumes included."""
    time: float
    """Seconds since the epoch."""
    name: str
    """`check_finished`, `planned`, `tool_started`, `run_finished`, …"""
    fields: Mapping[str, Any]
    """The fields of the event, by name."""


class RunHandle:
    """A run at work in a thread of its own: its events, its result, and a way to stop it.

    Iterate over it for the events (`for` or `async for`); call `result()`, or await it, for the result.
    """

    def __init__(self, ready: Ready, go: Go, *, checkpointer: "BaseCheckpointSaver[Any] | None" = None) -> None:
        """Begins at once."""
        self._ready, self._go, self._checkpointer = ready, go, checkpointer
        self._stop = StopRequest()
        self._changed = threading.Condition()
        self._events: list[Event] = []
        self._ended = False
        self._result: Result | None = None
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._work, name="kotef")  # not in the context of a graph around it
        self._thread.start()

    def cancel(self) -> None:
        """Ask the run to stop now, as one Ctrl-C in a job does: it ends `interrupted`, and can be resumed."""
        self._stop.set()

    def done(self) -> bool:
        """Whether the run has ended."""
        return self._ended

    def result(self, timeout: float | None = None) -> Result:
        """Wait for the end, at most `timeout` seconds.

        Raises TimeoutError, or the KotefError that kept the run from beginning: `UsageError`, `BusyError`, … However
        a run that began ends, it has a result.
        """
        self._thread.join(timeout)
        if not self._ended:
            raise TimeoutError("the run is still at work")
        if self._error is not None:
            raise self._error
        assert self._result is not None  # noqa: S101  a thread that ended has one of the two
        return self._result

    def __iter__(self) -> Iterator[Event]:
        """The events from the first one on, as they happen, up to the end of the run."""
        number = 0
        while (event := self._event(number)) is not None:
            yield event
            number += 1

    async def __aiter__(self) -> AsyncIterator[Event]:
        """Iterate without blocking the event loop."""
        number = 0
        while (event := await asyncio.to_thread(self._event, number)) is not None:
            yield event
            number += 1

    def __await__(self) -> Generator[Any, None, Result]:
        """Wait for the result; a task that is cancelled while it waits stops the run, and waits for its end."""
        return self._wait().__await__()

    async def _wait(self) -> Result:
        waiting = asyncio.ensure_future(asyncio.to_thread(self.result))
        try:
            return await asyncio.shield(waiting)
        except asyncio.CancelledError:
            self.cancel()
            await asyncio.wait([waiting])
            with suppress(Exception):
                waiting.result()
            raise

    def _event(self, number: int) -> Event | None:
        """The event at this place, as soon as there is one; None if the run ended before."""
        with self._changed:
            self._changed.wait_for(lambda: len(self._events) > number or self._ended)
            return self._events[number] if len(self._events) > number else None

    def _take(self, recorded: RecordedEvent) -> None:
        line = recorded.line()
        number, time, name = (line.pop(key) for key in ("n", "t", "event"))
        with self._changed:
            self._events.append(Event(number, time, name, line))
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            with scope():
                config = self._ready()
                config = replace(
                    config,
                    watchers=(*config.watchers, self._take),
                    stop=self._stop,
                    checkpointer=self._checkpointer,
                )
                with observed(config, log.warning) as seen:
                    self._result = self._go(seen)
        except BaseException as error:  # noqa: BLE001  it is raised where the result is asked for
            self._error = error
        finally:
            with self._changed:
                self._ended = True
                self._changed.notify_all()


def start(
    goal: str = "",
    *,
    root: StrPath | None = None,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
    **options: Unpack[RunOptions],
) -> RunHandle:
    """Begin a run and return at once. Raises UsageError for an option that cannot be read.

    `root` is the workspace, by default that of the current directory. `checkpointer` keeps the state of the graph
    instead of the run's own SQLite file; a resume then needs the same one.
    """
    call_options = _options(run_options, {"root": root, **options}, goal)
    return RunHandle(lambda: ready(call_options), begin, checkpointer=checkpointer)


def run(
    goal: str = "",
    *,
    root: StrPath | None = None,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Work on a goal or a ticket to its end, as `kotef run` does. Ctrl-C stops the run, then is raised."""
    return _ended(start(goal, root=root, checkpointer=checkpointer, **options))


async def arun(
    goal: str = "",
    *,
    root: StrPath | None = None,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
    **options: Unpack[RunOptions],
) -> Result:
    """Like `run`, for asyncio; a cancelled task stops the run first."""
    return await start(goal, root=root, checkpointer=checkpointer, **options)


def resume(
    run_id: str = "",
    *,
    root: StrPath | None = None,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
    **options: Unpack[ResumeOptions],
) -> Result:
    """Continue a run, by default the newest, as `kotef resume` does."""
    return _ended(_resumed(run_id, root, checkpointer, options))


async def aresume(
    run_id: str = "",
    *,
    root: StrPath | None = None,
    checkpointer: "BaseCheckpointSaver[Any] | None" = None,
    **options: Unpack[ResumeOptions],
) -> Result:
    """Like `resume`, for asyncio."""
    return await _resumed(run_id, root, checkpointer, options)


def check(root: StrPath | None = None, **options: Unpack[CheckOptions]) -> Inspection:
    """Run the project's checks and judge them, as `kotef check` does; no model is asked and no file is edited.

    Raises KotefError if nothing can be judged: `NoChecksError`, `NoEnvironmentError`, `UsageError`.
    """
    call_options = _options(check_options, {"root": root, **options})
    with scope():
        return inspect_workspace(call_options)


async def acheck(root: StrPath | None = None, **options: Unpack[CheckOptions]) -> Inspection:
    """Like `check`, for asyncio; waits for the checks even if the task is cancelled."""
    return await asyncio.to_thread(check, root, **options)


def classify(output: str | bytes, command: str = "", exit_code: int | None = None) -> Diagnosis:
    """Explain the output of a failed command: kind, detail, summary, fingerprint, tests. Runs nothing."""
    text = output.decode("utf-8", "replace") if isinstance(output, bytes) else output
    return classify_text(command, text) if exit_code is None else diagnosis_of(command, exit_code, text)


def _resumed(
    run_id: str, root: StrPath | None, checkpointer: "BaseCheckpointSaver[Any] | None", options: Mapping[str, Any]
) -> RunHandle:
    newest = {} if run_id or options.get("from_file") else {"last": True}
    call_options = _options(resume_options, {"root": root, **newest, **options}, run_id)
    return RunHandle(lambda: ready_again(call_options), go_on, checkpointer=checkpointer)


def _ended(handle: RunHandle) -> Result:
    try:
        return handle.result()
    except KeyboardInterrupt:
        handle.cancel()
        with suppress(Exception):
            handle.result()
        raise


def _options(command: click.Command, given: Mapping[str, Any], argument: str = "") -> dict[str, Any]:
    """The options as the command line would have them. Raises UsageError for one that is not known, or not valid."""
    known = {param.name: param for param in command.params if isinstance(param, click.Option)}
    words: list[str] = []
    for name, value in given.items():
        if name not in known:
            raise UsageError(f"{name}: not an option of kotef {command.name}")
        if value is not None:
            words += _words(known[name], value)
    quiet = [word for word in _QUIET if any(word in (*each.opts, *each.secondary_opts) for each in known.values())]
    end = ["--", argument] if argument else []
    try:
        return command.make_context(str(command.name), [*words, *quiet, *end]).params
    except click.UsageError as error:
        raise UsageError(error.format_message()) from error


def _words(option: click.Option, value: Any) -> list[str]:
    """The words of a command line that give the option this value."""
    name = option.opts[-1]
    if option.is_flag:
        if value == option.flag_value or (value and option.flag_value is not False):
            return [name]
        return list(option.secondary_opts[:1])
    values = [value] if isinstance(value, str) or not option.multiple else list(value)
    return [f"{name}={fspath(each) if isinstance(each, PathLike) else each}" for each in values]
