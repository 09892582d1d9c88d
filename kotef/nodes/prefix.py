"""Request prefixes of a node, kept alike so that the endpoint's cache can be used."""

from typing import Final

from langchain_core.language_models import BaseChatModel
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import BaseModel

from kotef.context.prefix_fingerprint import Prefix
from kotef.context.request_prefixes import Prefixes
from kotef.deps import RunContext

TEMPLATES: Final = {"planner": "planner", "reviewer": "review"}
"""Role → its prompt."""


def watch_prefix(role: str, answer: type[BaseModel], model: BaseChatModel, visit: int, context: RunContext) -> None:
    """Keep what stands before the task in this request, and say so where it has changed within the run.

    That is what the prompt begins with whatever it is filled with, and the schema of the answer.
    """
    name = str(getattr(model, "model_name", "") or type(model).__name__)
    now = Prefix.of(context.prompts.head(TEMPLATES[role]), [convert_to_openai_tool(answer)])
    if changed := Prefixes(context.run_dir).note(role, name, now):
        context.emit("prefix_drift", visit=visit, role=role, model=name, changed=list(changed))
