"""Resolution of a request: with which models, where and on what a run, or a resume, works."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kotef.checks.trial import TrialResult
from kotef.context.prompts import Prompts
from kotef.errors import UsageError
from kotef.extensions import ExtensionSet
from kotef.git import GitFacts, inspect
from kotef.mcp_client import Server
from kotef.runs import store
from kotef.runs.available_tools import available, idle
from kotef.runs.base_branch import settings_place
from kotef.runs.branch import aimed_again, aimed_at
from kotef.runs.check_trial import tried
from kotef.runs.config import UserConfig, config_path, prompt_overrides, read_config
from kotef.runs.crash_recovery import put_right
from kotef.runs.extension_setup import changed_since, checks_of, extensions_of
from kotef.runs.external_agents import Hired, hired_of, must_be_hireable
from kotef.runs.mcp_config import NONE, McpConfig, trusted_servers
from kotef.runs.model_selection import ModelSelection, select_models
from kotef.runs.prepare import prepare
from kotef.runs.repository import RepositorySettings, Settings, repository_of
from kotef.runs.roles import Agents, read_agents
from kotef.runs.run_config import RunConfig
from kotef.runs.run_request import ResumeRequest, RunRequest
from kotef.runs.run_settings import RunSettings, SandboxRequest, run_settings
from kotef.runs.sandbox_setup import Confined, confined_of
from kotef.runs.secret_sources import hide, refuse_secrets_in
from kotef.runs.start import may_resume
from kotef.sandbox import child_environment
from kotef.state import VISIT_CAPS, Task
from kotef.tools.toolset import Kit

MOST_ATTEMPTS: Final = 20


@dataclass(frozen=True, slots=True)
class ResolvedWorkspace:
    """The combined settings of user, repository and request for one workspace."""

    root: Path
    config: UserConfig
    repository: RepositorySettings
    settings: RunSettings

    def agents(self, *, trust: bool) -> Agents:
        """The roles in force."""
        return read_agents(self.root, self.config, trust=trust, at=self.repository.place)


def resolve_workspace(root: Path, request: RunRequest, config: UserConfig) -> ResolvedWorkspace:
    """The settings that count for this request. Raises `SpecError` for a setting that cannot be used."""
    repository = repository_of(root, config, trust=request.trust)
    settings = run_settings(request.given, config, repository.settings, profile=request.profile)
    return ResolvedWorkspace(root, config, repository, settings)


def resolve_run(root: Path, request: RunRequest) -> RunConfig:
    """A new run as it is asked for; nothing of it is made yet. Raises what can be wrong with the request."""
    config = read_config(config_path())
    righted = put_right(root)
    here = resolve_workspace(root, request, config)
    repository, settings = here.repository, here.settings
    addresses = (request.base_url, repository.settings.base_url)
    hide(root, config, passed=repository.settings.passed, addresses=addresses)

    # everything that can be wrong with the request is found before the model is asked for, or a run is made
    extensions = extensions_of(root, settings.extensions)
    more = checks_of(extensions, root)
    prepared = prepare(request, root, settings, place=repository.place, more=more)
    agents = here.agents(trust=request.trust)
    coders = extensions.names("coder")
    selection = select_models(settings, config, agents.company(request.agent), extensions=coders)
    task = prepared.task.model_copy(update={**selection.fields(), "extensions": extensions.records})
    servers = trusted_servers(root, config, asked=request.mcp, at=repository.place)
    equipment = _equip(here, task, selection, servers, addresses=addresses, extensions=extensions)
    refuse_secrets_in((*(check.command for check in task.checks), *task.setup, selection.chain))

    run = store.new(root)
    git = inspect(root)
    aim = aimed_at(root, request.branch, git, task, run.run_id, hooks=request.commit_hooks)
    startable = _startable(root, task, equipment.confined)
    made = {"run_id": run.run_id, "mcp": equipment.mcp}
    task = task.model_copy(update={**made, **aim, **_required(task, startable)})

    unable = idle(equipment.kit, task.roles.coder) if selection.coder and selection.edits else ""
    notices = (
        *righted,
        *equipment.before,
        *repository.notices,
        *request.notices,
        *prepared.notices,
        *extensions.notices,
        *startable.notices,
        *agents.notices,
        *_facts(request, git, root),
        *selection.notices,
        *(text for text in (*equipment.ignored, unable) if text),
        *equipment.warned,
    )
    return equipment.config(run, task, notices)


def resolve_resume(root: Path, run: store.RunDir, task: Task, request: ResumeRequest) -> RunConfig:
    """A run as it continues, its `task` with what the request changes; nothing of it is changed yet.

    Raises what can be wrong with the request, or speaks against going on.
    """
    config = read_config(config_path())
    addresses = (request.base_url,)
    hide(root, config, passed=task.passed, addresses=addresses)
    place, read_from = settings_place(root)
    repository = RepositorySettings(root, place, Settings(), read_from, {})
    settings = run_settings(request.given, config, repository.settings, task=task)
    here = ResolvedWorkspace(root, config, repository, settings)
    extensions = extensions_of(root, settings.extensions)
    selection = select_models(settings, config, task.roles, extensions=extensions.names("coder"))
    fields = {**selection.fields(), "extensions": extensions.records}
    changed = _changed(here, run, task, request).model_copy(update=fields)
    may_resume(run, task, changed)

    righted = put_right(root, but=run.path)
    pinned = trusted_servers(root, config, asked=False, pinned=task.mcp, at=place) if task.mcp else (NONE, "")
    equipment = _equip(here, changed, selection, pinned, addresses=addresses, extensions=extensions)
    refuse_secrets_in((selection.chain,))
    if changed.broken:
        changed = changed.model_copy(update=_required(changed, _startable(root, changed, equipment.confined)))
    notices = (
        *righted,
        *equipment.before,
        *read_from,
        *extensions.notices,
        *changed_since(task, extensions),
        *(text for text in (*equipment.ignored, request.traced) if text),
        *equipment.warned,
    )
    return equipment.config(run, changed, notices)


@dataclass(frozen=True, slots=True)
class _Equipment:
    """Models and tools for a task."""

    root: Path
    user: UserConfig
    selection: ModelSelection
    servers: tuple[Server, ...]
    mcp: str
    """Fingerprint of the servers; empty without any."""
    confined: Confined
    hired: Hired
    prompts: Prompts
    kit: Kit
    ignored: tuple[str, str]
    """Why prompts, and servers, of the repository are not used; empty if there is nothing to say."""
    warned: tuple[str, ...]
    extensions: ExtensionSet

    @property
    def before(self) -> tuple[str, ...]:
        """Notices about the sandbox and external agents."""
        return (*self.confined.notices, *self.hired.notices)

    def config(self, run: store.RunDir, task: Task, notices: Sequence[str]) -> RunConfig:
        """The configuration of the run."""
        return RunConfig(
            run,
            task,
            self.root,
            self.selection.models(self.user),
            self.prompts,
            notices=tuple(notices),
            servers=self.servers,
            kit=self.kit,
            confined=self.confined,
            hired=self.hired,
            extensions=self.extensions,
        )


def _equip(
    here: ResolvedWorkspace,
    task: Task,
    selection: ModelSelection,
    found: tuple[McpConfig, str],
    *,
    addresses: Sequence[str | None],
    extensions: ExtensionSet,
) -> _Equipment:
    """Raises what is wrong with any of it, and hides from now on what servers and hired agents are given."""
    root, user, place = here.root, here.config, here.repository.place
    selection.need_prices(task.limits.max_cost, user)
    more, files, max_cost = task.coder_env, task.coder_files, task.limits.max_cost
    must_be_hireable(selection.chain, root, more=more, files=files, max_cost=max_cost, prices=user.prices)

    configured, unused = found
    servers = configured.servers()
    request = SandboxRequest(task.sandbox, task.network, task.reads)
    confined = confined_of(root, request, opened=bool(servers or task.setup))
    hired = hired_of(selection.chain, root, request, confined, more=more, files=files, config=user)
    if servers or hired.given:
        passed = (*task.passed, *hired.names)
        hide(root, user, servers=servers, passed=passed, logins=hired.logins, addresses=addresses)

    overrides, ignored = prompt_overrides(root, user, trust=task.trust, at=place)
    kit, warned = available(root, user, model=task.model, extensions=extensions)
    mcp = configured.fingerprint
    prompts = Prompts(overrides)
    unread = (ignored, unused)
    return _Equipment(root, user, selection, servers, mcp, confined, hired, prompts, kit, unread, warned, extensions)


def _changed(here: ResolvedWorkspace, run: store.RunDir, task: Task, request: ResumeRequest) -> Task:
    """The task with the changes that this resume asks for."""
    named = {name: value for name, value in request.limits.items() if value is not None}
    goes_on_from = _one_more(run, task, named) if request.one_more else 0
    sandbox = here.settings.sandbox
    update: dict[str, Any] = {
        "goes_on_from": goes_on_from,
        "limits": here.settings.limits.model_copy(update=named),
        "resumed_after": _newest_visit(run) if "max_attempts" in named else task.resumed_after,
        "accept_ambiguous": task.accept_ambiguous or request.accept_ambiguous,
        "sandbox": sandbox.wanted,
        "network": sandbox.network,
        "reads": sandbox.reads,
        "allow_install": task.allow_install or request.allow_install,
        "interactive": request.interactive,
        "coder_env": tuple(dict.fromkeys((*task.coder_env, *request.coder_env))),
        "coder_files": tuple(dict.fromkeys((*task.coder_files, *request.coder_files))),
        **aimed_again(here.root, request.branch, task, hooks=request.commit_hooks),
    }
    return task.model_copy(update=update)


def _one_more(run: store.RunDir, task: Task, named: dict[str, Any]) -> int:
    """The visit to continue from, by `--continue`; adds to `named` what it takes: one attempt, its tool budget once.

    UsageError if no cap of a visit ended the last one.
    """
    result = run.result()
    if result is None or result.stopped_by not in VISIT_CAPS or result.done:
        raise UsageError(
            f"run {run.run_id}: its last attempt was not stopped by its step or tool-call limit",
            hint="leave --continue out",
        )
    needed = result.failure_history.attempts + 1
    if needed > MOST_ATTEMPTS:
        raise UsageError(f"run {run.run_id} has used {MOST_ATTEMPTS} attempts", hint="start a new run with `kotef run`")
    named.setdefault("max_attempts", max(task.limits.max_attempts, needed))
    named.setdefault("continues", 0)
    return result.visits


def _newest_visit(run: store.RunDir) -> int:
    result = run.result()
    return result.visits if result else 0


def _startable(root: Path, task: Task, confined: Confined) -> TrialResult:
    """The task's checks that can start here; nothing is tried if `[setup]` may still install it."""
    if task.setup or confined.refused:
        return TrialResult(task.checks)
    env = child_environment(os.environ, allow=task.passed)
    return tried(task.checks, root=root, env=env, sandbox=confined.sandbox)


def _required(task: Task, found: TrialResult) -> dict[str, Any]:
    """Fields of the task: the checks that start; where no test can, all of them, for a resume to try again."""
    if found.broken and not task.allow_unverified:
        return {"checks": task.checks, "broken": found.broken}
    return {"checks": found.checks, "broken": ""}


def _facts(request: RunRequest, facts: GitFacts, root: Path) -> tuple[str, ...]:
    """Notices about unusual facts of this workspace."""
    return (*([request.traced] if request.traced else ()), *_git_facts(facts, root))


def _git_facts(facts: GitFacts, root: Path) -> tuple[str, ...]:
    if not facts.is_repo:
        return ("not a git repository; kotef keeps its own snapshots, and `git init` would give you yours",)
    notices = []
    if not facts.has_commits:
        notices.append("the repository has no commit yet")
    elif facts.branch is None:
        notices.append("HEAD is detached; it stays where it is")
    if facts.dirty and store.uncommitted(root):
        notices.append("there is uncommitted work; it is in the snapshot and is kept")
    return tuple(notices)
