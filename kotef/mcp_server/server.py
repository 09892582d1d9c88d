"""The tools that kotef offers to editors and other agents over MCP, and their answers."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from pydantic import ValidationError

from kotef import __version__
from kotef.errors import KotefError, UsageError
from kotef.mcp_server import requests
from kotef.mcp_server.background_run import Detached, at_work, until
from kotef.mcp_server.check import Checks, Progress
from kotef.mcp_server.status import Status, Told, status_of
from kotef.redaction import redactor
from kotef.runs import store
from kotef.sdd.export import title
from kotef.sdd.issue_log import issues_path, read_issues

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from mcp.types import Tool

STOP_SECONDS: Final = 30.0
"""How long a cancelled run is waited for."""

INSTRUCTIONS: Final = """\
kotef works on a goal or a ticket in this one workspace until the project's own checks prove it, or until its attempts
are spent. start_run returns at once and the run continues by itself, also without you; ask run_status (wait_seconds)
how it stands. One run works here at a time, and it edits the files of the workspace: do not edit them meanwhile. Only
the outcome `verified` means success. A run that ended otherwise has an entry; read_issues lists it. check runs the
project's checks and edits nothing."""


class Offer(NamedTuple):
    """One tool."""

    words: str
    takes: type[requests.ToolRequest]
    reads_only: bool
    gives: type[Status] | None = None
    reports: bool = False
    """Whether it sends notifications of progress."""


OFFERS: Final = {
    "start_run": Offer(
        "Start a run on a goal or a ticket; returns its id as soon as it has started. It edits files of the workspace, "
        "commits nothing, and continues when this server ends.",
        requests.StartRun,
        reads_only=False,
        gives=Status,
    ),
    "run_status": Offer(
        "Show the state of a run or how it ended: state, attempt, last lines, tokens, cost, outcome.",
        requests.RunStatus,
        reads_only=True,
        gives=Status,
    ),
    "cancel_run": Offer(
        "Stop the run that is at work. It ends `interrupted`, with an issue entry, and can be resumed by a person.",
        requests.CancelRun,
        reads_only=False,
        gives=Status,
    ),
    "read_issues": Offer(
        "List the entries of .sdd/issues.md: runs that did not succeed, why, and what to do about each.",
        requests.ReadIssues,
        reads_only=True,
    ),
    "check": Offer(
        "Run the project's own checks and judge them, compared with HEAD where something is uncommitted; no edits. If "
        "the answer has state `running`, call it again with its checkId as check_id.",
        requests.CheckRequest,
        reads_only=True,
        reports=True,
    ),
}


@dataclass(slots=True)
class Workspace:
    """The one workspace a server is for."""

    root: Path
    told: Told
    runs: Detached = field(init=False)
    checks: Checks = field(init=False)

    def __post_init__(self) -> None:
        self.runs, self.checks = Detached(self.root), Checks(self.root)

    async def answer(self, name: str, arguments: dict[str, Any], progress: Progress | None = None) -> dict[str, Any]:
        """What a tool found, without secrets. Raises `KotefError`, and nothing else on purpose.

        `progress` is called while a tool that takes long is at work.
        """
        offer = OFFERS.get(name)
        if offer is None:
            raise UsageError(f"there is no tool {name!r:.60}", hint=f"the tools are {', '.join(OFFERS)}")
        try:
            given = offer.takes.model_validate(arguments)
        except ValidationError as error:
            raise UsageError(_problem(error)) from None
        self.runs.reap()
        act: Callable[..., Awaitable[dict[str, Any]]] = getattr(self, f"_{name}")
        found = await (act(given, progress) if offer.reports else act(given))
        return redactor().whole(found)

    async def _start_run(self, given: requests.StartRun) -> dict[str, Any]:
        if not (given.goal.strip() or given.ticket):
            raise UsageError("no goal or ticket was given", hint="give `goal` or `ticket`")
        return self._status(await self.runs.start(given.command_line()))

    async def _run_status(self, given: requests.RunStatus) -> dict[str, Any]:
        run = store.find(self.root, given.run_id)
        await until(lambda: None if at_work(self.root, run) else True, given.wait_seconds)
        return self._status(run, given.lines)

    async def _cancel_run(self, given: requests.CancelRun) -> dict[str, Any]:
        run = store.find(self.root, given.run_id)
        await self.runs.cancel(run, STOP_SECONDS)
        return self._status(run)

    async def _read_issues(self, given: requests.ReadIssues) -> dict[str, Any]:
        log = read_issues(issues_path(self.root))
        entries = [entry for entry in log.entries if given.state in ("all", entry.state)]
        return {
            "issues": [{"title": title(entry), **entry.model_dump(mode="json", by_alias=True)} for entry in entries],
            "problems": [str(problem) for problem in log.problems],
        }

    async def _check(self, given: requests.CheckRequest, progress: Progress | None) -> dict[str, Any]:
        return await self.checks.ask(given.check_id, given.wait_seconds, progress)

    def _status(self, run: store.RunDir, lines: int = 5) -> dict[str, Any]:
        return status_of(self.root, run, self.told, lines).model_dump(mode="json", by_alias=True)


def server_for(workspace: Workspace) -> "Server[Any, Any]":
    """The server; it knows no other workspace, and no tool of it takes a path."""
    from mcp.server.lowlevel import Server

    server: Server[Any, Any] = Server("kotef", __version__, instructions=INSTRUCTIONS)

    async def listed() -> "list[Tool]":
        return [_tool(name, offer) for name, offer in OFFERS.items()]

    async def called(name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        try:
            return await workspace.answer(name, arguments, _progress_of(server))
        except KotefError as error:
            raise RuntimeError(" ".join(redactor().text(str(error)).split())) from None

    server.list_tools()(listed)  # type: ignore[no-untyped-call]
    server.call_tool(validate_input=False)(called)
    return server


async def serve(workspace: Workspace) -> None:
    """Answer on standard input and output until the input ends."""
    from mcp.server.stdio import stdio_server

    server = server_for(workspace)
    try:
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())
    finally:
        await workspace.checks.close()


def _progress_of(server: "Server[Any, Any]") -> Progress | None:
    """What sends progress to the client of the request at work; None if it asked for none."""
    context = server.request_context
    token = context.meta.progressToken if context.meta else None
    if token is None:
        return None

    async def progress(seconds: float, words: str) -> None:
        await context.session.send_progress_notification(token, seconds, message=words)

    return progress


def _tool(name: str, offer: Offer) -> "Tool":
    from mcp.types import Tool, ToolAnnotations

    gives = offer.gives.model_json_schema(by_alias=True, mode="serialization") if offer.gives else None
    return Tool(
        name=name,
        description=offer.words,
        inputSchema=offer.takes.model_json_schema(),
        outputSchema=gives,
        annotations=ToolAnnotations(
            readOnlyHint=offer.reads_only, destructiveHint=False, idempotentHint=offer.reads_only, openWorldHint=False
        ),
    )


def _problem(error: ValidationError) -> str:
    """The first thing that is wrong, in one line that names the argument."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    where = ".".join(map(str, first["loc"]))
    return f"{where}: {first['msg']}" if where else str(first["msg"])
