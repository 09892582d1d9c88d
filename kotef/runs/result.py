"""The result of a run, for scripts."""

from typing import Any

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

from kotef.checks.probe import ProbeName, ProbeValue
from kotef.checks.types import Evidence
from kotef.failures.history import FailureEntry, FailureHistory
from kotef.failures.outcomes import Outcome
from kotef.sdd.done_evidence import UNPROVED, ProvedBy
from kotef.shell import Role
from kotef.state import ExtensionKind, Spent, StoppedBy


class Camel(BaseModel):
    """Frozen, read and written in camelCase."""

    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


class ResultEntry(Camel):
    """One failed check of one visit; see `FailureEntry`."""

    visit: int
    check: str
    command: str
    exit_code: int | None
    kind: str
    detail: str
    summary: str
    fingerprint: str
    tests: tuple[str, ...]
    log: str | None

    @classmethod
    def of(cls, entry: FailureEntry) -> "ResultEntry":
        """The same entry for readers outside."""
        return cls(**entry.model_dump())


class ResultHistory(Camel):
    """The failure history at the end of the run; entries of visit 0 are the baseline's and cost no attempt."""

    attempts: int
    last_error_kinds: tuple[str, ...]
    last_commands: tuple[str, ...]
    entries: tuple[ResultEntry, ...]

    @classmethod
    def of(cls, history: FailureHistory) -> "ResultHistory":
        """The same history for readers outside."""
        return cls(
            attempts=history.attempts,
            last_error_kinds=history.last_error_kinds,
            last_commands=history.last_commands,
            entries=tuple(ResultEntry.of(entry) for entry in history.entries),
        )


class ResultCheck(Camel):
    """One check as it was judged last."""

    name: str
    command: str
    role: Role
    required: bool
    satisfied: bool
    exit_code: int | None
    executed: int | None
    """Tests that really ran; null if the command reports no count."""
    partial: bool = False
    """Only the tests red before the run were run; whether others broke is not known."""
    evidence: Evidence
    """`report`: the runner's own per-test report; `lines`: its line for each test; `counts`: its closing line;
    `summary`: a summary printed by a program that no row of the table knows; `exit`: only the exit status."""


class ResultProbe(Camel):
    """One probe of the judge, made after a green."""

    name: ProbeName
    check: str
    value: ProbeValue
    """`alarm`: the green was refused for it; `not_probed` is never counted as fine."""
    told: str
    evidence: tuple[str, ...] = ()


class ResultUsage(Camel):
    """Usage of the run, including resumes."""

    tokens_in: int
    tokens_out: int
    tokens_cached: int
    cost: float | None
    """Null when a model was used whose price is not configured, or a program that did not say what it cost."""
    calls: int
    commands: int
    written: int = 0
    """Bytes the coder wrote, without ignored files."""
    seconds: float
    estimated: bool

    @classmethod
    def of(cls, spent: Spent, *, priced: bool) -> "ResultUsage":
        """The same sum for readers outside; `priced` is whether the price of every model is known."""
        known = priced and not spent.unpriced
        return cls(**spent.model_dump(exclude={"cost", "unpriced"}), cost=spent.cost if known else None)


class ResultEdit(Camel):
    """Facts about the last edit of a coder without a model."""

    coder: str
    rationale: str
    evidence: tuple[str, ...]
    """How much was tried, what else passes, how many tests run the edited line."""
    alternatives: tuple[str, ...]
    """Up to three other edits that pass as well, as diffs."""
    question: str
    """The input on which passing edits disagree; only a person knows the answer. Empty without one."""


class ResultContradiction(Camel):
    """What the coder reported as impossible to do honestly."""

    place: str
    """A failing test, `file:line`, or words of the ticket."""
    why: str
    """The coder's full words; a claim."""
    other: str
    """What it names as the obstacle; empty if there is none."""
    found: str
    """What code confirmed; empty if code cannot check it."""


class ResultExtension(Camel):
    """A tool, check, fixer, coder or guard that another distribution registers."""

    kind: ExtensionKind
    name: str
    distribution: str
    version: str
    entry_point: str


class ResultAttempt(Camel):
    """One visit: plan, changes, result."""

    visit: int
    hypothesis: str = ""
    steps: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    stopped_by: StoppedBy | None = None
    """Null when the visit never ended."""
    why_stopped: str = ""
    """The guard or limit that ended it, in one line; empty when the coder came to an end itself."""
    said: str = ""
    """The coder's last words; a claim."""
    passed: bool | None = None
    """Null when nothing was judged."""
    verdict: str = ""
    """The result of the verification, or of the review that refused."""
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()


