"""Help of commands with many options: `-h` on one screen, `--help` with every option under a heading."""

import inspect
import re
import textwrap
from typing import Any, Final

import click

SECTIONS: Final = {
    "Task": "ticket ticket_file root checks against compare profile ignore_dependencies fresh one_more last",
    "Who edits": (
        "coder coder_env coder_files agent skills model planner_model fallback_model base_url web web_search_url mcp"
    ),
    "Limits (the defaults are those of --profile strict)": (
        "max_attempts max_tokens max_calls max_cost max_time max_call_time max_commands max_written max_steps"
        " max_tool_calls continues context_window reruns probe_time"
    ),
    "Permissions": "sandbox network reads allow_install allow_edits trust",
    "Judging": "probes allow_unverified accept_ambiguous no_cache",
    "Outputs": "branch commit_hooks pr_body github as_json",
    "Display": "quiet verbose",
}
"""Heading → names of parameters, in this order; all others come last, as plain options."""


COMMON: Final = {
    "ticket": "a ticket of .sdd/backlog, by number, slug or path",
    "last": "the newest run",
    "one_more": "allow one more attempt",
    "checks": "a check command; may be repeated",
    "against": "compare with this commit",
    "coder": "who edits: fixers, search, model, an agent",
    "model": "the model of the coder",
    "max_attempts": "failed verifications allowed [3]",
    "max_time": "total wall time [3600]",
    "profile": "strict, fast, smoke or yolo [strict]",
    "branch": "commit verified work on a new branch",
    "interactive": "ask before the first edit",
    "as_json": "print one JSON object",
    "network": "let commands use the network",
    "reads": "let commands read a path outside the workspace",
    "root": "the workspace",
}
"""Parameter → its text in `-h`, in this order; at most `SHOWN` are shown."""
SHOWN: Final = 10
EXAMPLES: Final = 4


def short_help(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    """Print the most common options of a command on one screen, and exit."""
    if value and not ctx.resilient_parsing:
        click.echo("\n".join(_short_lines(ctx)))
        ctx.exit()


def _short_lines(ctx: click.Context) -> list[str]:
    command = ctx.command
    text = inspect.cleandoc(command.help or "")
    sentence = " ".join(text.split("\n\n")[0].split())
    examples = re.findall(r"^ {2,}(\S.*)$", text.partition("Examples:\n")[2].partition("\n\n")[0], re.MULTILINE)
    width = max(len(_flag(option)) for option in _common(command))
    return [
        command.get_usage(ctx),
        "",
        *textwrap.wrap(sentence, 80),
        "",
        "Examples:",
        *(f"  {example}" for example in examples[:EXAMPLES]),
        "",
        "Options:",
        *(f"  {_flag(option):<{width}}  {_meaning(command, option)}" for option in _common(command)),
        "",
        *textwrap.wrap(f"Exit status: {', '.join(_statuses(command))}.", 80),
        f"`{ctx.command_path} --help` has every option.",
    ]


def _common(command: click.Command) -> list[click.Option]:
    """The options that `-h` shows."""
    options = {option.name: option for option in command.params if isinstance(option, click.Option)}
    return [options[name] for name in COMMON if name in options][:SHOWN]


def _meaning(command: click.Command, option: click.Option) -> str:
    """The text of `-h` for the option; defaults are those of a profile."""
    text = COMMON[str(option.name)]
    has_profile = any(param.name == "profile" for param in command.params)
    return text if has_profile else text.partition(" [")[0]


def _flag(option: click.Option) -> str:
    """The option as it is typed."""
    names = ", ".join(sorted(option.opts, key=len))
    metavar = option.metavar or (str(option.name).upper() if isinstance(option.type, click.Choice) else "TEXT")
    joiner = "" if metavar.startswith("[") else " "
    return names if option.is_flag else f"{names}{joiner}{metavar}"


def _statuses(command: click.Command) -> list[str]:
    """Each exit status with the first words of its meaning."""
    rows = re.findall(r"^ {2}(\d+(?:, \d+)*) {2}(\S.*)$", command.epilog or "", re.MULTILINE)
    return [f"{number.replace(', ', '/')} {_gist(words)}" for number, words in rows]


def _gist(words: str) -> str:
    """The first noun of a sentence."""
    first = re.split(r"[(:;,]| (?:in|is|are|error|by) ", f"{words} ")[0]
    return re.sub(r"^(?:a|the) | error$", "", first.strip())


class Sectioned(click.Command):
    """A command whose help has its options under headings, and whose `-h` fits on one screen."""

    def get_help_option_names(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  as click calls it
        """The options that show the full help."""
        return ["--help"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """The parameters, and `-h`."""
        short: Any = click.Option(
            ["-h"],
            is_flag=True,
            is_eager=True,
            expose_value=False,
            callback=short_help,
            help="Show the most common options.",
        )
        return [*super().get_params(ctx), short]

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Each option once, under the first heading that names it."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rows = {option.name: row for option in options if (row := option.get_help_record(ctx))}
        has_profile = "profile" in rows
        for heading, names in SECTIONS.items():
            found = [rows.pop(name) for name in names.split() if name in rows]
            if found:
                with formatter.section(heading if has_profile else heading.partition(" (")[0]):
                    formatter.write_dl(found)
        if rows:
            with formatter.section("Options"):
                formatter.write_dl(list(rows.values()))
