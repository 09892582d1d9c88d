"""Fingerprint of a request's prefix, to see whether the endpoint's cache can be used."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import BaseModel, ConfigDict

SYSTEM = "system prompt"


class Prefix(BaseModel):
    """The system prompt and the schemas of the tools, as one request sends them."""

    model_config = ConfigDict(frozen=True)

    sha256: str
    length: int
    """Characters of system prompt and schemas together."""
    parts: Mapping[str, str]
    """A hash for the system prompt and for each tool by its name, in the order in which they are sent."""

    @classmethod
    def of(cls, system: str, tools: Sequence[Mapping[str, Any]]) -> Self:
        """The prefix of these; a tool is as the OpenAI API has it."""
        texts = [(SYSTEM, system), *((_name(tool), json.dumps(tool, ensure_ascii=False)) for tool in tools)]
        whole = "".join(text for _, text in texts)
        return cls(sha256=_hash(whole), length=len(whole), parts={name: _hash(text)[:16] for name, text in texts})

    def changed(self, before: Self) -> tuple[str, ...]:
        """The names of what differs; only the order if nothing else does; empty if they are the same."""
        if self.sha256 == before.sha256:
            return ()
        names = dict.fromkeys((*before.parts, *self.parts))
        return tuple(name for name in names if self.parts.get(name) != before.parts.get(name)) or (
            "order of the tools",
        )


def _name(tool: Mapping[str, Any]) -> str:
    return str(tool.get("function", tool).get("name", ""))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
