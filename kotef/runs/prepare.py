"""Task of a run, read from the request, the ticket, the spec and the workspace."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kotef import __version__
from kotef.checks.detect import collect_checks, missing_dependencies
from kotef.checks.types import Check
from kotef.errors import UsageError
from kotef.redaction import encodable
from kotef.runs.available_tools import given_skills
from kotef.runs.config import UserConfig
from kotef.runs.memory import Remembered, remembered
from kotef.runs.repository import Settings
from kotef.runs.run_request import RunRequest
from kotef.runs.run_settings import RunSettings, run_settings
from kotef.sdd.files import read_file
from kotef.sdd.spec import Spec, read_spec
from kotef.sdd.ticket import Ticket
from kotef.sdd.ticket_lookup import find_asked
from kotef.sdd.tickets import TicketFolder, list_tickets, open_dependencies
from kotef.settings import PROFILES, ProfileName
from kotef.state import Task


@dataclass(frozen=True, slots=True)
class Prepared:
    """A task, and notices before it starts."""

    task: Task
    notices: tuple[str, ...]


def prepare(
    request: RunRequest,
    root: Path,
    settings: RunSettings | None = None,
    *,
    place: Path | None = None,
    more: Sequence[Check] = (),
) -> Prepared:
    """Read the spec, the ticket and the checks once; they are not read again during the run.

    The task has no id yet, and no coder yet. `settings` are those in force here; None: the request's own
    and the defaults. `place` is where the settings of the repository are read; None: the workspace. `more` are checks
    of extensions.
    """
    in_force = settings or run_settings(request.given, UserConfig(), Settings(), profile=request.profile, env={})
    spec = spec_of(root, place)
    folder = list_tickets(root)
    ticket = request.given_ticket or _ticket(request, root, folder)
    if not (request.goal or ticket or request.checks):
        raise UsageError("nothing to do: name a goal, a ticket or a check", hint="`kotef run --help` has examples")
    checks = collect_checks(
        root,
        options=request.checks,
        ticket=ticket.tests if ticket else (),
        architect=spec.checks,
        settings=place,
        concerning=_concerning(request, ticket),
        more=more,
    )
    known = Remembered(()) if request.fresh else remembered(root)
    instructions = read_file(root, "AGENTS.md")
    problems = (*spec.problems, *instructions.problems, *(ticket.problems if ticket else ()), *folder.problems)
    sandbox = in_force.sandbox
    skills = given_skills(request.skills, root)
    task = Task(
        kotef_version=__version__,
        run_id="",
        goal=request.goal or _goal_of(ticket),
        ticket=ticket,
        spec=spec,
        checks=_of_profile(checks, request.profile),
        limits=in_force.limits,
        profile=request.profile,
        allow_edits=(*(ticket.allow_test_edits if ticket else ()), *request.allow_edits),
        allow_unverified=request.allow_unverified,
        trust=request.trust,
        accept_ambiguous=request.accept_ambiguous,
        reuse_baseline=request.reuse_baseline,
        web=request.web,
        web_search_url=request.web_search_url,
        sandbox=sandbox.wanted,
        network=sandbox.network,
        allow_install=request.allow_install or PROFILES[request.profile].installs == "allowed",
        reads=sandbox.reads,
        passed=in_force.value("env.pass"),
        setup=in_force.value("setup.commands"),
        coder_env=request.coder_env,
        coder_files=request.coder_files,
        interactive=request.interactive,
        memory=known.memories,
        coder="",
        model="",
        instructions=instructions.text,
        skills=skills,
    )
    if encodable(task) is not task:
        raise UsageError("the goal, the ticket or a check contains bytes that are not UTF-8", hint="write it again")
    notices = [f"{problem.path}:{problem.line}: {problem.text}" for problem in dict.fromkeys(problems)]
    notices += [f"skill {skill.name} is from {skill.place or 'your configuration'}" for skill in skills]
    return Prepared(task, (*notices, *known.notices, *missing_dependencies(root)))


def _concerning(request: RunRequest, ticket: Ticket | None) -> str:
    """Text of the task, for choosing among packages."""
    parts = [request.goal]
    if ticket is not None:
        parts += [ticket.title, ticket.context, ticket.objective, ticket.sketch, *ticket.steps, *ticket.affected]
    return "\n".join(parts)


def spec_of(root: Path, settings: Path | None = None) -> Spec:
    """The project's spec; its checks come from the place where settings are read."""
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
            hint="finish that first, or pass --ignore-dependencies",
        )
    return ticket


def _standing(name: str, root: Path, folder: TicketFolder) -> str:
    """A dependency and its state: still open, or missing."""
    try:
        find_asked(root, folder, name)
    except UsageError:
        return f"{name} (no such ticket)"
    return f"{name} (still open)"


def _goal_of(ticket: Ticket | None) -> str:
    """The goal; of a foreign ticket only the title, because a goal is an instruction and the rest is material."""
    if ticket is None:
        return ""
    return f"{ticket.title}\n{ticket.objective}".strip() if ticket.kind == "ticket" else ticket.title


def _of_profile(checks: Sequence[Check], profile: ProfileName) -> tuple[Check, ...]:
    """The checks of the profile: all named ones, and those detected ones that it includes."""
    roles = PROFILES[profile].roles
    return tuple(check for check in checks if check.origin != "detected" or check.role in roles)
