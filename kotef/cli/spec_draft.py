"""Drafting of a specification from a goal, and its display."""

import asyncio
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from rich.text import Text

from kotef.cli.screen import console, plain, say_json, warn
from kotef.cli.screen.prompts import typed_line
from kotef.cli.spec_lint import finding_rows, show_findings
from kotef.context.prompts import Prompts
from kotef.errors import ModelError, UsageError
from kotef.failures.plural import counted
from kotef.models.factory import discover_model, make_model, resolve
from kotef.redaction import redactor
from kotef.runs.config import UserConfig, config_path, prompt_overrides, read_config
from kotef.runs.draft_files import DraftFile
from kotef.runs.model_selection import NO_MODEL, price_of
from kotef.runs.repository import repository_of
from kotef.runs.run_settings import run_settings
from kotef.runs.secret_sources import hide
from kotef.runs.spec_draft import Drafted, Drafter, InterviewAnswer
from kotef.runs.spec_lint import lint_workspace
from kotef.settings import Price
from kotef.state import Spent
from kotef.telemetry import leaves, told_to_langsmith

MAX_GOAL: Final = 20_000
"""Characters of a goal."""


def goal_of(options: dict[str, Any]) -> str:
    """The goal to draft; UsageError if an interview is requested without a terminal."""
    goal = str(options["goal"]).strip()
    if not goal:
        raise UsageError("the goal is empty", hint='say what you want: kotef spec "add an undo command"')
    if len(goal) > MAX_GOAL:
        raise UsageError(f"the goal has {len(goal):,} characters", hint=f"use at most {MAX_GOAL:,}")
    if options["interview"] and not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UsageError("-i: no terminal to ask at", hint="leave -i out, or say more in the goal")
    return goal


def draft_specification(
    root: Path, goal: str, options: dict[str, Any]
) -> tuple[Drafted, Price | None, tuple[str, ...]]:
    """The draft, the price of its model, and notices; nothing is written."""
    config = read_config(config_path())
    hide(root, config)
    overrides, ignored = prompt_overrides(root, config, trust=options["trust"])
    if notice := leaves():
        console(stderr=True).print(Text(f"note: {plain(notice)}", style="yellow"))
    with told_to_langsmith(warn):
        drafted, price = asyncio.run(_draft(root, goal, config, Prompts(overrides), options))
    notices = tuple(redactor().text(text) for text in (*([ignored] if ignored else []), *drafted.notices))
    return drafted, price, notices


async def _draft(
    root: Path, goal: str, config: UserConfig, prompts: Prompts, options: dict[str, Any]
) -> tuple[Drafted, Price | None]:
    """Ask the configured endpoint. Raises `UsageError` if there is none, `ModelError` if it fails."""
    settings = run_settings(options, config, repository_of(root, config, trust=options["trust"]).settings)
    endpoint = resolve(os.environ, model=settings.value("model"), base_url=settings.value("base_url"))
    if endpoint is None:
        raise UsageError(NO_MODEL, hint="`kotef init` writes a skeleton without one")
    endpoint = await discover_model(endpoint)
    key = endpoint.api_key.get_secret_value() if endpoint.api_key else None
    price = price_of(endpoint.name, endpoint.base_url, config)
    known = config.models.get(endpoint.name)
    model = make_model(endpoint.name, base_url=endpoint.base_url, api_key=key, settings=known)
    drafter = Drafter(root, model, prompts, price)
    try:
        return await drafter.draft(goal, _interview if options["interview"] else None), price
    except ModelError:
        if drafter.spent.calls:
            console(stderr=True).print(f"no draft; {_cost(drafter.spent, price)}")
        raise
    finally:
        await model.aclose()


async def _interview(questions: Sequence[str]) -> list[InterviewAnswer]:
    """Ask the person at the terminal, one line each; an empty line skips a question, the end of input the rest."""
    screen = console(stderr=True)
    if not questions:
        screen.print("The model has no questions.")
    answers = []
    for number, question in enumerate(questions, 1):
        screen.print(Text(f"{number}/{len(questions)} {plain(question)}", style="bold"))
        screen.print("  (Enter skips it): ", end="")
        line = await typed_line()
        if not line:
            break
        if line.strip():
            answers.append(InterviewAnswer(question, line.strip()))
    return answers


def print_files(files: Sequence[DraftFile], drafted: Drafted, price: Price | None, *, as_json: bool) -> None:
    """Print the files that would be written."""
    if as_json:
        shown = [{"path": each.path, "insteadOf": each.instead_of or None, "text": each.text} for each in files]
        usage = _usage(drafted.spent, price)
        say_json({"dryRun": True, "files": shown, "notices": drafted.notices, "usage": usage})
        return
    screen = console()
    for each in files:
        screen.print(Text(f"── {plain(each.path)}", style="bold"))
        screen.print(Text(plain(each.text)))
    for notice in drafted.notices:
        screen.print(Text(f"note: {plain(redactor().text(notice))}", style="yellow"))
    screen.print(f"nothing was written (--dry-run); {_cost(drafted.spent, price)}")


def report_draft(
    root: Path,
    files: Sequence[DraftFile],
    drafted: Drafted,
    notices: Sequence[str],
    price: Price | None,
    *,
    as_json: bool,
) -> None:
    """Print what was written and kept, the remaining gaps, and the cost."""
    written = {each.path for each in files}
    gaps = lint_workspace(root, only=written).findings
    if as_json:
        facts = {
            "dryRun": False,
            "written": [each.path for each in files],
            "kept": [each.instead_of for each in files if each.instead_of],
            "notices": notices,
            "findings": finding_rows(gaps),
            "usage": _usage(drafted.spent, price),
        }
        say_json(facts)
        return
    screen = console()
    for each in files:
        if each.instead_of:
            screen.print(f"kept  {each.instead_of} (it exists)")
        screen.print(f"wrote {plain(each.path)}")
    for notice in notices:
        screen.print(Text(f"note: {plain(notice)}", style="yellow"))
    show_findings(screen, gaps)
    left = f"{counted(len(gaps), 'gap')} left to fix (`kotef spec lint`)" if gaps else "no gap"
    screen.print(f"{counted(len(drafted.draft.tickets), 'ticket')}, {left}; {_cost(drafted.spent, price)}")
    screen.print("A model wrote this: read it, then `kotef run --ticket ID`.")


def _cost(spent: Spent, price: Price | None) -> str:
    """Calls, tokens and, where the model has a price, money."""
    tokens = f"{counted(spent.calls, 'model call')}, {spent.tokens_in + spent.tokens_out:,} tokens"
    return f"{tokens}, cost {spent.cost:.4f}" if price else tokens


def _usage(spent: Spent, price: Price | None) -> dict[str, Any]:
    return {
        "calls": spent.calls,
        "tokensIn": spent.tokens_in,
        "tokensOut": spent.tokens_out,
        "cost": spent.cost if price else None,
    }
