"""How does a command line become a run, and its result a screen?"""

import asyncio
import os
import sys
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kotef.cli.place import workspace_of
from kotef.cli.screen import Screen, console, is_live, one_line, plain
from kotef.coders.chain import WITH_MODEL, WITHOUT_MODEL, parse_chain
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
from kotef.workspace.git import GitFacts, inspect

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel

LIMITS = ("max_attempts", "max_tokens", "max_calls", "max_cost", "max_time", "reruns")
NO_MODEL_GAIN = "a model (OPENAI_API_KEY or OPENAI_BASE_URL) adds tasks that no small edit can do"
NO_MODEL = "no model: set OPENAI_API_KEY, or OPENAI_BASE_URL (--base-url) for a local server"


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
        accept_ambiguous=options["accept_ambiguous"],
        fresh=options["fresh"],
        reuse_baseline=not options["no_cache"],
    )
    if any(not check.strip() for check in request.checks):
        raise UsageError("--check: an empty command", hint="leave it out to use the checks that are found")
    if not (request.goal or request.ticket or request.checks):
        return _list_tickets(root)
    config = read_config(config_path())
    # everything that can be wrong with the request is found before the model is asked for, or a run is made
    trial = prepare(request, root, run_id="", coder="model", model="", planner_model="", base_url="")
    cast = _cast(options, config)
    _need_prices(options["max_cost"], config, cast)
    run = store.new(root)
    task = trial.task.model_copy(update={"run_id": run.run_id, **cast.fields()})
    overrides, ignored = prompt_overrides(root, config, trust=request.trust)
    notices = (*trial.notices, *_facts(root), *cast.notices, *((ignored,) if ignored else ()))
    setting = Setting(root, _models(cast, config), Prompts(overrides), notices=notices)
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
    given = {name: options[name] for name in LIMITS if options[name] is not None}
    config = read_config(config_path())
    asked = {name: options[name] or getattr(task, name) or None for name in ("coder", "model", "base_url")}
    cast = _cast({**asked, "planner_model": options["planner_model"] or task.planner_model or None}, config)
    changed = task.model_copy(
        update={
            "limits": task.limits.model_copy(update=given),
            "resumed_after": _newest_visit(run) if "max_attempts" in given else task.resumed_after,
            "accept_ambiguous": task.accept_ambiguous or options["accept_ambiguous"],
            **cast.fields(),
        }
    )
    may_resume(run, task, changed)
    _need_prices(changed.limits.max_cost, config, cast)
    overrides, ignored = prompt_overrides(root, config, trust=task.trust)
    notices = (ignored,) if ignored else ()
    setting = Setting(root, _models(cast, config), Prompts(overrides), notices=notices)
    return _watched(lambda each: resume(run, changed, each), setting, changed, as_json=options["as_json"])


def _newest_visit(run: store.RunDir) -> int:
    result = run.result()
    return result.visits if result else 0


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


@dataclass(frozen=True, slots=True)
class Cast:
    """Who works on a task: the chain of coders, and whom its models are asked of."""

    coder: str
    endpoint: Endpoint | None
    """None when no coder of the chain needs a model."""
    planner: str
    notices: tuple[str, ...] = ()

    def fields(self) -> dict[str, str]:
        """As the task keeps it."""
        name, url = (self.endpoint.name, self.endpoint.base_url) if self.endpoint else ("", "")
        return {"coder": self.coder, "model": name, "planner_model": self.planner, "base_url": url}


def _cast(options: dict[str, Any], config: UserConfig) -> Cast:
    """The chain asked for, else the default for what is configured; UsageError when it needs a model and none is."""
    model, url = options["model"] or config.model, options["base_url"] or config.base_url
    chain = options["coder"]
    wants_model = "model" in [link.name for link in parse_chain(chain)] if chain is not None else None
    endpoint = None if wants_model is False else resolve(os.environ, model=model, base_url=url)
    if endpoint is None:
        if wants_model:
            hint = f"--coder {WITHOUT_MODEL} needs neither; `kotef doctor` tells what is missing"
            raise UsageError(NO_MODEL, hint=hint)
        said = () if chain else (f"no model is configured: {WITHOUT_MODEL} work without one; {NO_MODEL_GAIN}",)
        return Cast(chain or WITHOUT_MODEL, None, "", said)
    if not endpoint.name:
        try:
            endpoint = asyncio.run(discover_model(endpoint))
        except ModelError as error:
            hint = "start the server, or give --model"
            raise UsageError(f"no model is named, and none can be asked for: {error}", hint=hint) from error
    return Cast(chain or WITH_MODEL, endpoint, options["planner_model"] or endpoint.name)


