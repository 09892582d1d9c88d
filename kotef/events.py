"""Events of a run: one frozen class a kind, written to and read from `events.jsonl` in one JSON."""

import inspect
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Any, ClassVar, Final, Literal, NoReturn, dataclass_transform, get_args, get_origin

from pydantic import BaseModel, ConfigDict, Field, ValidationError, create_model

from kotef.failures.stagnation import StallKind
from kotef.failures.tool_calls import MistakeKind

Loudness = Literal["quiet", "line", "loud"]
"""How retries are reported: not at all, in one line, or in a line for each failed try."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class RunEvent:
    """An event of a run; each kind is a class, and `event_name` is its name in the JSON.

    A frozen value, as a dataclass is one; to generate 47 of those costs each start of kotef a tenth of a second.
    """

    event_name: ClassVar[str] = ""
    field_names: ClassVar[tuple[str, ...]] = ()

    def __init_subclass__(cls) -> None:
        """Take the fields in the order in which the class declares them."""
        cls.field_names = tuple(inspect.get_annotations(cls))

    def __init__(self, **facts: Any) -> None:
        """Every field by its name. Raises TypeError for one that is missing or unknown."""
        known = self.field_names
        unknown, missing = facts.keys() - known, [name for name in known if not hasattr(type(self), name)]
        if unknown or not facts.keys() >= set(missing):
            raise TypeError(f"{type(self).__name__}: its fields are {', '.join(known)}, not {', '.join(facts)}")
        for name in known:
            self.__dict__[name] = facts[name] if name in facts else getattr(type(self), name)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Raises AttributeError: an event does not change."""
        raise AttributeError(f"{type(self).__name__}.{name} cannot be set")

    def __eq__(self, other: object) -> bool:
        """Whether both are the same kind with equal fields."""
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        """Hash of all fields, like that of a frozen dataclass."""
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        """The call that creates it."""
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in vars(self).items())})"


class RunStartedEvent(RunEvent):
    """A run begins."""

    event_name = "run_started"

    run: str
    goal: str
    ticket: str | None
    checks: tuple[str, ...]
    coder: str
    model: str
    sandbox: str
    network: bool


class RunResumedEvent(RunEvent):
    """A run continues."""

    event_name = "run_resumed"

    run: str
    outcome: str | None
    sandbox: str
    network: bool
    attempt: int | None = None
    """The attempt that it continues with; null where it is not known."""


class ExtensionsEvent(RunEvent):
    """Extensions of other distributions are active."""

    event_name = "extensions"

    active: tuple[str, ...]
    """Kind, name, distribution and version of each: `tool count_lines (kotef-team 1.0)`."""


class SetupStartedEvent(RunEvent):
    """A command of `[setup]` starts."""

    event_name = "setup_started"

    command: str


class SetupFinishedEvent(RunEvent):
    """A command of `[setup]` ended."""

    event_name = "setup_finished"

    command: str
    exit_code: int | None
    passed: bool
    summary: str
    seconds: float
    changed: tuple[str, ...]


class NoticeEvent(RunEvent):
    """A notice for the person."""

    event_name = "notice"

    text: str


class SnapshotEvent(RunEvent):
    """The state before the run is kept."""

    event_name = "snapshot"

    tree: str
    kept: int
    left_out: tuple[str, ...]


class RetryEvent(RunEvent):
    """A step is repeated."""

    event_name = "retry"

    what: str
    why: str


class CheckStartedEvent(RunEvent):
    """A check starts."""

    event_name = "check_started"

    visit: int
    check: str
    command: str


class CheckFinishedEvent(RunEvent):
    """A check ended, or an earlier run's result is reused."""

    event_name = "check_finished"

    visit: int
    check: str
    exit_code: int | None
    passed: bool
    kind: str | None
    summary: str
    executed: int | None
    failing: int
    seconds: float
    partial: bool
    obstructions: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()
    """A line for each of the first failures: test, message, place."""


class RerunEvent(RunEvent):
    """Failing tests were run again, alone."""

    event_name = "rerun"

    visit: int
    check: str
    tests: tuple[str, ...]
    flaky: tuple[str, ...]


class BaselineReusedEvent(RunEvent):
    """The baseline of an earlier run is reused."""

    event_name = "baseline_reused"

    run: str
    judged_at: str


