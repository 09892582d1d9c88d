"""The channels of the graph, and the one writer of each."""

from functools import reduce
from typing import Annotated, Final, Literal, NotRequired, TypedDict

from pydantic import BaseModel, ConfigDict, Field

from kotef.checks.types import Check
from kotef.checks.verdict import Verification
from kotef.context.seen_files import Files
from kotef.errors import ModelFault
from kotef.failures.history import FailureEntry, FailureHistory, merge_failures
from kotef.failures.memory import Memory
from kotef.failures.outcomes import Outcome
from kotef.failures.visit_history import Visit, merge_visits
from kotef.sandbox import Wanted
from kotef.sdd.agents import Company
from kotef.sdd.spec import Spec
from kotef.sdd.ticket import Ticket
from kotef.settings import Limits, ProfileName

SCHEMA_VERSION = 2
"""Raised whenever a class that a checkpoint holds is moved or renamed: checkpoints name them by module and class.

1: kotef 0.1.0 until its modules were renamed; its runs are shown, compared and taken back, but not resumed.
"""

StoppedBy = Literal[
    "finished",
    "exhausted",
    "search_time",
    "none_is_right",
    "contradiction",
    "step_cap",
    "tool_budget",
    "tokens",
    "calls",
    "money",
    "time",
    "call_time",
    "commands",
    "written",
    "mistakes",
    "doom_loop",
    "cycle",
    "content_repeat",
    "no_progress",
    "aborted",
    "model_error",
    "program_failed",
    "program_timeout",
    "login_refused",
]

VISIT_CAPS: Final[frozenset[StoppedBy]] = frozenset({"step_cap", "tool_budget"})
"""Caps of one visit: a person can grant one more by `kotef resume RUN --continue`."""

CUT_SHORT: Final[frozenset[StoppedBy]] = VISIT_CAPS | frozenset[StoppedBy](
    {
        *("tokens", "calls", "money", "time", "call_time", "commands", "written"),
        *("mistakes", "doom_loop", "cycle", "content_repeat", "no_progress", "aborted", "model_error"),
        *("program_failed", "program_timeout", "login_refused"),
    }
)
"""Reasons that end a visit against the coder's will, shown with `Edits.detail`."""


ExtensionKind = Literal["check", "coder", "fixer", "guard", "tool"]


class ActiveExtension(BaseModel):
    """An extension that another distribution registers, and where it comes from."""

    model_config = ConfigDict(frozen=True)

    kind: ExtensionKind
    name: str
    distribution: str
    version: str
    entry_point: str
    """`module:name`, as the distribution registers it."""

    @property
    def origin(self) -> str:
        """The distribution with its version."""
        return f"{self.distribution} {self.version}"

    @property
    def title(self) -> str:
        """How messages name it."""
        return f"{self.kind} {self.name} ({self.origin})"


class GivenSkill(BaseModel):
    """A skill that each attempt of a model or an agent gets whole."""

    model_config = ConfigDict(frozen=True)

    name: str
    text: str
    """Its SKILL.md without the head."""
    place: str
    """The folder of the repository that it is from; empty for one of the user's configuration."""
    files: tuple[str, ...] = ()
    """Its other files, relative to its folder."""