def _need_prices(max_cost: float | None, config: UserConfig, cast: Cast) -> None:
    for name in (cast.fields()["model"], cast.planner) if cast.endpoint else ():
        if max_cost is not None and name not in config.prices:
            example = f'[prices."{name}"] input = 2.0, output = 8.0 (per million tokens)'
            raise UsageError(f"--max-cost: the price of {name} is not known", hint=f"add {example} to {config_path()}")


def _models(cast: Cast, config: UserConfig) -> Callable[[Callable[[int, float, str], None]], Models]:
    endpoint = cast.endpoint
    if endpoint is None:
        return lambda _: Models()
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else None

    def make(on_retry: Callable[[int, float, str], None]) -> Models:
        def model(name: str) -> "BaseChatModel":
            return make_model(name, base_url=endpoint.base_url, api_key=key, on_retry=on_retry)

        coder = model(endpoint.name)
        planner = coder if cast.planner == endpoint.name else model(cast.planner)
        return Models(coder, planner, config.prices.get(endpoint.name), config.prices.get(cast.planner))

    return make


def _facts(root: Path) -> tuple[str, ...]:
    """What is unusual about this workspace, before the first edit."""
    facts = inspect(root)
    tracing = [name for name in ("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2") if os.environ.get(name) in ("1", "true")]
    leaves = (f"{tracing[0]} is set: prompts and code leave this machine for LangSmith",) if tracing else ()
    return (*leaves, *_git_facts(facts))


def _git_facts(facts: GitFacts) -> tuple[str, ...]:
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
        ask = screen.ask if is_live(screen.screen) and sys.stdin.isatty() else None
        result = go(setting if as_json else replace(setting, watchers=(screen,), ask=ask))
    if result.issue not in (None, ".sdd/issues.md"):
        text = f"kotef: warning: .sdd/issues.md cannot be written; the entry of this run is in {result.issue}\n"
        sys.stderr.write(plain(text))
    if as_json:
        sys.stdout.write(result.model_dump_json(by_alias=True, indent=2) + "\n")
    else:
        say_result(result)
    return result.exit_code


def say_result(result: Result, *, where: bool = True) -> None:
    """The ending in a few lines: outcome, what changed and, unless not `where`, where to read on and how to go on."""
    screen = console()
    screen.print(_headline(result), style="bold green" if result.done else "bold red")
    for title, items in (("fixed", result.fixed), ("changed", result.changed)):
        if items and result.tree_visit:
            screen.print(f"  {title}: {', '.join(plain(item) for item in items[:10])}")
    if result.edit:
        screen.print(f"  edit: {one_line(result.edit.rationale, 300)}")
        for line in result.edit.evidence:
            screen.print(f"    {one_line(line, 200)}")
    if result.preexisting:
        some = ", ".join(plain(test) for test in result.preexisting[:5])
        screen.print(f"  red before the run and not asked for: {some}")
    asked = result.definition_of_done
    unproved = [f"{one_line(line.text)} ({line.why})" if line.why else line.text for line in asked if not line.proved]
    if unproved and result.done:
        screen.print(
            f"  nothing proves {len(unproved)} of {len(asked)} lines of the ticket; a person should look:",
            style="yellow",
        )
        for text in unproved:
            screen.print(f"    {one_line(text, 240)}", style="yellow")
    if not where:
        return
    screen.print(f"  report: .sdd/runs/{result.run_id}/report.md")
    if result.issue:
        screen.print(f"  issue:  {result.issue}")
    if result.resume:
        screen.print(f"  resume: {result.resume}")


def _headline(result: Result) -> str:
    """The outcome in one line; a success says which attempt it was."""
    said = plain(result.sentence)
    if result.done and result.visits:
        by = " (by search)" if result.winner == "search" else ""
        return f"{result.outcome}{by} at attempt {result.failure_history.attempts + 1} of {result.max_attempts}: {said}"
    return f"{result.outcome}: {said}"
