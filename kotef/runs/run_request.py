"""Request for a run or a resume: what was asked, before the workspace is looked at."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from kotef.runs.run_settings import OPTIONS
from kotef.sandbox import Wanted
from kotef.sdd.ticket import Ticket
from kotef.settings import ProfileName


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonRequest:
    """Options that a run and a resume share, from a command line, a program or a tool call."""

    limits: Mapping[str, Any] = field(default_factory=dict)
    """The limits that someone named, by field of `Limits`; None as if not named."""
    sandbox: Wanted | None = None
    """None: as configured."""
    network: bool = False
    reads: tuple[str, ...] = ()
    coder: str | None = None
    model: str | None = None
    planner_model: str | None = None
    fallback_model: str | None = None
    base_url: str | None = None
    coder_env: tuple[str, ...] = ()
    coder_files: tuple[str, ...] = ()
    branch: str | None = None
    commit_hooks: bool = False
    allow_install: bool = False
    accept_ambiguous: bool = False
    interactive: bool = False
    """Whether a person at the terminal is asked before the first edit."""
    traced: str = ""
    """What leaves this machine in traces, in one line; empty if nothing does."""

    @property
    def given(self) -> dict[str, Any]:
        """The given settings, by option; see `run_settings`."""
        return {**{name: getattr(self, name, None) for name in OPTIONS.values()}, **self.limits}


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest(CommonRequest):
    """The request of `kotef run`."""

    goal: str = ""
    ticket: str | None = None
    given_ticket: Ticket | None = None
    """The ticket itself, where it is not one of the workspace's: read from `--ticket-file`."""
    checks: tuple[str, ...] = ()
    profile: ProfileName = "strict"
    agent: str = "coder"
    skills: tuple[str, ...] = ()
    """Names of skills that the coder gets whole."""
    allow_edits: tuple[str, ...] = ()
    allow_unverified: bool = False
    ignore_dependencies: bool = False
    trust: bool = False
    fresh: bool = False
    """Whether to ignore earlier runs."""
    reuse_baseline: bool = True
    """Whether an earlier run's judgement of the same tree may stand for the baseline."""
    web: bool = False
    web_search_url: str = ""
    mcp: bool = False
    notices: Sequence[str] = ()
    """Notices about the request itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ResumeRequest(CommonRequest):
    """The request of `kotef resume`, except the run."""

    one_more: bool = False
    """One more attempt, from the tree that the last one left."""
