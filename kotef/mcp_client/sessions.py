"""Sessions with the MCP servers of one run."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterable, Sequence
from contextlib import AsyncExitStack, suppress
from datetime import timedelta
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from kotef.mcp_client.log import log_without_secrets
from kotef.mcp_client.server_process import (
    StartError,
    environment_of,
    hidden_arguments,
    must_be_startable,
    server_room,
    start_turn,
)
from kotef.mcp_client.servers import Server
from kotef.redaction import redactor
from kotef.sandbox import OFF, Sandbox
from kotef.tools.errors import ToolFault
from kotef.tools.text import clip_line, clip_middle
from kotef.tools.tool import ToolContext, ToolSpec

if TYPE_CHECKING:
    from mcp import ClientSession
    from mcp.types import CallToolResult, Tool

PROGRESS_SECONDS: Final = 5.0
"""Between two lines about a server that has not started."""
CLOSE_SECONDS: Final = 10.0
MAX_TEXT: Final = 12_000
"""Characters of one result."""
MAX_DESCRIPTION: Final = 400
_LONGEST_LINE: Final = 200
"""Characters of a program's line in a message."""
_LONGEST_NAME: Final = 64
"""Characters of a tool's name that endpoints take."""


class ServerFault(Exception):  # noqa: N818  a server that does not start is reported, and the run continues without it
    """Why a server fails, in one line."""


