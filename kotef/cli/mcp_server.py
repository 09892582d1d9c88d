"""Start of kotef as an MCP server for an editor or another agent."""

import asyncio
import importlib.util
import io
import logging
import signal
from collections.abc import Iterable
from pathlib import Path

from rich.console import Console

from kotef.cli.screen import Screen
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.events import RecordedEvent
from kotef.git import inspect
from kotef.mcp_client import NOT_INSTALLED
from kotef.mcp_server.server import Workspace, serve
from kotef.runs.config import config_path, read_config
from kotef.runs.garbage_collection import loaded
from kotef.runs.secret_sources import hide
from kotef.settings import Limits

WIDTH = 200


def serve_until_gone(place: Path) -> None:
    """Serve the workspace until the client has gone."""
    if importlib.util.find_spec("mcp") is None:
        raise UsageError(NOT_INSTALLED)
    hide(place, read_config(config_path()))
    logging.getLogger("mcp").propagate = False  # a client shows stderr to a person, as an error
    logging.getLogger("mcp").addHandler(logging.NullHandler())
    loaded()
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # the library's reader of stdin would hold up a gentler end
    asyncio.run(serve(Workspace(place, lines_of)))


def lines_of(events: Iterable[RecordedEvent], max_attempts: int) -> list[str]:
    """The lines that `kotef run` prints for these events without a terminal."""
    page = io.StringIO()
    paper = Console(
        file=page, force_terminal=False, highlight=False, markup=False, emoji=False, soft_wrap=True, width=WIDTH
    )
    screen = Screen(limits=Limits(max_attempts=max_attempts), screen=paper)
    with screen.watching():
        for event in events:
            screen(event)
    return page.getvalue().splitlines()


def served_workspace(root: str | None) -> Path:
    """The workspace; an editor may start kotef anywhere, so an unnamed directory must at least look like one."""
    place = workspace_of(root)
    if root is None and not inspect(place).is_repo and not (place / ".sdd").is_dir():
        raise UsageError(
            f"{place} is not a git repository and has no .sdd/", hint="name the workspace: kotef mcp --root DIR"
        )
    return place
