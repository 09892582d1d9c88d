"""Requests for runs and resumes, made from the options of a command."""

import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from kotef.cli.interactive import is_interactive
from kotef.cli.screen import plain
from kotef.cli.ticket_file import ticket_given
from kotef.cli.ticket_list import tell_tickets
from kotef.cli.workspace_option import workspace_of
from kotef.errors import UsageError
from kotef.runs import store
from kotef.runs.ending_text import without_result
from kotef.runs.exports import Received, received
from kotef.runs.mcp_config import search_url
from kotef.runs.resume_compatibility import must_be_current
from kotef.runs.run_config import RunConfig
from kotef.runs.run_request import ResumeRequest, RunRequest
from kotef.runs.run_resolution import resolve_resume, resolve_run
from kotef.settings import Limits
from kotef.state import Task
from kotef.telemetry import leaves

_COMMON = (
    *("sandbox", "network", "reads", "coder", "model", "planner_model", "fallback_model", "base_url"),
    *("coder_env", "coder_files"),
    *("branch", "commit_hooks", "allow_install", "accept_ambiguous"),
)
_OF_RUN = (
    *("ticket", "checks", "profile", "agent", "skills", "allow_edits", "allow_unverified", "ignore_dependencies"),
    *("trust", "fresh", "web", "mcp"),
)
"""Fields of a request that are options of the same name."""


def ready(options: Mapping[str, Any]) -> RunConfig:
    """A run as the options of `kotef run` ask for it; nothing of it is made yet.

    Raises what can be wrong with the request. Without a goal, a ticket and a check it lists the open tickets.
    """
    root = workspace_of(options["root"])
    request = _request(options)
    if not (request.goal or request.ticket or request.given_ticket or request.checks):
        tell_tickets(root)
    return resolve_run(root, request)


def _request(options: Mapping[str, Any]) -> RunRequest:
    """The request of the options, before the settings of the repository are applied."""
    given = ticket_given(
        options["ticket_file"], other=options["ticket"], checks=options["checks"], trust=options["trust"]
    )
    request = RunRequest(
        goal=options["goal"].strip(),
        given_ticket=given.ticket if given else None,
        notices=given.notices if given else (),
        reuse_baseline=not options["no_cache"],
        web_search_url=search_url(options["web_search_url"], web=options["web"]),
        interactive=is_interactive(options),
        traced=leaves(),
        limits=_limits(options),
        **{name: options[name] for name in (*_COMMON, *_OF_RUN)},
    )
    if any(not check.strip() for check in request.checks):
        raise UsageError("--check: the command is empty", hint="leave it out to use the checks that are found")
    return request


def _limits(options: Mapping[str, Any]) -> dict[str, Any]:
    """The limits given on the command line, by field of `Limits`."""
    return {name: options[name] for name in Limits.model_fields if options.get(name) is not None}


def ready_again(options: Mapping[str, Any]) -> RunConfig:
    """The run that the options of `kotef resume` name, with the task as it goes on; nothing of it is changed yet.

    Raises what can be wrong with the request, or speaks against going on.
    """
    file, named = options["from_file"], options["run_id"] or options["last"]
    if file and named:
        raise UsageError("--from already names the run", hint="leave out RUN and --last")
    if not (file or named):
        raise UsageError("no run given", hint="name one of `kotef runs`, or pass --last or --from FILE")
    if options["fingerprint"] and not file:
        raise UsageError("--fingerprint needs --from", hint="leave it out")
    root = workspace_of(options["root"])
    if file:
        return _taken_up(root, Path(file), options)
    run = store.find(root, options["run_id"])
    run.must_be_own("resume")
    return _again(root, run, options)


def _again(root: Path, run: store.RunDir, options: Mapping[str, Any]) -> RunConfig:
    task = run.task()
    if task is None:
        raise UsageError(f"run {run.run_id} cannot be resumed", hint=without_result(run))
    must_be_current(run, task)
    request = ResumeRequest(
        one_more=options["one_more"],
        interactive=is_interactive(options, task, run),
        traced=leaves(),
        limits=_limits(options),
        **{name: options[name] for name in _COMMON},
    )
    return resolve_resume(root, run, task, request)


def _taken_up(root: Path, file: Path, options: Mapping[str, Any]) -> RunConfig:
    """Check the file as far as possible, then put its run in place."""
    with received(root, file, fingerprint=options["fingerprint"] or "") as found:
        config = _again(root, found.run, options)
        for line in _asked_by_file(found, config.task):
            sys.stderr.write(f"kotef: note: {plain(line)}\n")
        sys.stderr.flush()
        run, placed = found.settle()
    return replace(config, run=run).noting(placed)


def _asked_by_file(found: Received, task: Task) -> tuple[str, ...]:
    """What a run from a file may do here, one line each; a file can ask for as much as a command line can."""
    manifest = found.manifest
    network = "with" if task.network else "no"
    hooks = ", with git hooks" if task.commit_hooks else ""
    roles = (role.base_url for role in (task.roles.coder, task.roles.planner, task.roles.reviewer))
    extras = {
        "setup": "; ".join(task.setup),
        "reads": ", ".join(task.reads),
        "variables": ", ".join(task.passed),
        "variables for the coder": ", ".join(task.coder_env),
        "files for the coder": ", ".join(task.coder_files),
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