class McpSession:
    """One server and the one conversation with it; a task of its own opens, holds and closes it.

    The library's scopes must end in the task they began in, and the visits of a run are different tasks.
    """

    def __init__(
        self,
        server: Server,
        root: Path,
        log: Path,
        sandbox: Sandbox = OFF,
        progress: Callable[[str], None] | None = None,
    ) -> None:
        """Nothing is started yet; what a program says on stderr goes to `log`, and `sandbox` confines it.

        `progress` is called with one line every few seconds while the server starts.
        """
        self.server, self.root, self.log, self.sandbox, self.progress = server, root, log, sandbox, progress
        self._closing = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._session: ClientSession | None = None

    async def open(self) -> "list[Tool]":
        """Start the server and ask for its tools. Raises `ServerFault`; it is closed then."""
        ready: asyncio.Future[list[Tool]] = asyncio.get_running_loop().create_future()
        self._task = asyncio.create_task(self._serve(ready))
        await self._started(ready, self._task)
        if ready.done():
            return ready.result()
        ended = self._task.done()
        await self.close()
        why = self._why() if ended else self._late()
        shown = f" ({self.server.shown[:100]})" if self.server.shown else ""
        raise ServerFault(f"MCP server {self.server.name}{shown} did not start: {why}")

    async def _started(self, ready: "asyncio.Future[list[Tool]]", task: "asyncio.Task[None]") -> None:
        """Wait until the server is ready, has ended or is too late, and report in between."""
        loop, limit = asyncio.get_running_loop(), self.server.start_seconds
        begin = loop.time()
        while (left := begin + limit - loop.time()) > 0:
            either: list[asyncio.Future[Any]] = [ready, task]
            patience = min(left, PROGRESS_SECONDS)
            done, _ = await asyncio.wait(either, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
            if done:
                return
            if self.progress is not None and loop.time() - begin < limit:
                spent = f"{loop.time() - begin:.0f} of at most {limit:g} s"
                words = f": {last}" if (last := self._last_words()) else ""
                self.progress(f"MCP server {self.server.name} is starting, {spent}{words}")

    async def call(self, tool: str, arguments: dict[str, Any]) -> str:
        """The text of one result, bounded. Raises `ToolFault` for a refusal, a failure and a server that has ended."""
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp import McpError

        name, seconds = self.server.name, self.server.timeout_seconds
        if self._session is None or self._task is None or self._task.done():
            raise ToolFault("exec_error", f"MCP server {name} has ended; continue without it")
        try:
            async with asyncio.timeout(seconds + 1):
                result = await self._session.call_tool(tool, arguments, timedelta(seconds=seconds))
        except (McpError, TimeoutError) as error:
            late = isinstance(error, TimeoutError) or error.error.code == HTTPStatus.REQUEST_TIMEOUT
            limit = f"{tool} gave no answer within {seconds:g} s, the server's `timeoutSeconds`; continue without it"
            why = limit if late else clip_line(str(error) or "it failed without a message", 500)
            raise ToolFault("exec_error", f"MCP server {name}: {why}") from error
        except (BrokenResourceError, ClosedResourceError) as error:
            raise ToolFault("exec_error", f"MCP server {name} has ended; continue without it") from error
        text = clip_middle(redactor().text(text_of(result)), MAX_TEXT)
        if result.isError:
            raise ToolFault("exec_error", text or f"{tool} failed without a message")
        return text or "[no output]"

    async def close(self) -> None:
        """End the conversation and the server; one that does not end is killed by the library, or left."""
        self._closing.set()
        if self._task is None:
            return
        if self._session is not None:  # else it waits for an answer, and sees nothing of our wish
            await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        self._task.cancel()
        await asyncio.wait([self._task], timeout=CLOSE_SECONDS)
        if self._task.done() and not self._task.cancelled():
            self._task.exception()  # reported where it mattered, or no longer useful to anyone

    async def _serve(self, ready: "asyncio.Future[list[Tool]]") -> None:
        from mcp import ClientSession

        logging.getLogger("mcp").propagate = False  # it logs a traceback for every line that is not a message
        for logger in (logging.getLogger("mcp"), logging.getLogger()):  # without a handler, words go to stderr
            if not logger.handlers:
                logger.addHandler(logging.NullHandler())
        async with AsyncExitStack() as stack:
            async with AsyncExitStack() as starting:
                read, write = await self._streams(stack, starting)
                session = await stack.enter_async_context(ClientSession(read, write))
                await session.initialize()
                tools = await _tools(session)
            self._session = session
            if not ready.done():
                ready.set_result(tools)
            await self._closing.wait()
            self._session = None

    async def _streams(self, stack: AsyncExitStack, starting: AsyncExitStack) -> tuple[Any, Any]:
        server = self.server
        if server.type == "stdio":
            return await self._of_program(stack, starting)
        if server.type == "sse":
            from mcp.client.sse import sse_client

            return await stack.enter_async_context(sse_client(server.url, headers=server.headers))
        from mcp.client.streamable_http import streamablehttp_client

        read, write, _ = await stack.enter_async_context(streamablehttp_client(server.url, headers=server.headers))
        return read, write

    async def _of_program(self, stack: AsyncExitStack, starting: AsyncExitStack) -> tuple[Any, Any]:
        """The streams of a program, which is started in a room of its own. Raises `StartError`."""
        from mcp.client.stdio import StdioServerParameters, stdio_client

        server, root = self.server, self.root
        log = await stack.enter_async_context(log_without_secrets(self.log))
        await starting.enter_async_context(start_turn(server, root, self.sandbox))
        sandbox = stack.enter_context(server_room(server, root, self.sandbox))
        environment = environment_of(server, sandbox)
        must_be_startable(server, root, environment, sandbox)
        command, *arguments = sandbox.within([server.command, *server.args], cwd=root)
        parameters = StdioServerParameters(command=command, args=arguments, env=environment, cwd=root)
        return await stack.enter_async_context(stdio_client(parameters, errlog=log))

    def _last_words(self) -> str:
        """The last line a program wrote on stderr."""
        with suppress(OSError):
            return self.log.read_text(encoding="utf-8", errors="replace").strip().rpartition("\n")[2][:_LONGEST_LINE]
        return ""

    def _late(self) -> str:
        """Why a server that is still at work is given up."""
        limit = f"no answer within {self.server.start_seconds:g} s, the server's `startTimeoutSeconds`"
        return clip_line(": ".join(part for part in (limit, self._last_words()) if part), 300)

    def _why(self) -> str:
        """The first error of the task that has ended, and where a program says something, its last words."""
        error = self._task.exception() if self._task and not self._task.cancelled() else None
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if isinstance(error, StartError):
            return str(error)
        words = str(error or "")
        if words in {"", "Connection closed"}:  # which of the two is a race between its end and our question
            words = "it ended before it answered"
        hidden = hidden_arguments(self.server, self.sandbox) if self.server.type == "stdio" else ""
        failure = clip_line(": ".join(part for part in (words, self._last_words()) if part), 300)
        return f"{failure}; {hidden}" if hidden else failure


class Servers:
    """The servers of one run: all are started when the first visit asks for their tools, and kept until the end."""

    def __init__(
        self, servers: Sequence[Server], root: Path, logs: Path, say: Callable[[str], None], sandbox: Sandbox = OFF
    ) -> None:
        """`say` is called with a line about a server that starts slowly, or not at all; the run continues without it.

        `sandbox` confines those that are programs, at the level that is a command line of its own (bwrap).
        """
        self._say = say
        self._sessions = [McpSession(server, root, logs / f"mcp-{server.name}.log", sandbox, say) for server in servers]
        self._rows: list[ToolSpec] | None = None

    async def rows(self) -> list[ToolSpec]:
        """The tools of all servers that start, sorted by name; the servers are asked once a run."""
        if self._rows is None:
            opened = await asyncio.gather(*map(self._opened, self._sessions))
            rows = {row.name: row for session, tools in opened for row in rows_of(session, tools)}
            self._rows = [rows[name] for name in sorted(rows)]
        return self._rows

    async def aclose(self) -> None:
        """End every server that was started."""
        await asyncio.gather(*(session.close() for session in self._sessions))

    async def _opened(self, session: McpSession) -> "tuple[McpSession, list[Tool]]":
        try:
            return session, await session.open()
        except ServerFault as fault:
            self._say(f"{fault}; its tools are missing")
            return session, []


def rows_of(session: McpSession, tools: "Iterable[Tool]") -> list[ToolSpec]:
    """A server's tools as rows of the table, each under the name of its server."""
    return [_row(session, tool) for tool in tools]


def tool_name(server: str, tool: str) -> str:
    """`server__tool`, with only what endpoints take in a name, and no longer than they take it."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", f"{server}__{tool}")[:_LONGEST_NAME]


def text_of(result: "CallToolResult") -> str:
    """What a result says in words; of what is not text, what it is."""
    parts = []
    for block in result.content:
        match block.type:
            case "text":
                parts.append(block.text)
            case "resource":
                parts.append(getattr(block.resource, "text", f"[{block.resource.mimeType or 'binary'} left out]"))
            case "resource_link":
                parts.append(str(block.uri))
            case "image" | "audio":
                parts.append(f"[{block.mimeType} left out]")
    if not parts and result.structuredContent is not None:
        parts.append(json.dumps(result.structuredContent))
    return "\n".join(parts).strip()


def _row(session: McpSession, tool: "Tool") -> ToolSpec:
    async def act(context: ToolContext, /, **arguments: Any) -> str:
        async with context.one_at_a_time:
            with context.watching():
                return await session.call(tool.name, arguments)

    words = clip_line(" ".join((tool.description or tool.title or tool.name).split()), MAX_DESCRIPTION)
    schema = {"type": "object", "properties": {}, **tool.inputSchema}
    return ToolSpec(tool_name(session.server.name, tool.name), "runner", "all", schema, act, words, needs="mcp")


async def _tools(session: "ClientSession") -> "list[Tool]":
    """All pages of the list of tools."""
    found = await session.list_tools()
    tools = list(found.tools)
    while found.nextCursor:
        found = await session.list_tools(found.nextCursor)
        tools += found.tools
    return tools
