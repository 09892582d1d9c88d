"""The list of roles in force that `kotef agents` prints."""

from pathlib import Path
from typing import Final

from kotef.cli.screen import console, one_line, plain, say_json
from kotef.cli.workspace_option import workspace_of
from kotef.redaction import shown_url
from kotef.runs.config import config_path, read_config
from kotef.runs.roles import read_agents
from kotef.sdd.agents import Role
from kotef.settings import Limits
from kotef.tools.registry import EDITORS
from kotef.tools.role_tools import GROUPS


def agents_command(root: str | None, *, trust: bool, as_json: bool) -> None:
    """`kotef agents`: every role in force, what is special about it, and what of the files does not count."""
    found = read_agents(workspace_of(root), read_config(config_path()), trust=trust)
    if as_json:
        say_json([_facts(role) for role in found.roles.values()])
        return
    screen = console()
    for role in found.roles.values():
        screen.print(f"{role.name}  ({plain(_short(role.source))})", style="bold")
        if role.description:
            screen.print(f"  {one_line(role.description)}")
        for line in _lines(role):
            screen.print(f"  {one_line(line, 240)}")
    for notice in found.notices:
        screen.print(f"note: {plain(notice)}", style="yellow")


ANSWERS: Final = frozenset({"planner", "reviewer"})
"""Roles that are asked for one answer, without tools."""


def _edits(role: Role) -> bool:
    if role.name in ANSWERS:
        return False
    return role.tools is None or any(name in EDITORS for name in role.tools)


def _facts(role: Role) -> dict[str, object]:
    bound = role.bound(Limits(), edits=_edits(role))
    tools = None if role.tools is None else list(role.tools)
    if role.name in ANSWERS:
        tools = []
    return {
        "name": role.name,
        "source": role.source,
        "description": role.description,
        "model": role.model or None,
        "baseUrl": shown_url(role.base_url) or None,
        "temperature": role.temperature,
        "tools": tools,
        "edits": _edits(role),
        "steps": 1 if role.name in ANSWERS else bound.max_steps,
        "maxToolCalls": 0 if role.name in ANSWERS else bound.max_tool_calls,
        "prompt": role.prompt,
        "unknown": list(role.unknown),
    }


def _lines(role: Role) -> list[str]:
    bound = role.bound(Limits(), edits=_edits(role))
    asked = [f"model {role.model}"] if role.model else []
    asked += [f"at {shown_url(role.base_url)}"] if role.base_url else []
    asked += [f"temperature {role.temperature:g}"] if role.temperature is not None else []
    limits = f"at most {bound.max_steps} steps and {bound.max_tool_calls} tool calls an attempt"
    lines = ["gives one answer, without tools" if role.name in ANSWERS else limits, ", ".join(asked)]
    if role.tools is not None and role.name not in ANSWERS:
        group = next((word for word, names in GROUPS.items() if tuple(sorted(names)) == role.tools), "")
        lines.append(
            f"tools: {group or ', '.join(role.tools) or 'none'}" + ("" if _edits(role) else " (edits nothing)")
        )
    if role.unknown:
        lines.append(f"a run in this role does not start: kotef does not know {', '.join(role.unknown)}")
    lines.append(f"says: {role.prompt}" if role.prompt else "")
    return [line for line in lines if line]


def _short(source: str) -> str:
    return source.replace(str(Path.home()), "~")