class Task(BaseModel):
    """The task as it was when the run started; a resume reads it from here, never from the workspace."""

    model_config = ConfigDict(frozen=True)

    schema_version: int = SCHEMA_VERSION
    kotef_version: str = ""
    """Which kotef began the run; empty: one that did not say so yet."""
    run_id: str
    goal: str
    """One or more sentences; the ticket's title and objective when only a ticket was named."""
    ticket: Ticket | None = None
    base: str = Field(default="", pattern="^([0-9a-f]{40,64})?$")
    """The commit checked out when the run began; empty if there was none."""
    branch: str = ""
    """The new branch on which verified work is committed; empty: none."""
    commit_hooks: bool = False
    """Whether the repository's pre-commit and commit-msg hooks are run on that commit."""
    spec: Spec
    checks: tuple[Check, ...]
    """Never empty, but with `allow_unverified`."""
    broken: str = ""
    """Why no check can be started here, in a sentence; then none is, and the run ends before the first edit."""
    limits: Limits
    profile: ProfileName = "strict"
    allow_edits: tuple[str, ...] = ()
    """Globs of protected paths that this run may change (ticket and `--allow-edits`)."""
    allow_unverified: bool = False
    trust: bool = False
    coder: str = "model"
    """The chain of coders as asked for: `fixers,search:10s,model`."""
    coder_env: tuple[str, ...] = ()
    """Environment variables that the programs of the chain get besides those of their presets (`--coder-env`)."""
    coder_files: tuple[str, ...] = ()
    """Files that they may read although the sandbox hides them: logins and settings (`--coder-file`)."""
    resumed_after: int = 0
    """The newest visit spent before the last resume that raised the attempts; `stuck` looks only at later ones."""
    goes_on_from: int = 0
    """The visit stopped by a cap of its own whose tree a person asked to continue from (`--continue`); 0: none."""
    accept_ambiguous: bool = False
    """Whether an edit may be kept although other passing edits disagree with it."""
    sandbox: Wanted = "auto"
    """The requested sandbox level."""
    network: bool = False
    """Whether commands may use the network."""
    allow_install: bool = False
    """Whether the coder's commands may write installed environments; the checks then trust what is there."""
    reads: tuple[str, ...] = ()
    """Folders outside the workspace that commands and the coder may read."""
    passed: tuple[str, ...] = ()
    """Environment variables that commands get although their names or values look like secrets."""
    setup: tuple[str, ...] = ()
    """Command lines that prepare the workspace: run once, with network, before the baseline."""
    reuse_baseline: bool = True
    """Whether an earlier run's baseline of the same tree may stand for this one's; False with `--no-cache`."""
    interactive: bool = False
    """Whether a person is asked before the first edit and before commands outside the policy (`--interactive`)."""
    web: bool = False
    """Whether the model may read public web pages; only `--web` makes it so."""
    web_search_url: str = ""
    """A SearXNG-compatible server; empty: the model cannot search the web."""
    mcp: str = ""
    """The fingerprint of the MCP configuration this run was allowed to use; empty: none."""
    memory: tuple[Memory, ...] = ()
    """Earlier runs of this workspace, oldest first; none with `--fresh`."""
    model: str = ""
    planner_model: str = ""
    base_url: str = ""
    fallback_model: str = ""
    """The model that takes over when the coder's or the planner's fails; empty: none does."""
    roles: Company = Company()
    """Who works on it; a coder's role other than `coder` was asked for by `--agent`."""
    instructions: str = ""
    """`AGENTS.md` of the repository; material, marked as such where a model reads it."""
    skills: tuple[GivenSkill, ...] = ()
    """Skills that `--skill` names, with their texts as they were when the run started."""
    extensions: tuple[ActiveExtension, ...] = ()
    """Extensions that this process of the run works with."""


class PlanStep(BaseModel):
    """One step of a plan."""

    model_config = ConfigDict(frozen=True)

    description: str
    files: tuple[str, ...] = ()
    """Workspace-relative paths the step means to touch."""
    addresses: str = ""
    """Fingerprint of the failure this step answers; empty when it answers the goal itself."""
    failure: str = ""
    """Summary of that failure, filled in by code from the history; empty with `addresses`."""


class Plan(BaseModel):
    """The plan for one visit of the coder."""

    model_config = ConfigDict(frozen=True)

    visit: int = Field(ge=1)
    steps: tuple[PlanStep, ...]
    hypothesis: str = ""
    """Why the last attempt failed and what is different now; empty at the first."""
    source: Literal["model", "code", "person"]
    """`code` when no model made it: a coder without one, or an answer that could not be read; `person` once one has
    edited it."""


