"""Preparation of a task: the specification, the ticket and the checks, each read once."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kotef import __version__
from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.checks.types import Check
from kotef.errors import UsageError
from kotef.redaction import encodable
from kotef.runs.memory import Remembered, remembered
from kotef.sandbox import Wanted
from kotef.sdd.files import read_file
from kotef.sdd.spec import Spec, read_spec
from kotef.sdd.ticket import Ticket
from kotef.sdd.ticket_lookup import find_asked
from kotef.sdd.tickets import TicketFolder, list_tickets, open_dependencies
from kotef.settings import PROFILES, Limits, ProfileName
from kotef.state import Task


@dataclass(frozen=True, slots=True)
class RunRequest:
    """The command line of `kotef run`, before the repository has been looked at."""

    goal: str = ""
    ticket: str | None = None
    given: Ticket | None = None
    """The ticket itself, where it is none of the workspace's: read from `--ticket-file`."""
    checks: tuple[str, ...] = ()
    profile: ProfileName = "strict"
    limits: dict[str, Any] = field(default_factory=dict)
    """The limits someone named, by field of `Limits`; the profile gives the others."""
    allow_edits: tuple[str, ...] = ()
    allow_unverified: bool = False
    ignore_dependencies: bool = False
    trust: bool = False
    accept_ambiguous: bool = False
    fresh: bool = False
    """Whether to know nothing of earlier runs."""
    reuse_baseline: bool = True
    """Whether an earlier run's judgement of the same tree may stand for the baseline."""
    web: bool = False
    web_search_url: str = ""
    sandbox: Wanted = "auto"
    network: bool = False
    allow_install: bool = False
    reads: tuple[str, ...] = ()
    passed: tuple[str, ...] = ()
    setup: tuple[str, ...] = ()
    settings: Path | None = None
    """Where the repository's settings are read; None: the workspace."""


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task, and what a person should know before it starts."""

    task: Task
    notices: tuple[str, ...]


def prepare(
    request: RunRequest, root: Path, *, run_id: str, coder: str, model: str, planner_model: str, base_url: str
) -> Prepared:
    """Read the spec, the ticket and the checks once; nothing of it is read again during the run."""
    spec = spec_of(root, request.settings)
    folder = list_tickets(root)
    ticket = request.given or _ticket(request, root, folder)
    if not (request.goal or ticket or request.checks):
        raise UsageError("nothing to do: name a goal, a ticket or a check", hint="`kotef run --help` has examples")
    checks = collect_checks(
        root,
        options=request.checks,
        ticket=ticket.tests if ticket else (),
        architect=spec.checks,
        settings=request.settings,
        concerning=_concerning(request, ticket),
    )
    known = Remembered(()) if request.fresh else remembered(root)
    instructions = read_file(root, "AGENTS.md")
    problems = (*spec.problems, *instructions.problems, *(ticket.problems if ticket else ()), *folder.problems)
    task = Task(
        kotef_version=__version__,
        run_id=run_id,
        goal=request.goal or _goal_of(ticket),
        ticket=ticket,
        spec=spec,
        checks=_of_profile(checks, request.profile),
        limits=_limits(request),
        profile=request.profile,
        allow_edits=(*(ticket.allow_test_edits if ticket else ()), *request.allow_edits),
        allow_unverified=request.allow_unverified,
        trust=request.trust,
        accept_ambiguous=request.accept_ambiguous,
        reuse_baseline=request.reuse_baseline,
        web=request.web,
        web_search_url=request.web_search_url,
        sandbox=request.sandbox,
        network=request.network,
        allow_install=request.allow_install or PROFILES[request.profile].installs == "allowed",
        reads=request.reads,
        passed=request.passed,
        setup=request.setup,
        memory=known.memories,
        coder=coder,
        model=model,
        planner_model=planner_model,
        base_url=base_url,
        instructions=instructions.text,
    )
    if encodable(task) is not task:
        raise UsageError("the goal, the ticket or a check contains bytes that are not UTF-8", hint="write it again")
    notices = [f"{problem.path}:{problem.line}: {problem.text}" for problem in dict.fromkeys(problems)]
    return Prepared(task, (*notices, *known.notices, *missing_dependencies(root)))


def _concerning(request: RunRequest, ticket: Ticket | None) -> str:
    """What the task says of itself, for choosing among packages."""
    parts = [request.goal]
    if ticket is not None:
        parts += [ticket.title, ticket.context, ticket.objective, ticket.sketch, *ticket.steps, *ticket.affected]
    return "\n".join(parts)


def spec_of(root: Path, settings: Path | None = None) -> Spec:
    """What the project says of itself; which checks judge it is said where its settings are read."""
    spec = read_spec(root)
    if settings is None or settings == root:
        return spec
    return spec.model_copy(update={"checks": read_spec(settings).checks})


def _ticket(request: RunRequest, root: Path, folder: TicketFolder) -> Ticket | None:
    if request.ticket is None:
        return None
    ticket = find_asked(root, folder, request.ticket)
    waiting = open_dependencies(ticket, folder)
    if waiting and not request.ignore_dependencies:
        raise UsageError(
            f"ticket {ticket.id} depends on {', '.join(_standing(name, root, folder) for name in waiting)}",
            hint="do that first, or pass --ignore-dependencies",
        )
    return ticket


def _standing(name: str, root: Path, folder: TicketFolder) -> str:
    """A dependency and how it stands: still open, or not there at all."""
    try:
        find_asked(root, folder, name)
    except UsageError:
        return f"{name} (no such ticket)"
    return f"{name} (still open)"


def _goal_of(ticket: Ticket | None) -> str:
    """Of a ticket that other people or tools wrote the title alone: a goal is an instruction, the rest is material."""
    if ticket is None:
        return ""
    return f"{ticket.title}\n{ticket.objective}".strip() if ticket.kind == "ticket" else ticket.title


def _of_profile(checks: Sequence[Check], profile: ProfileName) -> tuple[Check, ...]:
    """A check someone named always runs; of the detected ones, those the profile wants."""
    roles = PROFILES[profile].roles
    return tuple(check for check in checks if check.origin != "detected" or check.role in roles)


def _limits(request: RunRequest) -> Limits:
    named = {name: value for name, value in request.limits.items() if value is not None}
    return PROFILES[request.profile].limits.model_copy(update=named)
