"""MCP servers in a configuration, and how to reach each."""

import json
import re
from collections.abc import Mapping
from typing import Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from kotef.errors import SpecError

NOT_INSTALLED: Final = "MCP servers need an extra that is not installed: pip install 'kotef[mcp]'"

_NAME: Final = re.compile(r"(?!.*__)[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}")


class Server(BaseModel):
    """One server of `mcpServers`, as other clients write it, too; fields that are only theirs are passed over."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: Literal["stdio", "http", "sse"] = "stdio"
    """`http` is the streamable kind; where nothing is said, a URL makes it so."""
    command: str = ""
    """The program of a `stdio` server, started in the workspace."""
    args: tuple[str, ...] = ()
    env: dict[str, str] = {}
    """Added to a small environment without secrets."""
    url: str = ""
    headers: dict[str, str] = {}
    timeout_seconds: float = Field(default=60, gt=0, le=3600, alias="timeoutSeconds")
    """For the answer to one call of a tool."""
    start_seconds: float = Field(default=60, gt=0, le=3600, alias="startTimeoutSeconds")
    """From its start to its list of tools; `npx` and `uvx` first download the server."""
    shown: str = ""
    """The command line or the address as the file has it: the values of variables may be secrets."""

    @field_validator("name")
    @classmethod
    def _short_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name):
            raise ValueError("a server's name is 1 to 32 letters, digits, - and single _")
        return name

    @model_validator(mode="before")
    @classmethod
    def _kind(cls, found: Any) -> Any:
        """The names other clients use for the kinds."""
        if not isinstance(found, dict):
            return found
        kind = str(found.get("type") or found.get("transport") or ("http" if found.get("url") else "stdio"))
        return {**found, "type": "http" if kind.replace("_", "-") == "streamable-http" else kind}

    @model_validator(mode="after")
    def _reachable(self) -> "Server":
        if self.type == "stdio" and not self.command:
            raise ValueError("it needs a command or a URL")
        if self.type != "stdio" and not self.url.startswith(("http://", "https://")):
            raise ValueError("it needs a URL that begins with http:// or https://")
        return self


def parse_servers(text: str, path: str, environment: Mapping[str, str]) -> tuple[Server, ...]:
    """The servers of one configuration file, in its order, `${VAR}` replaced; disabled ones are left out.

    Raises `SpecError` that names file, server and field, or the variable that is not set.
    """
    return tuple(server_of(name, found, path, environment) for name, found in named_servers(text, path).items())


def named_servers(text: str, path: str) -> dict[str, Any]:
    """What a configuration file says of each server that is not disabled, unread. Raises `SpecError` for the file."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise SpecError(path, f"is not JSON: {error}", hint="fix the file") from error
    named = whole.get("mcpServers") if isinstance(whole, dict) else None
    if not isinstance(named, dict):
        raise SpecError(path, "has no object `mcpServers`", hint='write {"mcpServers": {"NAME": {"command": "…"}}}')
    return {
        name: found for name, found in named.items() if not (isinstance(found, dict) and found.get("disabled") is True)
    }


def server_of(name: str, found: Any, path: str, environment: Mapping[str, str]) -> Server:
    """One server as its file has it. Raises `SpecError` as `parse_servers` does."""
    if not isinstance(found, dict):
        raise SpecError(path, f"server {name} is not an object", hint="fix the file")
    try:
        filled = substituted(found, environment)
    except KeyError as error:
        variable = error.args[0]
        hint = f"set it, or give a default: ${{{variable}:-…}}"
        raise SpecError(path, f"server {name}: ${{{variable}}} is not set", hint=hint) from None
    try:
        server = Server.model_validate({**filled, "name": name})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join((name, *(str(part) for part in first["loc"])))
        raise SpecError(path, f"server {where}: {first['msg']}", hint="fix the file") from None
    shown = " ".join((found["command"], *found.get("args", ()))) if server.type == "stdio" else found["url"]
    return server.model_copy(update={"shown": shown})


def substituted(found: Any, environment: Mapping[str, str]) -> Any:
    """A JSON value with `${VAR}` and `${VAR:-default}` replaced in its texts, keys aside; `KeyError` for an unset one.

    What comes out of a variable is not looked at again.
    """
    if isinstance(found, dict):
        return {key: substituted(value, environment) for key, value in found.items()}
    if isinstance(found, list):
        return [substituted(value, environment) for value in found]
    return _VARIABLE.sub(lambda match: _value(match, environment), found) if isinstance(found, str) else found


def _value(match: re.Match[str], environment: Mapping[str, str]) -> str:
    name, default = match.groups()
    return environment[name] if default is None else environment.get(name) or default
