"""MCP servers that this run may start."""

import hashlib
import importlib.util
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from kotef.errors import SpecError, UsageError, WorkspaceError
from kotef.files import read_inside, resolve_inside
from kotef.mcp_client import NOT_INSTALLED, Server, named_servers, parse_servers, server_of
from kotef.runs.config import UserConfig, config_path

LARGEST: Final = 1024 * 1024
"""Bytes of one configuration file."""

FILES: Final = (".mcp.json", ".sdd/mcp.json")
"""The later file wins if both name a server."""


@dataclass(frozen=True, slots=True)
class McpConfig:
    """The unread configuration of a repository, which counts only if it is trusted."""

    texts: dict[str, str]
    """File → its text; empty if there is none."""
    fingerprint: str
    """Over names and texts; empty if there is no file."""

    def servers(self, environment: Mapping[str, str] = os.environ) -> tuple[Server, ...]:
        """The servers of all files. Raises `SpecError` for what cannot be used, and an unset variable."""
        named: dict[str, Server] = {}
        for path, text in self.texts.items():
            named |= {server.name: server for server in parse_servers(text, path, environment)}
        return tuple(named.values())

    def each(self, environment: Mapping[str, str] = os.environ) -> tuple[Server | SpecError, ...]:
        """Like `servers`, with the reason in place of each unusable server."""
        named: dict[str, Server | SpecError] = {}
        for path, text in self.texts.items():
            try:
                found = named_servers(text, path)
            except SpecError as error:
                named[path] = error
                continue
            for name, one in found.items():
                try:
                    named[name] = server_of(name, one, path, environment)
                except SpecError as error:
                    named[name] = error
        return tuple(named.values())


NONE: Final = McpConfig({}, "")
"""The configuration without files."""


def find_servers(root: Path) -> McpConfig:
    """The configuration files of a repository. Raises `SpecError` for one that cannot be read."""
    texts: dict[str, str] = {}
    for name in FILES:
        if not os.path.lexists(root / name):
            continue
        try:
            resolve_inside(root, name, write=False)
            texts[name] = read_inside(root, name, largest=LARGEST).decode()
        except (OSError, UnicodeDecodeError, WorkspaceError) as error:
            raise SpecError(name, f"cannot be read: {error}", hint="fix the file, or remove it") from error
    whole = "\0".join(part for item in texts.items() for part in item)
    return McpConfig(texts, hashlib.sha256(whole.encode()).hexdigest()[:32] if texts else "")


def search_url(given: str, *, web: bool) -> str:
    """The address of the search server. Raises `UsageError` if it is invalid."""
    if not given:
        return ""
    if not web:
        raise UsageError("--web-search-url needs --web", hint="add --web, or leave it out")
    parts = urlsplit(given)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise UsageError(f"--web-search-url {given}: not an http or https address", hint="e.g. http://localhost:8888")
    return given


def trusted_servers(
    root: Path, config: UserConfig, *, asked: bool, pinned: str = "", at: Path | None = None
) -> tuple[McpConfig, str]:
    """The configuration this run may use, or an empty one and a line that says why a file is ignored.

    It is trusted for this run (`--mcp`), by the user's configuration while the files are the same, or, on a resume,
    while they are those the run began with (`pinned`). `at` is where the files are read; None: the workspace.

    Raises `UsageError` when servers are asked for and there are none, or the extra is not installed.
    """
    found = find_servers(at or root)
    if asked and not found.texts:
        raise UsageError(f"--mcp: there is neither {' nor '.join(FILES)} here", hint="write one, or leave it out")
    if not found.texts:
        return found, ""
    names = " and ".join(found.texts)
    if asked or found.fingerprint in (config.trusted_mcp.get(str(root)), pinned):
        if importlib.util.find_spec("mcp") is None:
            raise UsageError(NOT_INSTALLED)
        return found, ""
    if pinned:
        return NONE, f"{names} changed since the run began and is ignored"
    return NONE, (
        f"{names} is ignored: it may start programs, and is not trusted (--mcp for one run, "
        f'or "{root}" = "{found.fingerprint}" under [trusted_mcp] in {config_path()})'
    )
