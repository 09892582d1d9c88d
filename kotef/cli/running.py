"""How does a command line become a run, and its result a screen?"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

from kotef.cli.screen import Screen, console, one_line, plain
from kotef.context.prompts import Prompts
from kotef.errors import ModelError, UsageError
from kotef.models.factory import Endpoint, discover_model, make_model, resolve
from kotef.runs import store
from kotef.runs.config import UserConfig, config_path, prompt_overrides, read_config
from kotef.runs.prepare import Request, prepare
from kotef.runs.result import Result
from kotef.runs.start import Models, Setting, may_resume, resume, start
from kotef.sdd.tickets import list_tickets
from kotef.state import Task
from kotef.workspace.git import inspect

LIMITS = ("max_attempts", "max_tokens", "max_calls", "max_cost", "max_time")
NO_MODEL = "no model: set OPENAI_API_KEY, or OPENAI_BASE_URL (--base-url) for a local server"


def workspace_of(root: Path | None) -> Path:
    """The directory a command works in: `--root`, else the git top level, else the current directory."""
    if root is not None:
        if not root.is_dir():
            raise UsageError(f"--root {root}: no such directory", hint="name an existing directory")
        return root.resolve()
    here = Path.cwd()
    return inspect(here).toplevel or here


def run_command(options: dict[str, Any]) -> int:
    """`kotef run`; returns the exit status."""
    root = workspace_of(options["root"])
    request = Request(
        goal=options["goal"].strip(),
        ticket=options["ticket"],
        checks=options["checks"],
        profile=options["profile"],
        limits={name: options[name] for name in LIMITS},
        allow_edits=options["allow_edits"],
        allow_unverified=options["allow_unverified"],
        ignore_dependencies=options["ignore_dependencies"],
        trust=options["trust"],
    )
    if not (request.goal or request.ticket or request.checks):
        return _list_tickets(root)
    config = read_config(config_path())
    # everything that can be wrong with the request is found before the model is asked for, or a run is made
    trial = prepare(request, root, run_id="", coder="model", model="", planner_model="", base_url="")
    endpoint = _endpoint(options, config)
    planner = options["planner_model"] or endpoint.name
    _need_prices(options["max_cost"], config, (endpoint.name, planner))
    run = store.create(root)
    update = {
        "run_id": run.run_id,
        "model": endpoint.name,
        "planner_model": planner,
        "base_url": endpoint.base_url or "",
    }
    task = trial.task.model_copy(update=update)
    overrides, ignored = prompt_overrides(root, config, trust=request.trust)
    notices = (*trial.notices, *_facts(root), *((ignored,) if ignored else ()))
    setting = Setting(root, _models(endpoint, task, config), Prompts(overrides), notices=notices)
    return _watched(lambda each: start(run, task, each), setting, task, as_json=options["as_json"])


def resume_command(options: dict[str, Any]) -> int:
    """`kotef resume`; returns the exit status."""
    if not options["run_id"] and not options["last"]:
        raise UsageError("which run?", hint="name one of `kotef runs`, or pass --last")
    root = workspace_of(options["root"])
    run = store.find(root, options["run_id"])
    task = run.task()
    if task is None:
        raise UsageError(f"run {run.run_id} died before it began", hint="start it again with `kotef run`")
    given = {name: options[name] for name in LIMITS}
    raised = task.limits.model_copy(update={name: value for name, value in given.items() if value is not None})
    may_resume(run, task, raised)
    config = read_config(config_path())
    asked = {"model": options["model"] or task.model, "base_url": options["base_url"] or task.base_url or None}
    endpoint = _endpoint(asked, config)
    planner = options["planner_model"] or (task.planner_model if not options["model"] else endpoint.name)
    _need_prices(raised.max_cost, config, (endpoint.name, planner))
    overrides, ignored = prompt_overrides(root, config, trust=task.trust)
    shown = task.model_copy(update={"limits": raised, "model": endpoint.name, "planner_model": planner})
    notices = (ignored,) if ignored else ()
    setting = Setting(root, _models(endpoint, shown, config), Prompts(overrides), notices=notices)
    return _watched(lambda each: resume(run, given, each), setting, shown, as_json=options["as_json"])


def _list_tickets(root: Path) -> int:
    """`kotef run` with nothing to do: what could be done."""
    folder = list_tickets(root)
    screen = console(stderr=True)
    if folder.open:
        screen.print("Open tickets (start one with `kotef run --ticket ID`):")
        for ticket in folder.open:
            screen.print(f"  {ticket.id}  {one_line(ticket.title)}")
    for problem in folder.problems:
        screen.print(f"note: {problem.path}:{problem.line}: {plain(problem.text)}")
    hint = (
        "`kotef run --ticket ID`" if folder.open else '`kotef run "what to do"`, or `kotef init` for a .sdd/ skeleton'
    )
    raise UsageError("neither a goal nor a ticket was named", hint=hint)


def _endpoint(options: dict[str, Any], config: UserConfig) -> Endpoint:
    """Whom to ask; UsageError with the way out when nobody is configured."""
    found = resolve(os.environ, model=options["model"] or config.model, base_url=options["base_url"] or config.base_url)
    if found is None:
        raise UsageError(NO_MODEL, hint="`kotef demo` needs neither; `kotef doctor` tells what is missing")
    if found.name:
        return found
    try:
        return asyncio.run(discover_model(found))
    except ModelError as error:
        raise UsageError(
            f"no model is named, and none can be asked for: {error}", hint="start the server, or give --model"
        ) from error


def _need_prices(max_cost: float | None, config: UserConfig, names: tuple[str, ...]) -> None:
    for name in names:
        if max_cost is not None and name not in config.prices:
            example = f'[prices."{name}"] input = 2.0, output = 8.0 (per million tokens)'
            raise UsageError(f"--max-cost: the price of {name} is not known", hint=f"add {example} to {config_path()}")


def _models(
    endpoint: Endpoint, task: Task, config: UserConfig
) -> Callable[[Callable[[int, float, str], None]], Models]:
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else None

    def make(on_retry: Callable[[int, float, str], None]) -> Models:
        def model(name: str) -> Any:
            return make_model(name, base_url=endpoint.base_url, api_key=key, on_retry=on_retry)

        coder = model(task.model)
        planner = coder if task.planner_model == task.model else model(task.planner_model)
        return Models(coder, planner, config.prices.get(task.model), config.prices.get(task.planner_model))

    return make


def _facts(root: Path) -> tuple[str, ...]:
    """What is unusual about this workspace, before the first edit."""
    facts = inspect(root)
    if not facts.is_repo:
        return ("not a git repository; kotef keeps its own snapshots, and `git init` would give you yours",)
    said = []
    if not facts.has_commits:
        said.append("the repository has no commit yet")
    elif facts.branch is None:
        said.append("HEAD is detached; kotef commits nothing, so it stays where it is")
    if facts.dirty:
        said.append("there is uncommitted work; it is in the snapshot and is kept")
    return tuple(said)


def _watched(go: Callable[[Setting], Result], setting: Setting, task: Task, *, as_json: bool) -> int:
    """Run with a view that fits where the output goes, then print the result."""
    screen = Screen(max_attempts=task.limits.max_attempts)
    watching = nullcontext() if as_json else screen.watching()
    with watching:
        result = go(setting if as_json else replace(setting, watchers=(screen,)))
    if as_json:
        sys.stdout.write(result.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        say_result(result)
    return result.exit_code


def say_result(result: Result) -> None:
    """The ending in a few lines: outcome, what changed, where to read on, how to go on."""
    screen = console()
    style = "bold green" if result.outcome == "verified" else "bold red"
    attempts = f"{result.failure_history.attempts} of {result.max_attempts} attempts failed"
    screen.print(f"{result.outcome}: {plain(result.sentence)} ({attempts})", style=style)
    if result.fixed:
        screen.print(f"  fixed: {', '.join(plain(test) for test in result.fixed[:10])}")
    if result.changed:
        screen.print(f"  changed: {', '.join(plain(path) for path in result.changed[:10])}")
    if result.preexisting:
        screen.print(
            f"  red before the run and not asked for: {', '.join(plain(test) for test in result.preexisting[:5])}"
        )
    for text, why in result.done_lines.items():
        if not why and result.done:
            screen.print(f"  nothing proves: {one_line(text)}", style="yellow")
    screen.print(f"  report: .sdd/runs/{result.run_id}/report.md")
    if result.issue:
        screen.print(f"  issue:  {result.issue}")
    if result.resume:
        screen.print(f"  resume: {result.resume}")
