"""How are the options of a command with many of them found?"""

from typing import Final

import click

SECTIONS: Final = {
    "What to do": "ticket ticket_file root checks profile ignore_dependencies fresh one_more last",
    "Who edits": "coder coder_env agent model planner_model fallback_model base_url web web_search_url mcp",
    "Limits (the defaults are those of --profile strict)": (
        "max_attempts max_tokens max_calls max_cost max_time max_call_time max_commands max_written max_steps"
        " max_tool_calls continues context_window reruns probe_time"
    ),
    "What may be touched": "sandbox network reads allow_install allow_edits trust",
    "How it is judged": "probes allow_unverified accept_ambiguous no_cache",
    "What is handed over": "branch commit_hooks pr_body github as_json",
}
"""Heading → names of parameters, in this order; what is in none comes last, as plain options."""


class Sectioned(click.Command):
    """A command whose help has its options under headings."""

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each option once, under the first heading that names it."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = {option.name: row for option in options if (row := option.get_help_record(ctx))}
        for heading, names in SECTIONS.items():
            found = [rows.pop(name) for name in names.split() if name in rows]
            if found:
                with formatter.section(heading):
                    formatter.write_dl(found)
        if rows:
            with formatter.section("Options"):
                formatter.write_dl(list(rows.values()))
