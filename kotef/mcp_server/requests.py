"""Requests that a client can make, and their validation."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

MAX_GOAL = 20_000
MAX_WAIT = 50.0
"""Seconds a question may be held back; clients give up at a minute."""
MAX_CHECK_WAIT = 3600.0
"""Seconds for a check, whose progress notifications keep clients waiting that heed them."""

Command = Annotated[str, Field(min_length=1, max_length=2_000)]
RunId = Annotated[str, Field(min_length=1, max_length=100, description="id of the run, or a unique prefix of it")]


class ToolRequest(BaseModel):
    """Arguments of one tool: nothing is converted, and an unknown name is an error."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class StartRun(ToolRequest):
    """What to work on, and narrower bounds.

    What would widen a run (sandbox, network, trust, edits of tests, who edits) is not among them: it comes from the
    person's configuration and from the environment the server was started in.
    """

    goal: str = Field(default="", max_length=MAX_GOAL, description="what to do, in a sentence or more")
    ticket: str = Field(
        default="",
        max_length=200,
        pattern=r"^([^./\\\x00-\x1f-][^/\\\x00-\x1f]*)?$",
        description="an open ticket of .sdd/backlog/tickets/open: its number or slug",
    )
    checks: list[Command] = Field(
        default_factory=list,
        max_length=20,
        description="commands that judge, run from the workspace root; default: the project's own checks",
    )
    max_attempts: int | None = Field(default=None, ge=1, le=20, description="failed verifications allowed (3)")
    max_time: float | None = Field(default=None, gt=0, description="seconds the whole run may take (3600)")
    max_tokens: int | None = Field(default=None, ge=1, description="input plus output tokens (2,000,000)")
    max_cost: float | None = Field(default=None, gt=0, description="money; needs prices in the user's configuration")

    def command_line(self) -> list[str]:
        """The arguments for `kotef run`; no value can be read as another option."""
        options = {"ticket": self.ticket or None}
        options |= {name: getattr(self, name) for name in ("max_attempts", "max_time", "max_tokens", "max_cost")}
        given = [f"--{name.replace('_', '-')}={value}" for name, value in options.items() if value is not None]
        return [*given, *(f"--check={check}" for check in self.checks), "--", self.goal]


class RunStatus(ToolRequest):
    """Which run, and how long to wait for its end."""

    run_id: RunId | None = Field(
        default=None, description="id of the run, or a unique prefix of it; null: the newest run"
    )
    wait_seconds: float = Field(
        default=0.0, ge=0, le=MAX_WAIT, description="wait for the run to end, at most this many seconds"
    )
    lines: int = Field(default=15, ge=0, le=200, description="number of last lines of its output to return")


class CancelRun(ToolRequest):
    """Which run."""

    run_id: RunId


class ReadIssues(ToolRequest):
    """Which entries."""

    state: Literal["open", "resolved", "all"] = Field(default="open", description="which entries")


class CheckRequest(ToolRequest):
    """How long to wait for the project's checks, as `kotef check` runs them, and which one to go on waiting for."""

    wait_seconds: float = Field(
        default=MAX_WAIT,
        ge=0,
        le=MAX_CHECK_WAIT,
        description="answer after at most this many seconds; if the checks are still running, the answer says so",
    )
    check_id: str = Field(default="", max_length=40, description="of an answer that said `running`: wait for that one")
