"""Roles that people define for agents, in two layers of precedence."""

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kotef.sdd.files import Problem
from kotef.sdd.frontmatter import Frontmatter, FrontmatterError, read_frontmatter
from kotef.sdd.markdown import UNCLOSED, Line, read_markdown
from kotef.settings import Limits

READ_ONLY_CALLS: Final = 30
"""Tool calls of a read-only agent, unless its role says otherwise."""

MAX_PROMPT: Final = 8_000
"""Characters kept from the beginning of a role's prompt."""

LEVEL: Final = 2
"""Level of the heading that begins a role; higher headings end it, lower ones are part of its prompt."""

_FENCES: Final = frozenset({"", "yaml", "yml"})
_DASHES: Final = "---"
_NAME: Final = re.compile(r"\w[\w.-]*")


class Role(BaseModel):
    """The role of an agent; a field that is None or empty keeps the run's value."""

    model_config = ConfigDict(frozen=True)

    name: str
    """The name for `--agent`: lower case, words joined by `-`."""
    prompt: str = ""
    """The last part of its model's instructions."""
    description: str = ""
    model: str = ""
    base_url: str = ""
    """An endpoint of the user's configuration: the name or the URL of one of `[endpoints]`, or the run's own URL."""
    temperature: float | None = Field(default=None, ge=0, le=2)
    tools: tuple[str, ...] | None = None
    """Names of tools or groups; None: all tools of the run."""
    steps: int | None = Field(default=None, ge=0, le=200)
    """Model calls of one visit; 0: one answer, in words only."""
    max_tool_calls: int | None = Field(default=None, ge=1, le=100)
    source: str = ""
    """Where it is defined, `path:line`, in order of precedence."""
    unknown: tuple[str, ...] = ()
    """Unknown fields; a run with such a role does not start."""

    def bound(self, limits: Limits, *, edits: bool) -> Limits:
        """The limits of a visit in this role; `edits` says whether it has a tool that changes files."""
        calls = self.max_tool_calls or (limits.max_tool_calls if edits else READ_ONLY_CALLS)
        steps = limits.max_steps if self.steps is None else self.steps
        smaller = {
            "max_steps": min(steps, limits.max_steps),
            "max_tool_calls": min(calls, limits.max_tool_calls),
        }
        return limits.model_copy(update=smaller)

    def over(self, lower: "Role") -> "Role":
        """This role, with `lower` for fields it does not set."""
        fields = {name: value for name in _LAYERED if (value := getattr(self, name)) not in (None, "")}
        return lower.model_copy(
            update={**fields, "source": _both(self, lower), "unknown": self.unknown + lower.unknown}
        )

    def narrowing(self, lower: "Role") -> tuple["Role", tuple[str, ...]]:
        """`lower`, narrowed by this role's tools, steps and calls; and the other fields that this role sets."""
        least = {name: _least(getattr(self, name), getattr(lower, name)) for name in ("steps", "max_tool_calls")}
        tools = lower.tools if self.tools is None else self.tools
        if self.tools is not None and lower.tools is not None:
            tools = tuple(name for name in self.tools if name in lower.tools)
        update = {**least, "tools": tools, "source": _both(self, lower), "unknown": self.unknown + lower.unknown}
        widening = tuple(name for name in _WIDENING if getattr(self, name) not in (None, ""))
        return lower.model_copy(update=update), widening


_LAYERED: Final = (
    "prompt",
    "description",
    "model",
    "base_url",
    "temperature",
    "tools",
    "steps",
    "max_tool_calls",
)
_WIDENING: Final = ("prompt", "model", "base_url", "temperature")
_READ: Final = frozenset(_LAYERED) - {"prompt"}
_EXPECTED: Final = {
    "temperature": "a number from 0 to 2",
    "steps": "a whole number from 0 to 200",
    "max_tool_calls": "a whole number from 1 to 100",
}
"""Expected values of the numeric fields of `Role`, for messages."""


class Company(BaseModel):
    """The roles of a run, as they were when it started."""

    model_config = ConfigDict(frozen=True)

    coder: Role = Role(name="coder")
    planner: Role = Role(name="planner")
    reviewer: Role = Role(name="reviewer")


class Roles(NamedTuple):
    """The roles of one file, in its order, and what could not be read; a bad block costs only itself."""

    roles: tuple[Role, ...]
    problems: tuple[Problem, ...]
    broken: tuple[tuple[str, Problem], ...] = ()
    """Name → problem, for names that have only malformed blocks."""


class _Block(NamedTuple):
    title: str
    number: int
    lines: list[Line]

    def line_of(self, key: str) -> int:
        """The line of a field."""
        lines = (line.number for line in self.lines if line.raw.lower().replace("-", "_").startswith(f"{key}:"))
        return next(lines, self.number)


class _MalformedError(Exception):
    def __init__(self, line: int, text: str) -> None:
        super().__init__(text)
        self.line, self.text = line, text


def slug(title: str) -> str:
    """The name by which a role is chosen: `Security auditor` is `security-auditor`."""
    return "-".join(re.findall(r"[^\W_]+", title.casefold()))


