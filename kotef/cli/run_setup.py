"""Preparation of a run or a resume, and the validation of what the user asked for."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kotef.checks.trial import TrialResult
from kotef.cli.interactive import is_interactive
from kotef.cli.model_selection import Cast, cast_of
from kotef.cli.screen import plain
from kotef.cli.ticket_file import ForeignTicket, ticket_given
from kotef.cli.ticket_list import tell_tickets
from kotef.cli.workspace_option import workspace_of
from kotef.context.prompts import Prompts
from kotef.errors import UsageError
from kotef.git import GitFacts, inspect
from kotef.mcp_client import Server
from kotef.redaction import SECRET_MARK
from kotef.runs import store
from kotef.runs.available_tools import available, idle
from kotef.runs.base_branch import settings_place
from kotef.runs.branch import aimed_again, aimed_at
from kotef.runs.check_trial import tried
from kotef.runs.config import UserConfig, config_path, prompt_overrides, read_config
from kotef.runs.crash_recovery import put_right
from kotef.runs.exports import Received, received
from kotef.runs.external_agents import Hired, hired_of, must_be_hireable
from kotef.runs.mcp_config import NONE, search_url, trusted_servers
from kotef.runs.model_settings import with_model_settings
from kotef.runs.prepare import RunRequest, prepare
from kotef.runs.repository import RepositorySettings, Settings, repository_of
from kotef.runs.resume_compatibility import must_be_current
from kotef.runs.roles import read_agents
from kotef.runs.run_config import RunConfig
from kotef.runs.sandbox_setup import Confined, SandboxRequest, asked_of, confined_of
from kotef.runs.secret_sources import hide, refuse_secrets_in
from kotef.runs.start import may_resume
from kotef.sandbox import child_environment
from kotef.state import VISIT_CAPS, Task
from kotef.telemetry import leaves

LIMITS = (
    *("max_attempts", "max_tokens", "max_calls", "max_cost", "max_time", "reruns", "probes", "probe_time"),
    *("max_call_time", "max_commands", "max_written"),
    *("max_steps", "max_tool_calls", "continues", "context_window"),
)
CAST = ("coder", "model", "planner_model", "fallback_model", "base_url")
_AS_ASKED = (
    *("checks", "profile", "allow_edits", "allow_unverified", "allow_install", "ignore_dependencies"),
    *("trust", "accept_ambiguous", "fresh", "web"),
)
"""Fields of a request that are options of the same name."""
MOST_ATTEMPTS = 20


def ready(options: dict[str, Any]) -> tuple[store.RunDir, Task, RunConfig]:
    """A run as the options of `kotef run` ask for it, with its place and its models; nothing is created yet.

    Raises what can be wrong with the request. Without a goal, a ticket and a check it lists the open tickets.
    """
    root = workspace_of(options["root"])
    given = ticket_given(
        options["ticket_file"], other=options["ticket"], checks=options["checks"], trust=options["trust"]
    )
    interactive = is_interactive(options)
    request = _request(options, given)
    if not (request.goal or request.ticket or request.given or request.checks):
        tell_tickets(root)
    config = read_config(config_path())
    righted = put_right(root)
    repository = repository_of(root, config, trust=request.trust)
    asked = _asked(options, config, repository.settings)
    request = replace(request, **_in_effect(asked, repository))
    hide(root, config, passed=request.passed, addresses=_addresses(options, repository))

    # everything that can be wrong with the request is found before the model is asked for, or a run is made
    trial = prepare(request, root, run_id="", coder="model", model="", planner_model="", base_url="")
    crew = _crew(options, root, config, repository, asked=asked, request=request)
    refuse_secrets_in((*(check.command for check in trial.task.checks), *trial.task.setup, crew.cast.chain))
    run = store.new(root)
    git = inspect(root)
    aim = aimed_at(root, options["branch"], git, trial.task, run.run_id, hooks=options["commit_hooks"])
    startable = _startable(root, trial.task, crew.confined)

    made = {"run_id": run.run_id, "mcp": crew.mcp, "coder_env": options["coder_env"], "interactive": interactive}
    task = trial.task.model_copy(update={**made, **aim, **crew.cast.fields(), **_required(trial.task, startable)})
    overrides, ignored = prompt_overrides(root, config, trust=request.trust, at=repository.place)
    kit, warned = available(root, config, model=task.model)
    unable = idle(kit, task.roles.coder) if crew.cast.coder and crew.cast.edits else ""
    told = (*crew.confined.notices, *crew.hired.notices, *repository.notices, *(given.notices if given else ()))
    before = (*righted, *told, *trial.notices, *startable.notices, *crew.notices)
    after = (*(text for text in (ignored, crew.unused, unable) if text), *warned)
    setting = RunConfig(
        root,
        crew.cast.models(config),
        Prompts(overrides),
        notices=(*before, *_facts(root, git), *crew.cast.notices, *after),
        servers=crew.servers,
        kit=kit,
        confined=crew.confined,
        hired=crew.hired,
    )
    return run, task, setting


def _request(options: Mapping[str, Any], given: ForeignTicket | None) -> RunRequest:
    """What the options ask for, before the settings of the repository count."""
    request = RunRequest(
        goal=options["goal"].strip(),
        ticket=options["ticket"],
        given=given.ticket if given else None,
        limits={name: options[name] for name in LIMITS},
        reuse_baseline=not options["no_cache"],
        web_search_url=search_url(options["web_search_url"], web=options["web"]),
        **{name: options[name] for name in _AS_ASKED},
    )
    if any(not check.strip() for check in request.checks):
        raise UsageError("--check: an empty command", hint="leave it out to use the checks that are found")
    return request


def _addresses(options: Mapping[str, Any], repository: RepositorySettings) -> tuple[str | None, ...]:
    """Addresses of endpoints, which may hold a password."""
    return (options["base_url"], repository.settings.base_url)


@dataclass(frozen=True)
class _Crew:
    """Who works on a run: models and agents, MCP servers, and what confines their commands."""

    cast: Cast
    servers: tuple[Server, ...]
    mcp: str
    """Fingerprint of the servers; empty without any."""
    unused: str
    """Why servers of the repository are not used; empty where there is nothing to say."""
    confined: Confined
    hired: Hired
    notices: tuple[str, ...]


def _crew(
    options: dict[str, Any],
    root: Path,
    config: UserConfig,
    repository: RepositorySettings,
    *,
    asked: SandboxRequest,
    request: RunRequest,
) -> _Crew:
    """Raises what is wrong with any of them, and hides from now on what they are given."""
    agents = read_agents(root, config, trust=request.trust, at=repository.place)
    cast = cast_of(with_model_settings(options, config, repository.settings), config, agents.company(options["agent"]))
    cast.need_prices(options["max_cost"], config)
    more = options["coder_env"]
    must_be_hireable(cast.chain, root, more=more, max_cost=options["max_cost"], prices=config.prices)
    found, unused = trusted_servers(root, config, asked=options["mcp"], at=repository.place)
    servers = found.servers()
    confined = confined_of(root, asked, opened=bool(servers or request.setup))
    hired = hired_of(cast.chain, root, asked, confined, more=more, config=config)
    _hide_more(root, config, servers, hired, passed=request.passed, addresses=_addresses(options, repository))
    return _Crew(cast, servers, found.fingerprint, unused, confined, hired, agents.notices)


def ready_again(options: dict[str, Any]) -> tuple[store.RunDir, Task, RunConfig]:
    """The run that the options of `kotef resume` name, with the task as it goes on; nothing of it is changed yet.

    Raises what can be wrong with the request, or speaks against going on.
    """
    file, named = options["from_file"], options["run_id"] or options["last"]
    if file and named:
        raise UsageError("--from names the run already", hint="leave out RUN and --last")
    if not (file or named):
        raise UsageError("no run given", hint="name one of `kotef runs`, or pass --last or --from FILE")
    if options["fingerprint"] and not file:
        raise UsageError("--fingerprint goes with --from", hint="leave it out")
    root = workspace_of(options["root"])
    if file:
        return _taken_up(root, Path(file), options)
    run = store.find(root, options["run_id"])
    run.must_be_own("resume")
    return _again(root, run, options)


def _taken_up(root: Path, file: Path, options: dict[str, Any]) -> tuple[store.RunDir, Task, RunConfig]:
    """Check everything in the file that can be checked, then put its run in place."""
    with received(root, file, fingerprint=options["fingerprint"] or "") as found:
        _, task, setting = _again(root, found.run, options)
        for line in _asked_by_file(found, task):
            sys.stderr.write(f"kotef: note: {plain(line)}\n")
        sys.stderr.flush()
        run, placed = found.settle()
    return run, task, replace(setting, notices=(*placed, *setting.notices))


def _asked_by_file(found: Received, task: Task) -> tuple[str, ...]:
    """What a run from a file may do here, one line each; the file can ask for as much as a command line."""
    manifest = found.manifest
    network = "with" if task.network else "no"
    hooks = ", with the hooks of git" if task.commit_hooks else ""
    roles = (role.base_url for role in (task.roles.coder, task.roles.planner, task.roles.reviewer))
    extras = {
        "setup": "; ".join(task.setup),
        "reads": ", ".join(task.reads),
        "variables": ", ".join(task.passed),
        "variables for the coder": ", ".join(task.coder_env),
        "allowed edits of tests": ", ".join(task.allow_edits),
        "branch": f"{task.branch}{hooks}" if task.branch else "",
        "model": ", ".join(dict.fromkeys(filter(None, (task.model, task.planner_model, task.fallback_model)))),
        "endpoint": ", ".join(dict.fromkeys(filter(None, (task.base_url, *roles)))),
        "web": f"the model may read web pages {task.web_search_url}".strip() if task.web else "",
        "MCP servers": f"those of this repository with the fingerprint {task.mcp}" if task.mcp else "",
        "trust": "prompts and settings in this repository's .sdd are used" if task.trust else "",
        "installs": "commands may change installed environments" if task.allow_install else "",
        "verdict": "it may end unverified with exit 0" if task.allow_unverified else "",
    }
    return (
        f"run {manifest.run_id}, exported {manifest.exported} by kotef {manifest.kotef_version}: {found.fingerprint}",
        f"its checks: {'; '.join(check.command for check in task.checks)}",
        f"its coder: {task.coder}; sandbox {task.sandbox}, {network} network",
        *(f"its {name}: {value}" for name, value in extras.items() if value),
    )


def _again(root: Path, run: store.RunDir, options: dict[str, Any]) -> tuple[store.RunDir, Task, RunConfig]:
    """The run, its task with the options of this resume, and the setting to resume it in."""
    task = run.task()
    if task is None:
        raise UsageError(f"run {run.run_id} crashed before it started", hint="start it again with `kotef run`")
    must_be_current(run, task)
    interactive = is_interactive(options, task, run)
    given = {name: options[name] for name in LIMITS if options[name] is not None}
    config = read_config(config_path())
    hide(root, config, passed=task.passed, addresses=(options["base_url"],))
    asked = {name: options[name] or getattr(task, name) or None for name in CAST}
    if SECRET_MARK.search(asked["base_url"] or ""):  # its password was not kept: the address is asked for again
        asked["base_url"] = None
    cast = cast_of(asked, config, task.roles)
    goes_on_from = _one_more(run, task, given) if options["one_more"] else 0
    changed = task.model_copy(
        update={
            "goes_on_from": goes_on_from,
            "limits": task.limits.model_copy(update=given),
            "resumed_after": _newest_visit(run) if "max_attempts" in given else task.resumed_after,
            "accept_ambiguous": task.accept_ambiguous or options["accept_ambiguous"],
            "sandbox": options["sandbox"] or task.sandbox,
            "network": task.network or options["network"],
            "allow_install": task.allow_install or options["allow_install"],
            "interactive": interactive,
            "reads": tuple(dict.fromkeys((*task.reads, *options["reads"]))),
            "coder_env": tuple(dict.fromkeys((*task.coder_env, *options["coder_env"]))),
            **aimed_again(root, options["branch"], task, hooks=options["commit_hooks"]),
            **cast.fields(),
        }
    )
    may_resume(run, task, changed)
    righted = put_right(root, but=run.path)
    cast.need_prices(changed.limits.max_cost, config)
    more, max_cost = changed.coder_env, changed.limits.max_cost
    must_be_hireable(cast.chain, root, more=more, max_cost=max_cost, prices=config.prices)
    place, told = settings_place(root)
    overrides, ignored = prompt_overrides(root, config, trust=task.trust, at=place)
    found, unused = trusted_servers(root, config, asked=False, pinned=task.mcp, at=place) if task.mcp else (NONE, "")
    kit, warned = available(root, config, model=changed.model)
    servers = found.servers()
    asked_for = SandboxRequest(changed.sandbox, changed.network, changed.reads)
    confined = confined_of(root, asked_for, opened=bool(servers or changed.setup))
    hired = hired_of(cast.chain, root, asked_for, confined, more=more, config=config)
    _hide_more(root, config, servers, hired, passed=task.passed, addresses=(options["base_url"],))
    refuse_secrets_in((cast.chain,))
    if changed.broken:
        changed = changed.model_copy(update=_required(changed, _startable(root, changed, confined)))
    notices = (
        *righted,
        *confined.notices,
        *hired.notices,
        *told,
        *(text for text in (ignored, unused, leaves()) if text),
        *warned,
    )
    models, prompts = cast.models(config), Prompts(overrides)
    setting = RunConfig(
        root, models, prompts, notices=notices, servers=servers, kit=kit, confined=confined, hired=hired
    )
    return run, changed, setting


def _startable(root: Path, task: Task, confined: Confined) -> TrialResult:
    """What of the task's checks can start here; what `[setup]` may install first is not tried."""
    if task.setup or confined.refused:
        return TrialResult(task.checks)
    env = child_environment(os.environ, allow=task.passed)
    return tried(task.checks, root=root, env=env, sandbox=confined.sandbox)


