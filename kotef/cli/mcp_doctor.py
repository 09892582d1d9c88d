"""Check of this repository's MCP servers: whether each starts, and which tools it has."""

import asyncio
import importlib.util
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from kotef.cli.screen import console, plain
from kotef.errors import SpecError
from kotef.failures.plural import counted
from kotef.mcp_client import NOT_INSTALLED, McpSession, Server, ServerFault, tool_name
from kotef.runs.mcp_config import FILES, find_servers
from kotef.runs.sandbox_setup import usual_sandbox
from kotef.runs.secret_sources import hide
from kotef.sandbox import Sandbox

BROKEN: Final = 5


class _ServerFinding(NamedTuple):
    """The finding about one server."""

    ok: bool
    text: str


def report_servers(place: Path, reads: Sequence[str] = ()) -> int:
    """One line a server, `ok` or `missing` and why, then its tools; 0, 2 or 5. Servers may read what `reads` name."""
    screen = console()
    named = find_servers(place).each()
    servers = [each for each in named if isinstance(each, Server)]
    faults = [_ServerFinding(ok=False, text=str(each)) for each in named if isinstance(each, SpecError)]
    hide(place, servers=servers)
    if not named:
        screen.print(f"ok      no MCP server is configured in {' or '.join(FILES)}")
        return 0
    if importlib.util.find_spec("mcp") is None:
        screen.print(f"missing {NOT_INSTALLED}", style="red")
        return BROKEN
    with tempfile.TemporaryDirectory(prefix="kotef-") as logs:
        sandbox = usual_sandbox(place, network=True, reads=reads)
        findings = [*faults, *asyncio.run(_findings(servers, place, Path(logs), sandbox))]
    for finding in findings:
        screen.print(f"{'ok' if finding.ok else 'missing':<7} {plain(finding.text)}", style="" if finding.ok else "red")
    if faults:
        return SpecError.exit_code
    return 0 if all(finding.ok for finding in findings) else BROKEN


async def _findings(servers: Sequence[Server], root: Path, logs: Path, sandbox: Sandbox) -> list[_ServerFinding]:
    def progress(line: str) -> None:
        sys.stderr.write(f"{plain(line)}\n")

    sessions = (McpSession(server, root, logs / f"{server.name}.log", sandbox, progress) for server in servers)
    return list(await asyncio.gather(*map(_finding, sessions)))


async def _finding(session: McpSession) -> _ServerFinding:
    server = session.server
    try:
        tools = await session.open()
    except ServerFault as fault:
        return _ServerFinding(ok=False, text=str(fault))
    finally:
        await session.close()
    names = "".join(f"\n          {tool_name(server.name, tool.name)}" for tool in tools)
    return _ServerFinding(ok=True, text=f"{server.name} ({server.shown}): {counted(len(tools), 'tool')}{names}")