class VerifiedEvent(RunEvent):
    """A tree was judged."""

    event_name = "verified"

    visit: int
    passed: bool
    detail: str
    summary: str
    fixed: tuple[str, ...]
    broken: tuple[str, ...]
    put_back: tuple[str, ...]
    left: tuple[str, ...]
    steering: str = ""


class ProvingEvent(RunEvent):
    """New tests are run on the code before the run."""

    event_name = "proving"

    visit: int
    tests: tuple[str, ...]


class SettingAsideEvent(RunEvent):
    """The tree is judged again without these files."""

    event_name = "setting_aside"

    visit: int
    paths: tuple[str, ...]


class ProbingEvent(RunEvent):
    """The checks are probed: can they still fail?"""

    event_name = "probing"

    visit: int
    targets: int


class ProbedEvent(RunEvent):
    """The result of the probes."""

    event_name = "probed"

    visit: int
    line: str
    alarm: bool


class ReviewedEvent(RunEvent):
    """A model reviewed the diff."""

    event_name = "reviewed"

    visit: int
    accepted: bool
    reason: str


class PlannedEvent(RunEvent):
    """The next visit has a plan."""

    event_name = "planned"

    visit: int
    source: str
    hypothesis: str
    steps: tuple[str, ...]


class PlanFallbackEvent(RunEvent):
    """The model's plan could not be read."""

    event_name = "plan_fallback"

    visit: int
    problems: tuple[str, ...]


class NudgeEvent(RunEvent):
    """The planner or the coder is told that there is no progress."""

    event_name = "nudge"

    visit: int
    what: str


class RecalledEvent(RunEvent):
    """Earlier runs met the same failure."""

    event_name = "recalled"

    visit: int
    runs: tuple[str, ...]


class ModelCallEvent(RunEvent):
    """A model is asked."""

    event_name = "model_call"

    visit: int
    node: str


class ModelAnswerEvent(RunEvent):
    """A model answered."""

    event_name = "model_answer"

    visit: int
    node: str
    tokens_in: int
    tokens_out: int
    cost: float
    estimated: bool
    tokens_cached: int = 0
    model: str = ""
    seconds: float | None = None
    text: str = ""
    """The beginning of its text beside tool calls."""


class ModelWordsEvent(RunEvent):
    """Words of an answer while it arrives: for watchers, never written to the log."""

    event_name = "model_words"

    text: str


class EditedEvent(RunEvent):
    """A tool changed a file."""

    event_name = "edited"

    visit: int
    path: str
    diff: str
    """Hunks, bounded; empty where nothing changed."""
    steps: tuple[str, ...] = ()
    """How each edit or hunk was found (`block_match.MatchStep`); empty where a whole file was written."""


class ModelRetryEvent(RunEvent):
    """A model did not answer and is asked again."""

    event_name = "model_retry"

    attempt: int
    seconds: float
    why: str
    level: Loudness


class ModelFallbackEvent(RunEvent):
    """Another model takes over."""

    event_name = "model_fallback"

    model: str
    stand_in: str
    why: str


class ModelAdaptedEvent(RunEvent):
    """Requests to a model take another form from now on, because its endpoint refused one."""

    event_name = "model_adapted"

    model: str
    what: str


class ModelCancelledEvent(RunEvent):
    """An answer was cut off."""

    event_name = "model_cancelled"

    model: str
    tries: int


class CoderStartedEvent(RunEvent):
    """The coder starts a visit."""

    event_name = "coder_started"

    visit: int
    coder: str


class CoderFinishedEvent(RunEvent):
    """The coder ended a visit."""

    event_name = "coder_finished"

    visit: int
    stopped_by: str
    changed: tuple[str, ...]
    detail: str
    summary: str
    idle: str = ""
    """Why nothing was changed, as far as code can tell."""


class DeclinedEvent(RunEvent):
    """A coder of the chain declines the task."""

    event_name = "declined"

    visit: int
    coder: str
    why: str


class TryingEvent(RunEvent):
    """A coder without a model tries something."""

    event_name = "trying"

    visit: int
    coder: str
    what: str


class AskedEvent(RunEvent):
    """A person is asked."""

    event_name = "asked"

    visit: int
    question: str


class AnsweredEvent(RunEvent):
    """A person answered."""

    event_name = "answered"

    visit: int
    question: str
    answer: str


class ToolStartedEvent(RunEvent):
    """A tool call starts."""

    event_name = "tool_started"

    visit: int
    tool: str
    arguments: str
    call_id: str = ""
    """The id that the model's endpoint gave the call, at most 200 characters."""