def _required(task: Task, found: TrialResult) -> dict[str, Any]:
    """Fields of the task: the checks that start; where no test can, all of them, for a resume to try again."""
    if found.broken and not task.allow_unverified:
        return {"checks": task.checks, "broken": found.broken}
    return {"checks": found.checks, "broken": ""}


def _hide_more(
    root: Path,
    config: UserConfig,
    servers: Sequence[Server],
    hired: Hired,
    *,
    passed: Sequence[str],
    addresses: Sequence[str | None],
) -> None:
    """From now on also what MCP servers, and agents that kotef did not write, are given."""
    if servers or hired.given:
        hide(root, config, servers=servers, passed=(*passed, *hired.names), logins=hired.logins, addresses=addresses)


def _asked(options: dict[str, Any], config: UserConfig, settings: Settings) -> SandboxRequest:
    network, reads = options["network"], options["reads"]
    return asked_of(options["sandbox"], network=network, reads=reads, config=config, settings=settings)


def _in_effect(asked: SandboxRequest, repository: RepositorySettings) -> dict[str, Any]:
    """Fields of the request that are not from the command line alone."""
    return {
        "sandbox": asked.wanted,
        "network": asked.network,
        "reads": asked.reads,
        "passed": repository.settings.passed,
        "setup": repository.settings.setup,
        "settings": repository.place,
    }