class ResultModified(Camel):
    """A file as the model's tools last wrote it."""

    path: str
    sha256: str
    """Hash of its bytes; `missing` if it was deleted."""


class ResultDone(Camel):
    """One line of the ticket's Definition of Done, and what proves it."""

    line: int
    """In the ticket's file, counted from 1."""
    text: str
    label: str = ""
    """What the author of the line calls it, if anything: `T003`, `2.1`, `FR-001`."""
    path: str = ""
    """The file it stands in, where that is not the ticket's own."""
    proved_by: ProvedBy
    """`person`: code has no proof; `refuted`: code found the opposite."""
    why: str
    """One line; with `person` where to look, or empty."""
    tests: tuple[str, ...]
    files: tuple[str, ...]

    @property
    def proved(self) -> bool:
        """Whether code proved it."""
        return self.proved_by not in UNPROVED


class ResultBranch(Camel):
    """The result of `--branch`."""

    name: str
    base: str
    """The commit it starts from: the one checked out when the run began."""
    commit: str = ""
    """Empty: none was made."""
    refused: str = ""
    """Why not, in one sentence; the work itself is in the workspace, and verified all the same."""


class Result(Camel):
    """`result.json`: one run, one outcome. `done` is true only with `verified`."""

    schema_version: int = 1
    kotef_version: str
    run_id: str
    outcome: Outcome
    reason: str
    """A machine word; `sentence` says the same to people."""
    sentence: str
    done: bool
    exit_code: int
    goal: str
    ticket: str | None
    coder: str
    stopped_by: StoppedBy | None = None
    """What ended the coder's last visit; null when no visit was made."""
    winner: str | None = None
    """The coder whose edit was verified."""
    edit: ResultEdit | None = None
    """Null after a model's edit, and when no edit was made."""
    contradiction: ResultContradiction | None = None
    """Null unless the coder reported one in its last visit."""
    model: str
    profile: str
    sandbox: str = "off"
    """What confined commands: `bwrap`, `strict`, `landlock`, `off`; `none` where there had to be one and was none."""
    extensions: tuple[ResultExtension, ...] = ()
    """Those of other distributions that were active in the last process of the run."""
    network: bool = False
    """Whether the person, or the settings, gave commands the network."""
    max_attempts: int
    visits: int
    failure_history: ResultHistory
    attempts: tuple[ResultAttempt, ...] = ()
    """Every visit of the coder, in order."""
    checks: tuple[ResultCheck, ...] = ()
    evidence: str = ""
    """The verdict in one to three lines."""
    targets: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    """Failed with the others and passed when run again alone: before the run (not asked for), or now (then red)."""
    missing: tuple[str, ...] = ()
    preexisting: tuple[str, ...] = ()
    """Red before the run, not part of the task: listed, never blocking."""
    new_tests: tuple[str, ...] = ()
    proved: tuple[str, ...] = ()
    """New tests that fail on the old code before the run."""
    unproved: tuple[str, ...] | None = None
    """New tests that pass on that code too, so that they prove nothing; null: they were not tried on it."""
    probes: tuple[ResultProbe, ...] = ()
    """Probes that tested whether the checks of the last green result can still fail."""
    put_back: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    """Files someone else changed during the run: left as they are."""
    definition_of_done: tuple[ResultDone, ...] = ()
    """Every line of the ticket's; empty without a ticket."""
    changed: tuple[str, ...] = ()
    """Paths that differ from the state before the run, now."""
    base: str = ""
    """The commit checked out when the run began; empty if there was none."""
    branch: ResultBranch | None = None
    """Null unless a branch was asked for and the run ended verified."""
    files_read: tuple[str, ...] = ()
    """Files that a model read with view_file, in any visit."""
    files_listed: tuple[str, ...] = ()
    """Files of which it saw only names or single lines; at most 200."""
    files_modified: tuple[ResultModified, ...] = ()
    """Files that a model's tools wrote, in any visit, whether or not the change was kept."""
    tree_visit: int = 0
    """The visit whose tree the workspace was left at; 0 is the state before the run."""
    patches: tuple[str, ...] = ()
    usage: ResultUsage
    started_at: str
    finished_at: str
    issue: str | None = None
    """Where the issue entry stands: `.sdd/issues.md`, or `issue.md` beside the result where it cannot be written.
    Null when verified."""
    next_step: str | None = None
    """Advice to a person, as under "Next" in the issue entry. Null when verified."""
    resume: str | None = None
    """The command that continues from here; null when there is nothing to resume."""
    notices: tuple[str, ...] = ()


def schema() -> dict[str, Any]:
    """JSON schema (2020-12) of `result.json`."""
    return Result.model_json_schema(by_alias=True, mode="serialization")