def parse_roles(text: str, path: str) -> Roles:
    """The roles in a file of `## Name` blocks; total, in linear time.

    A block begins with `key: value` lines between two `---` lines or in a fence, if it has any; the rest is the prompt.
    A list is written `a, b`, `[a, b]` or as indented `- a` lines. `path` is for the problems and the sources.
    """
    roles: dict[str, Role] = {}
    malformed: list[tuple[str, _MalformedError]] = []
    begins: dict[str, int] = {}
    for block in _blocks(read_markdown(text).lines):
        name = slug(block.title)
        try:
            roles[name] = _role(name, block, path, first=begins.get(name))
        except _MalformedError as error:
            malformed.append((name, error))
        else:
            begins[name] = block.number
    problems_by_role = [(name, _problem(path, name, error, begins.get(name))) for name, error in malformed]
    broken: dict[str, Problem] = {}
    for name, problem in problems_by_role:
        if name and name not in roles:
            broken.setdefault(name, problem)
    return Roles(tuple(roles.values()), tuple(problem for _, problem in problems_by_role), tuple(broken.items()))


def _problem(path: str, name: str, error: _MalformedError, counts: int | None) -> Problem:
    """The problem of a block; `counts` is the line of the block of this name in force."""
    whose = f"the role {name}: " if name else ""
    instead = f", and the one in line {counts} is used" if counts is not None and counts > error.line else ""
    return Problem(path=path, line=error.line, text=f"{whose}{error.text}; this block is left out{instead}")


def _blocks(lines: Sequence[Line]) -> Iterator[_Block]:
    block: _Block | None = None
    for line in lines:
        if line.kind == "heading" and line.indent <= LEVEL:
            if block:
                yield block
            block = _Block(line.text, line.number, []) if line.indent == LEVEL else None
        elif block:
            block.lines.append(line)
    if block:
        yield block


def _role(name: str, block: _Block, path: str, *, first: int | None) -> Role:
    """The role of a block; `first` is the line of another one of its name."""
    if not name:
        raise _MalformedError(block.number, "the name of a role needs a letter or a digit")
    if first is not None:
        raise _MalformedError(block.number, f"is defined twice; the first one, in line {first}, is used")
    head = _head(block)
    fields = {key.lower().replace("-", "_"): text for key, text in head.fields.items()}
    prompt = head.body.strip()[:MAX_PROMPT]
    if not (fields or prompt):
        raise _MalformedError(block.number, "is empty: neither a field nor a prompt")
    unknown = tuple(key for key in fields if key not in _READ)
    values: dict[str, Any] = {key: text for key, text in fields.items() if key in _READ}
    if "tools" in values:
        values["tools"] = sorted(set(_NAME.findall(fields["tools"])))
    empty = next((key for key, value in values.items() if not value), None)
    if empty:
        raise _MalformedError(block.line_of(empty), f"{empty}: no value; leave the line out instead")
    if values.get("tools") == ["none"]:
        values["tools"] = ()
    try:
        return Role(name=name, prompt=prompt, source=f"{path}:{block.number}", unknown=unknown, **values)
    except ValidationError as error:
        key = str(error.errors(include_url=False)[0]["loc"][0])
        expected = _EXPECTED.get(key, "what it can be")
        raise _MalformedError(block.line_of(key), f"{key}: {fields[key][:60]} is not {expected}") from None


def _head(block: _Block) -> Frontmatter:
    """The fields of a block, and its prompt."""
    start = next((index for index, line in enumerate(block.lines) if line.raw.strip()), len(block.lines))
    lines = block.lines[start:]
    raws = [line.raw for line in lines]
    if lines and lines[0].kind == "fence" and lines[0].text in _FENCES:
        end = next((index for index, line in enumerate(lines) if line.closing), None)
        if end is None:
            raise _MalformedError(lines[0].number, UNCLOSED)
        raws[0] = raws[end] = _DASHES
    elif not lines or raws[0].rstrip() != _DASHES:
        return Frontmatter({}, "\n".join(raws))
    try:
        return read_frontmatter("\n".join(raws))
    except FrontmatterError as error:
        raise _MalformedError(lines[0].number + error.line - 1, str(error)) from None


def _least(one: int | None, other: int | None) -> int | None:
    bounds = [value for value in (one, other) if value is not None]
    return min(bounds) if bounds else None


def _both(upper: Role, lower: Role) -> str:
    return ", ".join(source for source in (upper.source, lower.source) if source)


class Layers(NamedTuple):
    """The roles in force, by name, and the ignored fields of the repository's roles."""

    roles: dict[str, Role]
    ignored: dict[str, tuple[str, ...]]
    """Name of a role → the fields that take effect only in a repository the user trusts."""


def layered(built_in: Sequence[Role], user: Sequence[Role], repository: Sequence[Role], *, trusted: bool) -> Layers:
    """The repository's roles over the user's over the built-in ones, field by field.

    The repository's can only narrow what a run may do; what they say to the model counts where it is `trusted`.
    """
    roles = {role.name: role for role in built_in}
    for role in user:
        roles[role.name] = role.over(roles.get(role.name, Role(name=role.name)))
    ignored: dict[str, tuple[str, ...]] = {}
    for role in repository:
        lower = roles.get(role.name, Role(name=role.name))
        narrowed, widening = role.narrowing(lower)
        if trusted:
            words = {name: getattr(role, name) for name in widening}
            narrowed = narrowed.model_copy(update=words)
        elif widening:
            ignored[role.name] = widening
        described = role.description or lower.description
        roles[role.name] = narrowed.model_copy(update={"description": described})
    return Layers(roles, ignored)


def in_role(text: str, role: Role) -> str:
    """The instructions for an agent, with those of its role last."""
    return f"{text}\n\n{role.prompt}" if role.prompt else text


def spelled_out(role: Role, names_of: Callable[[str], Sequence[str]]) -> Role:
    """The role with each word in `tools` that stands for several tools replaced by their names."""
    if role.tools is None:
        return role
    return role.model_copy(update={"tools": tuple(sorted({name for word in role.tools for name in names_of(word)}))})