class Contradiction(BaseModel):
    """What a coder reported as impossible to do honestly."""

    model_config = ConfigDict(frozen=True)

    place: str
    """A failing test, `file:line`, or words of the ticket."""
    why: str
    """The coder's full words; a claim."""
    other: str = ""
    """The line, test or file that contradicts it; empty without one."""
    found: str = ""
    """What code could confirm; empty if code cannot check it."""

    @property
    def words(self) -> str:
        """The contradiction as one question."""
        against = f" because of {self.other}" if self.other else ""
        found = f"checked by code: {self.found}" if self.found else "not checked by code"
        return f"{self.place} cannot be met honestly{against}, says the coder: {self.why} ({found}). What is intended?"


class Edits(BaseModel):
    """The result of one visit of the coder."""

    model_config = ConfigDict(frozen=True)

    visit: int = Field(ge=1)
    coder: str
    stopped_by: StoppedBy
    fault: ModelFault | None = None
    """What was wrong with the endpoint, with `stopped_by` model_error only; None in runs of older versions."""
    summary: str = ""
    """The coder's last words; a claim, never evidence."""
    changed: tuple[str, ...] = ()
    """Paths that differ from the tree before the visit."""
    foreign: tuple[str, ...] = ()
    """Paths that changed during the visit, but not by the coder's hands: a person's, never put back."""
    detail: str = ""
    """The error or the limit, in one line, when `stopped_by` is not `finished`; with `exhausted` and `search_time`, why
    each coder of the chain declined or found nothing; with `none_is_right`, what a person said."""
    idle: str = ""
    """Why nothing was changed, in one line, as far as code can tell from the calls of a model; empty where it was."""
    rationale: str = ""
    """What was changed and why, in one line, from a coder that knows; a model's words are in `summary`."""
    evidence: tuple[str, ...] = ()
    """Facts behind the edit, one line each: candidates tried, how many passed, tests that run the edited line."""
    alternatives: tuple[str, ...] = Field(default=(), max_length=3)
    """Diffs of other edits that passed as well."""
    question: str = ""
    """What only a person can say: the passing edits disagree on this input. Empty when there is nothing to ask."""
    contradiction: Contradiction | None = None
    """What the coder reported instead of an edit, with `stopped_by` contradiction only."""
    asked: tuple[str, ...] = ()
    """Coders that were asked in this visit, in order; the last one made the edit."""
    files: Files = Field(default_factory=Files)
    """What a model has seen and changed in this visit and all before it."""


class Usage(BaseModel):
    """Usage of a run; sums are taken over `by_call`, so that recording a call twice does not count twice."""

    model_config = ConfigDict(frozen=True)

    by_call: dict[str, "Spent"] = Field(default_factory=dict)
    """Keyed `visit/node/call`."""

    @property
    def total(self) -> "Spent":
        """The sum of all calls."""
        return reduce(Spent.plus, self.by_call.values(), Spent())


class Spent(BaseModel):
    """Tokens, money, calls and seconds of one model call, one command, or one node."""

    model_config = ConfigDict(frozen=True)

    tokens_in: int = 0
    tokens_out: int = 0
    tokens_cached: int = 0
    """Part of `tokens_in` that the endpoint read from its cache."""
    cost: float = 0.0
    calls: int = 0
    commands: int = 0
    """Commands of the coder, and checks."""
    written: int = 0
    """Bytes its file tools wrote, and those its commands added to the files that git does not ignore."""
    seconds: float = 0.0
    """Wall seconds of the node that recorded it."""
    estimated: bool = False
    """True when the endpoint reported no usage and the tokens were estimated from the text."""
    unpriced: bool = False
    """True when a program was run that did not say what it cost; `cost` lacks that."""

    def plus(self, other: "Spent") -> "Spent":
        """Both together."""
        return Spent(
            tokens_in=self.tokens_in + other.tokens_in,
            tokens_out=self.tokens_out + other.tokens_out,
            tokens_cached=self.tokens_cached + other.tokens_cached,
            cost=self.cost + other.cost,
            calls=self.calls + other.calls,
            commands=self.commands + other.commands,
            written=self.written + other.written,
            seconds=self.seconds + other.seconds,
            estimated=self.estimated or other.estimated,
            unpriced=self.unpriced or other.unpriced,
        )

    @property
    def tokens(self) -> int:
        """Input plus output."""
        return self.tokens_in + self.tokens_out


