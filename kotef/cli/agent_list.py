"""The list of roles in force that `kotef agents` prints."""

from typing import Final

from kotef.redaction import shown_url
from kotef.sdd.agents import Role
from kotef.settings import Limits
from kotef.tools.registry import EDITORS
from kotef.tools.role_tools import GROUPS

ANSWERS: Final = frozenset({"planner", "reviewer"})
"""Roles that are asked for one answer, without tools."""


def _edits(role: Role) -> bool:
    if role.name in ANSWERS:
        return False
    return role.tools is None or any(name in EDITORS for name in role.tools)


def role_facts(role: Role) -> dict[str, object]:
    """The JSON form."""
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


def role_lines(role: Role) -> list[str]:
    """The lines that describe one role."""
    bound = role.bound(Limits(), edits=_edits(role))
    settings = [f"model {role.model}"] if role.model else []
    settings += [f"at {shown_url(role.base_url)}"] if role.base_url else []
    settings += [f"temperature {role.temperature:g}"] if role.temperature is not None else []
    limits = f"at most {bound.max_steps} steps and {bound.max_tool_calls} tool calls per attempt"
    lines = ["gives one answer, without tools" if role.name in ANSWERS else limits, ", ".join(settings)]
    if role.tools is not None and role.name not in ANSWERS:
        group = next((word for word, names in GROUPS.items() if tuple(sorted(names)) == role.tools), "")
        lines.append(
            f"tools: {group or ', '.join(role.tools) or 'none'}" + ("" if _edits(role) else " (edits nothing)")
        )
    if role.unknown:
        lines.append(
            f"a run with this role does not start, because it names unknown fields or tools: {', '.join(role.unknown)}"
        )
    lines.append(f"says: {role.prompt}" if role.prompt else "")
    return [line for line in lines if line]
