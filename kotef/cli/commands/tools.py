"""`kotef tools`: the tools a model may be given."""

import json
import os
from pathlib import Path

import click

from kotef.cli.options import ARRAY


@click.command()
@click.option(
    "--tier",
    type=click.Choice(["core", "standard", "all"], case_sensitive=False),
    help="Only these.  [default: KOTEF_TOOLS, else all]",
)
@ARRAY
def tools(tier: str | None, as_json: bool) -> None:
    """List the tools that a model can use: what each needs, and what its schema costs in every request.

    \b
    Examples:
      kotef tools --tier core
      KOTEF_TOOLS=standard kotef run "make the tests pass"

    core: the four tools that read. standard: also edits, commands, checks, git and the overview. all: also the web, MCP
    servers, extensions, the memory and skills. KOTEF_TOOLS limits the tier of runs; `needs` is what a tool requires in
    addition.

    A reader changes nothing, an editor changes files, a runner runs checks or commands, and a keeper writes notes.

    \b
    needs            is provided by
      apply_patch    [models."NAME"] with apply_patch = true in the user's config.toml
      web            kotef run --web
      web_search     kotef run --web --web-search-url URL
      memory         a folder .sdd/memory in the repository
      skills         a skill that `kotef skills` lists; skill_files: one with files beside SKILL.md;
                     more_skills: more of them than the brief has room for
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.extension_table import installed_tools
    from kotef.cli.screen import console, plain, say_json, warn
    from kotef.models.usage import CHARACTERS_PER_TOKEN
    from kotef.runs.available_tools import TIER
    from kotef.runs.config import config_path
    from kotef.tools.registry import TABLE, TIERS, tier_of

    chosen, warning = tier_of(tier or os.environ.get(TIER))
    if warning:
        warn(warning)
    extended = installed_tools(Path.cwd())
    origins = {row.name: origin for row, origin in extended}
    rows = [
        {
            "name": row.name,
            "kind": row.kind,
            "tier": row.tier,
            "needs": row.needs,
            "description": f"{row.description} ({origins[row.name]})" if row.name in origins else row.description,
            "tokens": -(-len(json.dumps(row.schema, separators=(",", ":"))) // CHARACTERS_PER_TOKEN),
        }
        for row in sorted((*TABLE, *(row for row, _ in extended)), key=lambda row: row.name)
        if TIERS.index(row.tier) <= TIERS.index(chosen)
    ]
    if as_json:
        say_json(rows)
        return
    screen = console()
    screen.print(f"{'tool':<22} {'kind':<7} {'tier':<9} {'needs':<12} tokens", style="bold")
    for row in rows:
        facts = f"{row['name']:<22} {row['kind']:<7} {row['tier']:<9} {row['needs'] or '':<12}"
        screen.print(f"{facts} {row['tokens']:>6}  {row['description']}", soft_wrap=True)
    if any(row["needs"] == "apply_patch" for row in rows):
        note = f'apply_patch is offered to models with `[models."NAME"] apply_patch = true` in {config_path()}'
        screen.print(plain(f"{note}; `kotef tools --help` explains the other needs"), soft_wrap=True)
    always = sum(int(str(row["tokens"])) for row in rows if row["needs"] is None)
    screen.print(f"about {always:,} tokens in every request, not counting tools that need something")
