"""`kotef spec`: a specification drafted with a model, and the gaps of one."""

import sys
from typing import Any, Final

import click

from kotef.cli.options import BASE_URL, JSON, MODEL, where

DRAFT: Final = "draft"
FOUND: Final = 3
"""The exit status if gaps were found."""

EXIT_STATUS: Final = """\b
Exit status:
  0  drafted
  2  usage or configuration error, or no model is configured; nothing was written
  7  the model endpoint is unavailable, or its answers could not be used; nothing was written
"""
LINT_STATUS: Final = """\b
Exit status:
  0  no gap was found
  2  usage or configuration error
  3  gaps were found
"""


class SpecGroup(click.Group):
    """`kotef spec "GOAL"` means `kotef spec draft "GOAL"`; only the name of a command is read as a command."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Insert the name of the command that is meant."""
        if args and args[0] not in (*self.commands, *ctx.help_option_names):
            args = [DRAFT, *args]
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The options of `draft`, the default command; then the commands."""
        named = [param for param in draft.get_params(ctx) if isinstance(param, click.Option)]
        options = [record for param in named if (record := param.get_help_record(ctx))]
        with formatter.section("Options"):
            formatter.write_dl(options)
        self.format_commands(ctx, formatter)


@click.group(
    cls=SpecGroup,
    subcommand_metavar='"GOAL" | lint [OPTIONS]',
    options_metavar="[OPTIONS]",
    epilog=EXIT_STATUS,
)
def spec() -> None:
    """Draft .sdd/project.md, architect.md, best_practices.md and tickets for GOAL, with a model.

    \b
    Examples:
      kotef spec "a command line that converts currencies"
      kotef spec -i "a command line that converts currencies"     it asks you up to five questions first
      kotef spec --dry-run "add an undo command"                  print, write nothing
      kotef spec lint                                             what is missing in the existing tickets

    No file is ever overwritten: next to an existing file the draft becomes NAME.draft.md. Each ticket gets a Definition
    of Done and checks whose programs are installed; what is missing is named. At most three requests go to the model,
    with at most four retries each. Read the draft before you run it: a model wrote it.
    """  # noqa: D301  click reads the backspace character


@spec.command(DRAFT, hidden=True, epilog=EXIT_STATUS)
@click.argument("goal")
@where
@click.option("-i", "--interview", is_flag=True, help="Ask up to five questions first; needs a terminal.")
@click.option("--dry-run", is_flag=True, help="Print the draft and write nothing.")
@click.option("--trust", is_flag=True, help="Use the prompts in this repository's .sdd.")
@MODEL
@BASE_URL
@JSON
def draft(**options: Any) -> None:
    """Draft a specification for GOAL."""
    if options["goal"] in spec.commands:
        raise click.UsageError(f"options of `{options['goal']}` go after its name: `kotef spec lint --root DIR`")
    from kotef.cli.spec_draft import draft_specification, goal_of, print_files, report_draft
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import INTERRUPTED
    from kotef.runs.draft_files import placed, write_placed

    goal = goal_of(options)
    root = workspace_of(options["root"])
    try:
        drafted, price, notices = draft_specification(root, goal, options)
    except KeyboardInterrupt:
        sys.stderr.write("kotef: interrupted; nothing was written\n")
        sys.exit(INTERRUPTED)

    files = placed(root, drafted)
    if options["dry_run"]:
        print_files(files, drafted, price, as_json=options["as_json"])
        return
    write_placed(root, files)
    report_draft(root, files, drafted, notices, price, as_json=options["as_json"])


@spec.command(epilog=LINT_STATUS)
@where
@JSON
def lint(root: str | None, as_json: bool) -> None:
    """List the gaps of the open tickets and specs, with file and line; nothing is run, no model is called.

    \b
    Examples:
      kotef spec lint
      kotef spec lint --json | jq -r '.findings[] | select(.code == "no-check") | .path'

    It finds, among others: no check, a line that no check can prove, a missing or circular dependency, a number used
    twice, an empty ticket, a heading that is almost a known one, a check whose program is missing. Specs of spec-kit
    (specs/*) and Kiro (.kiro/specs/*) are checked as well.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import console, say_json
    from kotef.cli.spec_lint import finding_rows, show_findings
    from kotef.cli.workspace_option import workspace_of
    from kotef.failures.plural import counted
    from kotef.runs.config import config_path, read_config
    from kotef.runs.secret_sources import hide
    from kotef.runs.spec_lint import lint_workspace

    place = workspace_of(root)
    hide(place, read_config(config_path()))
    linted = lint_workspace(place)
    if as_json:
        say_json({"tickets": linted.tickets, "findings": finding_rows(linted.findings)})
    else:
        screen = console()
        show_findings(screen, linted.findings)
        looked = counted(linted.tickets, "open ticket")
        found = counted(len(linted.findings), "finding")
        screen.print(f"{found} in {looked}" if linted.findings else f"{looked}: no gap")
    sys.exit(FOUND if linted.findings else 0)
