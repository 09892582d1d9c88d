"""`kotef prompt`: what a model will be sent."""

from typing import Any

import click

from kotef.cli.options import AGENT, JSON, MODEL, SKILL, where


@click.command()
@click.argument("role", type=click.Choice(["coder", "planner"]))
@click.argument("goal", required=False, default="")
@click.option("--ticket", metavar="ID", help="Ticket or spec, as `kotef run` takes it.")
@click.option("--check", "checks", multiple=True, metavar="CMD", help="A check command; may be repeated.")
@click.option("--trust", is_flag=True, help="Use the settings, roles and prompts in this repository's .sdd.")
@click.option("--web", is_flag=True, help="Include the tools that read web pages.")
@AGENT
@SKILL
@MODEL
@where
@JSON
def prompt(role: str, **options: Any) -> None:
    """Show the first request to ROLE, as `kotef run` would send it: system prompt, tools, message.

    \b
    Examples:
      kotef prompt coder "make tests/test_cart.py pass"
      kotef prompt planner --ticket 07 --json

    Nothing is run and no model is called: the real message also contains what the checks say, and tools of MCP servers
    are not counted. Tokens are estimated, four characters each.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import console, plain, say_json, warn
    from kotef.cli.workspace_option import workspace_of
    from kotef.context.prompts import Prompts
    from kotef.redaction import redactor
    from kotef.runs.available_tools import available, idle
    from kotef.runs.config import config_path, prompt_overrides, read_config
    from kotef.runs.extension_setup import checks_of, extensions_of
    from kotef.runs.prepare import prepare
    from kotef.runs.preview import preview_coder, preview_planner
    from kotef.runs.run_request import RunRequest
    from kotef.runs.run_resolution import resolve_workspace
    from kotef.runs.secret_sources import hide

    root = workspace_of(options["root"])
    config = read_config(config_path())
    hide(root, config)
    goal = options["goal"].strip() or ("" if options["ticket"] else "(the goal)")
    call_options = {name: options[name] for name in ("ticket", "checks", "web", "agent", "skills", "model", "trust")}
    request = RunRequest(goal=goal, **call_options)
    here = resolve_workspace(root, request, config)
    company = here.agents(trust=request.trust).company(request.agent)
    extensions = extensions_of(root, here.settings.extensions)
    more = checks_of(extensions, root)
    task = prepare(request, root, here.settings, place=here.repository.place, more=more).task
    task = task.model_copy(update={"roles": company})
    overrides, _ = prompt_overrides(root, config, trust=request.trust, at=here.repository.place)
    model = company.coder.model or here.settings.value("model") or ""
    kit, warned = available(root, config, model=model, extensions=extensions)
    for warning in (*warned, *extensions.notices, idle(kit, company.coder) if role == "coder" else ""):
        if warning:
            warn(warning)
    prompts = Prompts(overrides)
    shown = preview_coder(task, prompts, kit) if role == "coder" else preview_planner(task, prompts, root)
    shown = redactor().whole(shown)
    total = sum(part.tokens for part in shown.parts)
    if options["as_json"]:
        parts = [{"name": part.name, "tokens": part.tokens, "text": part.text} for part in shown.parts]
        facts = {
            "role": role,
            "model": model or None,
            "tokens": total,
            "parts": parts,
            "tools": shown.tools,
            "prefix": shown.prefix.sha256,
        }
        say_json(facts)
        return
    screen = console()
    for part in shown.parts:
        screen.print(f"── {part.name}: about {part.tokens:,} tokens", style="bold")
        screen.print(plain(part.text), markup=False, highlight=False, soft_wrap=True)
    screen.print(f"── about {total:,} tokens in all, {len(shown.tools)} tools", style="bold")