class ToolFinishedEvent(RunEvent):
    """A tool call ended."""

    event_name = "tool_finished"

    visit: int
    tool: str
    arguments: str
    ok: bool
    note: str
    seconds: float
    category: str = ""
    call_id: str = ""


class RescuedEvent(RunEvent):
    """Tool calls that were written as text were read."""

    event_name = "rescued"

    calls: tuple[str, ...]


class MendedEvent(RunEvent):
    """The arguments of a tool call were repaired."""

    event_name = "mended"

    tool: str
    what: str


class EmptyAnswerEvent(RunEvent):
    """The model's answer was empty."""

    event_name = "empty_answer"

    visit: int
    asked_again: bool


class MistakeRecoveryEvent(RunEvent):
    """Several tool calls in a row failed."""

    event_name = "mistake_recovery"

    visit: int
    failure_kinds: tuple[MistakeKind, ...]
    """Kinds of the consecutive failures, in order."""
    count: int
    """Their number."""
    escalated: bool
    """False: guidance was injected; True: the visit was stopped."""
    can_continue: bool
    """Whether the visit continues."""


class DefectEvent(RunEvent):
    """kotef itself failed inside a visit; the run continues."""

    event_name = "defect"

    visit: int
    tool: str
    """The tool at whose call it failed; empty at an answer of the model."""
    error: str
    log: str
    """The traceback, relative to the directory of the run."""


class RepeatEvent(RunEvent):
    """The model repeats itself."""

    event_name = "repeat"

    visit: int
    kind: str
    tool: str
    what: str
    stopped: bool


class NoProgressEvent(RunEvent):
    """Many calls brought nothing new, or several edits left the same test red."""

    event_name = "no_progress"

    visit: int
    kind: StallKind
    what: str
    count: int
    """Calls without progress, or edits."""
    stopped: bool
    """False: the model was told; True: the visit was ended."""


class CapReachedEvent(RunEvent):
    """A cap of the visit is reached."""

    event_name = "cap_reached"

    visit: int
    cap: str
    detail: str
    can_continue: bool


class CompactedEvent(RunEvent):
    """The conversation was shortened."""

    event_name = "compacted"

    visit: int
    how: str
    messages: int
    tokens_before: int
    tokens_after: int
    window: int


class PrefixDriftEvent(RunEvent):
    """The prefix of the requests changed, so the endpoint's cache cannot be used."""

    event_name = "prefix_drift"

    visit: int
    role: str
    model: str
    changed: tuple[str, ...]


class InDoubtEvent(RunEvent):
    """A kill left it unclear whether a tool call had an effect."""

    event_name = "in_doubt"

    visit: int
    tool: str
    arguments: str


class WithheldEvent(RunEvent):
    """An edit is kept as a patch, not in the tree."""

    event_name = "withheld"

    visit: int
    patch: str
    put_back: tuple[str, ...]
    left: tuple[str, ...]
    differs: tuple[str, ...]


class RestoredEvent(RunEvent):
    """The best visit's tree was put in place."""

    event_name = "restored"

    visit: int
    put_back: tuple[str, ...]
    left: tuple[str, ...]
    differs: tuple[str, ...]


class StoppingEvent(RunEvent):
    """A person asked the run to stop."""

    event_name = "stopping"

    signal: str


class IssueEvent(RunEvent):
    """The issue log was written."""

    event_name = "issue"

    path: str
    change: str


class EndedEvent(RunEvent):
    """The graph came to an ending."""

    event_name = "ended"

    outcome: str
    reason: str
    sentence: str


class RunFinishedEvent(RunEvent):
    """The run is over."""

    event_name = "run_finished"

    outcome: str
    reason: str
    exit_code: int
    seconds: float
    cost: float | None = None
    """Cost of the whole run; None where a part of it is unknown."""


class UnreadEvent(RunEvent):
    """An event of another version of kotef, or one with invalid fields; kept unchanged."""

    name: str
    """The name of its kind."""
    fields: Mapping[str, Any]

    @property
    def is_known(self) -> bool:
        """Whether this kotef knows the kind, so that only its fields are unreadable."""
        return self.name in KINDS


KINDS: Final[Mapping[str, type[RunEvent]]] = {
    each.event_name: each for each in RunEvent.__subclasses__() if each.event_name
}
"""Every kind by its name."""

