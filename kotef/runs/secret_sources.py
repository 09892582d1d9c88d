"""Sources of secrets that a run could meet, registered for redaction."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Final

from kotef.errors import UsageError
from kotef.files import holds_secrets, read_within, walk_within
from kotef.mcp_client import Server
from kotef.models.model_settings import ModelSettings
from kotef.redaction import (
    SECRET_NAME,
    KnownSecret,
    Redactor,
    know,
    redactor,
    secrets_of_env_file,
    secrets_of_environment,
    secrets_of_run,
    secrets_of_settings,
)
from kotef.runs.config import UserConfig
from kotef.workspace import REBUILT_FOLDERS

_LARGEST: Final = 256 * 1024
"""Bytes of one environment file."""
_MOST_FILES: Final = 200_000
"""Number of workspace files that are searched for environment files."""
_LETS_IN: Final = re.compile(r"auth|cookie|key|token|secret", re.IGNORECASE)
"""Part of the name of an HTTP header whose value is secret."""


def hide(
    root: Path,
    config: UserConfig | None = None,
    *,
    servers: Iterable[Server] = (),
    passed: Iterable[str] = (),
    logins: Mapping[str, str] = MappingProxyType({}),
    addresses: Iterable[str | None] = (),
    env: Mapping[str, str] = os.environ,
) -> None:
    """Redact, from now on, secret variables, values of the workspace's `.env` files, and keys of the run.

    Keys of the run are those of its endpoints and what its MCP servers are given; `passed` are variables that its
    commands are given, `logins` what they are let in with elsewhere, by name; `addresses` may hold a password: those
    of endpoints, beside the configured ones.
    """
    endpoints = config.endpoints.values() if config else ()
    configured = (config.base_url, *(one.base_url for one in endpoints)) if config else ()
    keys = {name: env[name] for name in ("OPENAI_API_KEY", *(one.api_key_env for one in endpoints)) if name in env}
    known = [
        *secrets_of_run(keys),
        *secrets_of_environment(env),
        *secrets_of_settings([(name, env[name]) for name in passed if name in env]),
    ]
    known += secrets_of_run(logins)
    known += [one for settings in (config.models.values() if config else ()) for one in _of_model(settings)]
    known += [one for url in (*addresses, *configured) if url for one in secrets_of_environment({"base_url": url})]
    for server in servers:
        given = {name: value for name, value in server.env.items() if SECRET_NAME.search(name)}
        headers = {name: value.split()[-1] for name, value in server.headers.items() if _LETS_IN.search(name) and value}
        known += [*secrets_of_run(given), *secrets_of_run(headers)]
    for path in environment_files(root):
        text = _read(root, path.relative_to(root).as_posix())
        known += [
            one for one in secrets_of_env_file(text) if not os.path.lexists(root / one[1])
        ]  # paths are not secrets
    know(Redactor(known))


def _of_model(settings: ModelSettings) -> list[KnownSecret]:
    """Secrets that a model's endpoint receives with each request: all headers, and keys in the query."""
    query = {name: value for name, value in settings.query.items() if _LETS_IN.search(name)}
    found = {name: value.get_secret_value() for name, value in {**settings.headers, **query}.items()}
    parts = {name: value.split()[-1] for name, value in found.items() if len(value.split()) > 1}
    return [*secrets_of_run(found), *secrets_of_run(parts)]


def refuse_secrets_in(commands: Iterable[str]) -> None:
    """UsageError for a command of the task that contains a known secret, because commands are stored as they are."""
    for command in commands:
        shown = redactor().text(command)
        if shown != command:
            raise UsageError(
                f"the command `{shown}` contains the value of a secret",
                hint="let the command read it from a file, or take it out of .env if it is not a secret",
            )


def environment_files(root: Path) -> Iterator[Path]:
    """Files of the workspace named like `.env` files, without samples and dependencies."""
    seen = 0
    for place, folders, files in walk_within(root, most=_MOST_FILES):
        folders[:] = [] if "pyvenv.cfg" in files else [name for name in folders if name not in _PASSED_OVER]
        seen += len(files) + 1
        found = (name for name in files if name.casefold().startswith(".env") and holds_secrets(name))
        yield from (root / place / name for name in found)
        if seen > _MOST_FILES:
            return


_PASSED_OVER: Final = REBUILT_FOLDERS | {".git", ".sdd"}


def _read(root: Path, path: str) -> str:
    """The beginning of a regular file; empty if it is missing, not regular or unreadable."""
    try:
        return read_within(root, path, largest=_LARGEST, cut=True).decode("utf-8", "surrogateescape")
    except OSError:
        return ""