def _one_more(run: store.RunDir, task: Task, given: dict[str, Any]) -> int:
    """The visit to go on from, by `--continue`; adds to `given` what it takes: one attempt, its tool budget once.

    UsageError where no cap of a visit ended the last one.
    """
    result = run.result()
    if result is None or result.stopped_by not in VISIT_CAPS or result.done:
        raise UsageError(
            f"run {run.run_id}: its last attempt was not stopped by its steps or tool calls",
            hint="leave --continue out",
        )
    needed = result.failure_history.attempts + 1
    if needed > MOST_ATTEMPTS:
        raise UsageError(f"run {run.run_id} has used {MOST_ATTEMPTS} attempts", hint="start a new run with `kotef run`")
    given.setdefault("max_attempts", max(task.limits.max_attempts, needed))
    given.setdefault("continues", 0)
    return result.visits


def _newest_visit(run: store.RunDir) -> int:
    result = run.result()
    return result.visits if result else 0


def _facts(root: Path, facts: GitFacts) -> tuple[str, ...]:
    """What is unusual about this workspace, before the first edit."""
    return (*([said] if (said := leaves()) else ()), *_git_facts(facts, root))


def _git_facts(facts: GitFacts, root: Path) -> tuple[str, ...]:
    if not facts.is_repo:
        return ("not a git repository; kotef keeps its own snapshots, and `git init` would give you yours",)
    said = []
    if not facts.has_commits:
        said.append("the repository has no commit yet")
    elif facts.branch is None:
        said.append("HEAD is detached; it stays where it is")
    if facts.dirty and store.uncommitted(root):
        said.append("there is uncommitted work; it is in the snapshot and is kept")
    return tuple(said)