_Figure = Annotated[int, Field(ge=-(2**63), lt=2**63)]
"""A whole number that fits into a float."""
_ENVELOPE: Final = frozenset({"n", "t", "event"})
_END: Final = 2**36
"""Largest time, in seconds since 1970, that a calendar accepts."""


@dataclass(frozen=True, slots=True)
class RecordedEvent:
    """An event with its place in the run, as a line of `events.jsonl` has it."""

    number: int
    """Monotonic in a run, resumes included; 0 if the line does not say."""
    time: float
    """Seconds since 1970; 0 if the line does not say."""
    event: RunEvent
    more: Mapping[str, Any] = field(default_factory=dict)
    """Unknown fields, kept for versions that know them."""
    missing: tuple[str, ...] = ()
    """Fields that the line of another version does not have; they are empty in `event`."""

    @property
    def visit(self) -> int | None:
        """The visit it belongs to; None if it names none."""
        visit = getattr(self.event, "visit", None)
        return visit if isinstance(visit, int) and visit >= 0 else None

    def line(self) -> dict[str, Any]:
        """The line in `events.jsonl`."""
        fields = {name: value for name, value in dump_event(self.event).items() if name not in self.missing}
        return {"n": self.number, "t": self.time, **fields, **self.more}


@cache
def _model(name: str) -> type[BaseModel]:
    """The schema of a kind, created on first use."""
    kind = KINDS[name]
    config = ConfigDict(extra="forbid", allow_inf_nan=False)
    declared = inspect.get_annotations(kind)
    types = {field: _Figure if declared[field] is int else declared[field] for field in kind.field_names}
    described: dict[str, Any] = {field: (types[field], getattr(kind, field, ...)) for field in kind.field_names}
    return create_model(kind.__name__, __config__=config, **described)


def _checked(name: str, facts: Mapping[str, Any]) -> RunEvent:
    """The validated fields. Raises ValidationError."""
    valid = _model(name).model_validate(facts)
    kind = KINDS[name]
    return kind(**{field: getattr(valid, field) for field in kind.field_names})


def make_event(name: str, facts: Mapping[str, Any]) -> RunEvent:
    """An event of this kind. Raises KeyError for a kind there is not, ValidationError for other or missing fields."""
    if name not in KINDS:
        raise KeyError(name)
    return _checked(name, facts)


def dump_event(event: RunEvent) -> dict[str, Any]:
    """The kind and fields as JSON."""
    if isinstance(event, UnreadEvent):
        return {"event": event.name, **event.fields}
    return {"event": event.event_name, **{name: _plain(value) for name, value in vars(event).items()}}


def parse_line(found: object) -> RecordedEvent | None:
    """The event of one line that was read as JSON; None for what is not a line of a run. Never raises."""
    if not isinstance(found, dict) or not isinstance(found.get("event"), str):
        return None
    number, time = found.get("n", 0), found.get("t", 0.0)
    if not isinstance(number, int) or not isinstance(time, int | float):
        return None
    time = float(time) if 0 <= time < _END else 0.0
    facts = {str(name): value for name, value in found.items() if name not in _ENVELOPE}
    kind = KINDS.get(found["event"])
    if kind is None:
        return RecordedEvent(number, time, UnreadEvent(name=found["event"], fields=facts))

    empty = _empty_fields(kind.event_name)
    known = {name: facts.get(name, nothing) for name, nothing in empty.items()}
    try:
        event = _checked(kind.event_name, known)
    except ValidationError:
        return RecordedEvent(number, time, UnreadEvent(name=found["event"], fields=facts))
    more = {name: value for name, value in facts.items() if name not in empty}
    missing = tuple(name for name in empty if name not in facts and not hasattr(kind, name))
    return RecordedEvent(number, time, event, more, missing)


@cache
def _empty_fields(name: str) -> Mapping[str, Any]:
    """Values of fields that a line of another version lacks: the default, or an empty value of the type."""
    kind = KINDS[name]
    declared = inspect.get_annotations(kind)
    return {field: getattr(kind, field, _empty(declared[field])) for field in kind.field_names}


def _empty(declared: Any) -> Any:
    options = get_args(declared)
    if not options:
        return declared()
    if type(None) in options:
        return None
    return options[0] if get_origin(declared) is Literal else ()


def parse_text(text: str | bytes) -> RecordedEvent | None:
    """The event of one line of `events.jsonl`; None for a line that is torn or foreign. Never raises."""
    try:
        return parse_line(json.loads(text))
    except (ValueError, RecursionError):
        return None


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
