"""Types of the lines in a run's record."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from kotef.checks.baselines import StoredBaseline
from kotef.checks.types import CommandResult
from kotef.deps import Permission
from kotef.settings import Price, Tariff
from kotef.state import CoderTrial, Edits, Usage
from kotef.tools.tool import Tier

RECORD_NAME: Final = "record.jsonl"
"""In the directory of a run, for its owner alone."""
VERSION: Final = 1


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True)


class Begun(_Line):
    """A process took up the run; a resume has a second one."""

    kind: Literal["begun"] = "begun"
    version: int = VERSION
    kotef_version: str
    tier: Tier
    patches: bool
    window: int | None


class ModelsRecord(_Line):
    """Which models the run has, and what they cost."""

    kind: Literal["models"] = "models"
    coder: str
    """How its edits are recognised; empty if no coder asks a model."""
    planner: bool
    reviewer: bool
    coder_price: Tariff | Price | None
    planner_price: Tariff | Price | None
    reviewer_price: Tariff | Price | None


class ModelFailureRecord(_Line):
    """How a call of a model failed, beyond its retries."""

    fault: str
    """A fault of `ModelError`, or `overflow`; otherwise the name of the exception that ended the run."""
    text: str
    tries: int = 1
    lost: int = 0


class ModelCallRecord(_Line):
    """One call of a model that came to an end."""

    kind: Literal["answer"] = "answer"
    visit: int
    node: str
    """`planner`, `coder`, `review`, `compaction`."""
    call: int
    """The number of the call of this node in this visit, from 1."""
    kept: int
    """How many messages are the first ones of its request before."""
    request: tuple[tuple[str, str], ...]
    """Who speaks, and a digest of what is said, for each message after those; the tools are before all messages."""
    message: dict[str, Any] | None = None
    failed: ModelFailureRecord | None = None
    seconds: float


class Commanded(_Line):
    """One command of a check or a coder."""

    kind: Literal["command"] = "command"
    n: int
    visit: int
    of: Literal["check", "command"]
    name: str
    command: str
    result: CommandResult


class TreeRecord(_Line):
    """The tree after something that changed it; what changed nothing has none."""

    kind: Literal["effect"] = "effect"
    of: int
    """The number of the line that reports it."""
    tree: str


class Worked(_Line):
    """One visit of a coder that starts processes of its own."""

    kind: Literal["work"] = "work"
    n: int
    visit: int
    coder: str
    edits: Edits
    usage: Usage
    found: bool
    hints: tuple[str, ...]
    tried: frozenset[CoderTrial]
    seconds: float


class Declined(_Line):
    """Whether such a coder had something to do; `why` is empty when it had."""

    kind: Literal["declined"] = "declined"
    visit: int
    coder: str
    why: str


class Called(_Line):
    """One call of a tool whose answer comes from outside the files of the workspace."""

    kind: Literal["tool"] = "tool"
    n: int
    visit: int
    tool: str
    arguments: str
    """A digest."""
    content: Any
    status: Literal["success", "error"]
    marks: dict[str, Any]


class Agreed(_Line):
    """The person's answer to a plan."""

    kind: Literal["plan"] = "plan"
    visit: int
    steps: tuple[str, ...] | None
    """The approved steps, possibly edited; None: the person quit."""


class Permitted(_Line):
    """The person's answer to a command that the policy does not allow on its own."""

    kind: Literal["permission"] = "permission"
    visit: int
    command: str
    said: Permission


class Reused(_Line):
    """The baseline was an earlier run's."""

    kind: Literal["baseline"] = "baseline"
    kept: StoredBaseline


class WindowRecord(_Line):
    """How many tokens the coder's model was found to read at once."""

    kind: Literal["window"] = "window"
    tokens: int


class Full(_Line):
    """Nothing was kept from here on: the record had reached its largest size, or the disk was full."""

    kind: Literal["full"] = "full"
    bytes: int


Entry = Annotated[
    Begun
    | ModelsRecord
    | ModelCallRecord
    | Commanded
    | TreeRecord
    | Worked
    | Declined
    | Called
    | Agreed
    | Permitted
    | Reused
    | WindowRecord
    | Full,
    Field(discriminator="kind"),
]
_ENTRY: Final[TypeAdapter[Entry]] = TypeAdapter(Entry)


def read_record(path: Path) -> tuple[list[Entry], int]:
    """The lines of a record, and how many of them cannot be read: a kill tears at most the last of each process.

    Raises `OSError`.
    """
    found: list[Entry] = []
    unread = 0
    with path.open("rb") as file:
        for line in file:
            try:
                found.append(_ENTRY.validate_json(line))
            except ValidationError:
                unread += bool(line.strip())
    return found, unread


def digest_of(value: object) -> str:
    """The same for the same value, whatever the order of its keys."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def after(before: Sequence[tuple[str, str]], now: Sequence[tuple[str, str]]) -> int:
    """How many of the first messages of two requests are the same."""
    same = 0
    for old, new in zip(before, now, strict=False):
        if old != new:
            break
        same += 1
    return same


def asked_of(messages: Sequence[Any], tools: Sequence[Mapping[str, Any]], root: str) -> list[tuple[str, str]]:
    """The parts of a request: its tools, if any, then each message, independent of the workspace's path."""
    digests = [(str(message.type), digest_of(_message_parts(message, root))) for message in messages]
    offered = [tool.get("function", tool) for tool in tools]
    schemas = [(str(tool.get("name", "")), tool.get("parameters")) for tool in offered]
    return [("tools", digest_of(schemas)), *digests] if schemas else digests


def _message_parts(message: Any, root: str) -> list[Any]:
    calls = [(call["name"], call["args"]) for call in getattr(message, "tool_calls", ())]
    content = json.dumps(message.content, ensure_ascii=False, default=str)
    return [content.replace(json.dumps(root, ensure_ascii=False)[1:-1], "WORKSPACE"), calls]