def over_budget(spent: Spent, limits: Limits) -> tuple[StoppedBy, str] | None:
    """The reached limit of the run, with figure and limit in words; None if none is reached."""
    if spent.tokens >= limits.max_tokens:
        return "tokens", f"{spent.tokens:,} of {limits.max_tokens:,} tokens used (--max-tokens)"
    if spent.calls >= limits.max_calls:
        return "calls", f"{spent.calls} of {limits.max_calls} model calls used (--max-calls)"
    if limits.max_cost is not None and spent.cost >= limits.max_cost:
        return "money", f"{spent.cost:.4f} of {limits.max_cost:.4f} spent (--max-cost)"
    if spent.commands >= limits.max_commands:
        return "commands", f"{spent.commands} of {limits.max_commands} commands run (--max-commands)"
    if spent.written >= limits.max_written:
        return "written", f"{spent.written:,} of {limits.max_written:,} bytes written (--max-written)"
    if spent.seconds >= limits.max_time:
        return "time", f"{spent.seconds:.0f} of {limits.max_time:g} seconds used (--max-time)"
    return None


class CoderTrial(BaseModel, frozen=True):
    """One coder was asked about one failure on one tree; it is not asked the same again."""

    coder: str
    fingerprint: str
    tree: str


def merge_usage(usage: Usage, new: Usage) -> Usage:
    """Reducer of the `usage` channel: one update is what one node spent."""
    return Usage(by_call=usage.by_call | new.by_call)


def merge_snapshots(snapshots: dict[int, str], new: dict[int, str]) -> dict[int, str]:
    """Reducer of the `snapshots` channel: one update is the tree of one visit."""
    return snapshots | new


def union(tried: frozenset[CoderTrial], new: frozenset[CoderTrial]) -> frozenset[CoderTrial]:
    """Reducer of the `tried` channel: one update is what one coder was asked."""
    return tried | new


class AgentInput(TypedDict):
    """The input of a run. It has no channel with a reducer, because input would go through it as an update."""

    task: Task  # runs.start


class AgentState(AgentInput):
    """The state that nodes read. A channel with a reducer starts as its type called without arguments."""

    failure_history: Annotated[FailureHistory, merge_failures]  # verifier; planner for a refused review
    usage: Annotated[Usage, merge_usage]  # planner, coder, verifier
    snapshots: Annotated[dict[int, str], merge_snapshots]  # verifier (0), coder
    tried: Annotated[frozenset[CoderTrial], union]  # coder
    visits: Annotated[dict[int, Visit], merge_visits]  # planner
    plan: NotRequired[Plan]  # planner
    edits: NotRequired[Edits]  # coder
    baseline: NotRequired[Verification | None]  # verifier, visit 0 only; None asks for a new one
    test_results: NotRequired[Verification]  # verifier
    outcome: NotRequired[Outcome | None]  # planner
    reason: NotRequired[str]  # planner; a machine word
    sentence: NotRequired[str]  # planner; the same for people
    done: NotRequired[bool]  # planner


class StateUpdate(TypedDict, total=False):
    """The update that a node may return. Its keys are channels, as `tests/test_channels.py` checks."""

    plan: Plan
    edits: Edits
    baseline: Verification
    test_results: Verification
    failure_history: list[FailureEntry]  # one verification; the reducer folds it in
    usage: Usage
    snapshots: dict[int, str]
    tried: frozenset[CoderTrial]
    visits: dict[int, Visit]
    outcome: Outcome | None
    reason: str
    sentence: str
    done: bool
