"""The `kotef agents` command. Heavy imports are in its body."""

import click

from kotef.cli.options import ARRAY, where


@click.command(short_help="List the roles in force and where each comes from.")
@click.option("--trust", is_flag=True, help="Show them as with `kotef run --trust`.")
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
    from kotef.cli.agent_list import agents_command

    agents_command(root, trust=trust, as_json=as_json)
