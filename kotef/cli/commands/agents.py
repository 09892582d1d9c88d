"""`kotef agents`: the roles in force, and from where each comes."""

import click

from kotef.cli.options import ARRAY, where


@click.command()
@click.option("--trust", is_flag=True, help="Show what applies with `kotef run --trust`.")
@where
@ARRAY
def agents(root: str | None, trust: bool, as_json: bool) -> None:
    """List the roles in force here and where each comes from: .sdd/agents.md, the user's file, or built in.

    \b
    Examples:
      kotef agents
      kotef agents --trust --json
      kotef run --agent refactorer "split shop/cart.py"

    \b
    A role is written as
      ## refactorer
      ---
      steps: 5
      tools: readers, edit_file, run_checks
      ---
      Extra instructions for its model, placed last.

    Fields are model, base_url, temperature, tools, steps, max_tool_calls and description. A repository's roles can only
    narrow tools, steps and calls; its other fields and the prompt take effect in a repository the user trusts. `kotef
    run --agent NAME` chooses the coder's role; the roles named planner and reviewer are used for those nodes.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.agent_list import role_facts, role_lines
    from kotef.cli.screen import console, one_line, plain, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.files import home_relative
    from kotef.runs.config import config_path, read_config
    from kotef.runs.roles import read_agents

    found = read_agents(workspace_of(root), read_config(config_path()), trust=trust)
    if as_json:
        say_json([role_facts(role) for role in found.roles.values()])
        return
    screen = console()
    for role in found.roles.values():
        screen.print(f"{role.name}  ({plain(home_relative(role.source))})", style="bold")
        if role.description:
            screen.print(f"  {one_line(role.description)}")
        for line in role_lines(role):
            screen.print(f"  {one_line(line, 240)}")
    for notice in found.notices:
        screen.print(f"note: {plain(notice)}", style="yellow")
