"""Preview of the first request that a model would receive."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from langchain_core.utils.function_calling import convert_to_openai_tool

from kotef.coders.first_message import Past, first_message, system_prompt
from kotef.context.prefix_fingerprint import Prefix
from kotef.context.prompts import Prompts
from kotef.failures.history import FailureHistory
from kotef.models.usage import CHARACTERS_PER_TOKEN
from kotef.nodes.plan_material import planning_words
from kotef.nodes.planner import PlanAnswer, plan_by_code, planner_text
from kotef.state import AgentState, Task, Usage
from kotef.tools.planning_excerpts import planning_excerpts
from kotef.tools.registry import offered
from kotef.tools.tool import Feature
from kotef.tools.toolset import Kit


class Part(NamedTuple):
    """One part of a request."""

    name: str
    text: str

    @property
    def tokens(self) -> int:
        """Estimated number of tokens, at four characters each."""
        return -(-len(self.text) // CHARACTERS_PER_TOKEN)


class Preview(NamedTuple):
    """The first request of one role, as far as it is known before the checks have run."""

    parts: tuple[Part, ...]
    tools: tuple[dict[str, Any], ...]
    prefix: Prefix


def preview_coder(task: Task, prompts: Prompts, kit: Kit) -> Preview:
    """The coder's first request, with a plan made by code and without tools of MCP servers."""
    reach: dict[Feature, object] = {"web": task.web, "web_search": task.web_search_url}
    features: list[Feature] = [name for name, given in reach.items() if given]
    rows = offered(kit.tier, (*kit.features, *features), only=task.roles.coder.tools, more=kit.more)
    system = system_prompt(prompts, task.roles.coder)
    message = first_message(prompts, kit, task, plan_by_code(_state(task), 1), Past())
    return _preview(system, message, [row.schema for row in rows])


def preview_planner(task: Task, prompts: Prompts, root: Path) -> Preview:
    """The planner's first request, before a check has run."""
    excerpts = planning_excerpts(root, task=planning_words(task), failing=())
    text = planner_text(_state(task), "", prompts, excerpts=excerpts)
    return _preview("", text, [convert_to_openai_tool(PlanAnswer)])


def _state(task: Task) -> AgentState:
    return {
        "task": task,
        "failure_history": FailureHistory(),
        "usage": Usage(),
        "snapshots": {},
        "tried": frozenset(),
        "visits": {},
    }


def _preview(system: str, message: str, tools: Sequence[dict[str, Any]]) -> Preview:
    schemas = "\n".join(json.dumps(tool, ensure_ascii=False, separators=(",", ":")) for tool in tools)
    parts = (Part("system prompt", system), Part("tools", schemas), Part("first message", message))
    return Preview(tuple(part for part in parts if part.text), tuple(tools), Prefix.of(system, tools))
