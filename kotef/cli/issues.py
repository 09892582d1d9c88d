"""The `kotef issues` commands: list, show and settle entries of the issue log. Heavy imports are in their bodies."""

from typing import Any

import click

from kotef.cli.options import ARRAY, JSON, where

STATE = click.option(
    "--state", type=click.Choice(["open", "resolved", "all"]), default="all", show_default=True, help="Which entries."
)
SARIF = click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), help="How to print them.")
ISSUE = click.argument("issue", metavar="ID")
NEWEST = click.argument("issue", metavar="[ID]", required=False)


@click.group(invoke_without_command=True, short_help="List, show and resolve the runs that did not succeed.")
@where
@STATE
@SARIF
@ARRAY
@click.pass_context
def issues(ctx: click.Context, root: str | None, state: str, form: str | None, as_json: bool) -> None:
    """List, show and resolve the entries of .sdd/issues.md: runs that did not succeed, and what to do about each.

    \b
    Examples:
      kotef issues                                  all entries, as `kotef issues list`
      kotef issues list --state open --json
      kotef issues list --format sarif > kotef.sarif
      kotef issues show 20260131-101500-3fa2
      kotef issues show 20260131 --format github | gh issue create --title "kotef stopped" --body-file -
      kotef issues resolve 20260131-101500-3fa2

    ID is the run of the entry, or a run that ended the same, or a unique beginning of either. A verified run resolves
    the entries of its ticket (or goal) by itself; one that fails in the same way again reopens its entry.
    """  # noqa: D301  click reads the backspace character
    if ctx.invoked_subcommand is None:
        ctx.invoke(list_issues, root=root, state=state, form=form, as_json=as_json)
    elif form or as_json or state != "all":
        raise click.UsageError("put the options of a subcommand after its name", ctx)
    ctx.obj = root


@issues.command("list", short_help="List the entries, oldest first.")
@where
@STATE
@SARIF
@ARRAY
@click.pass_context
def list_issues(ctx: click.Context, root: str | None, state: str, form: str | None, as_json: bool) -> None:
    """List the entries, oldest first; SARIF 2.1.0 has one result for each, resolved ones as passed.

    \b
    Examples:
      kotef issues list --state open
      kotef issues list --json | jq -r '.[] | select(.state == "open") | .runId'
      kotef issues list --state open --format sarif > kotef.sarif
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import list_command

    list_command(root or ctx.obj, state=state, form=_format(form, as_json=as_json))


@issues.command("show", short_help="Show one entry.")
@NEWEST
@where
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), help="How to print it.")
@JSON
@click.pass_context
def show_issue(ctx: click.Context, issue: str | None, root: str | None, form: str | None, as_json: bool) -> None:
    """Show one entry, by default the newest; as `github` it is the Markdown body of an issue there.

    \b
    Examples:
      kotef issues show
      kotef issues show 20260131 --json
      kotef issues show 20260131 --format github | gh issue create --title "kotef stopped" --body-file -
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import show_command

    show_command(issue, root or ctx.obj, form=_format(form, as_json=as_json))


@issues.command("resolve", short_help="Mark an entry as resolved.")
@ISSUE
@where
@JSON
@click.pass_context
def resolve_issue(ctx: click.Context, issue: str, root: str | None, as_json: bool) -> None:
    """Mark an entry as resolved; a run that fails in the same way again reopens it.

    \b
    Examples:
      kotef issues resolve 20260131-101500-3fa2
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import mark_command

    mark_command(issue, root or ctx.obj, state="resolved", as_json=as_json)


@issues.command("reopen", short_help="Reopen an entry.")
@ISSUE
@where
@JSON
@click.pass_context
def reopen_issue(ctx: click.Context, issue: str, root: str | None, as_json: bool) -> None:
    """Reopen an entry.

    \b
    Examples:
      kotef issues reopen 20260131-101500-3fa2
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import mark_command

    mark_command(issue, root or ctx.obj, state="open", as_json=as_json)


def _format(form: str | None, *, as_json: bool) -> Any:
    """One of the names of `--format`; `--json` is short for one of them."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} exclude each other", click.get_current_context())
    return "json" if as_json else form or "text"
