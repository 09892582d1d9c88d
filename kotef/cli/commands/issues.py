"""`kotef issues`: the entries of the issue log, listed, shown and settled."""

import sys
from typing import TYPE_CHECKING, Any

import click

from kotef.cli.options import ARRAY, JSON, where

if TYPE_CHECKING:
    from kotef.sdd.issue import State

STATE = click.option(
    "--state", type=click.Choice(["open", "resolved", "all"]), default="all", show_default=True, help="Which entries."
)
SARIF = click.option("--format", "form", type=click.Choice(["text", "json", "sarif"]), help="How to print them.")
ISSUE = click.argument("issue", metavar="ID")
NEWEST = click.argument("issue", metavar="[ID]", required=False)


@click.group(invoke_without_command=True)
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

    ID is the run of the entry, or a run that ended in the same way, or a unique prefix of either. A verified run
    resolves the entries of its ticket (or goal) automatically; one that fails in the same way again reopens its entry.
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
    """List the entries, oldest first; SARIF 2.1.0 has one result for each, with resolved entries as passed.

    \b
    Examples:
      kotef issues list --state open
      kotef issues list --json | jq -r '.[] | select(.state == "open") | .runId'
      kotef issues list --state open --format sarif > kotef.sarif
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import show_entries, stored
    from kotef.cli.screen import say_json, warn
    from kotef.cli.workspace_option import workspace_of
    from kotef.sdd.export import to_sarif
    from kotef.sdd.issue_log import issues_path, read_issues

    form = _format(form, as_json=as_json)
    place = workspace_of(root or ctx.obj)
    log = read_issues(issues_path(place))
    entries = [entry for entry in log.entries if state in ("all", entry.state)]
    if form == "text":
        show_entries(place, log, entries, state=state)
        return
    say_json([stored(entry) for entry in entries] if form == "json" else to_sarif(entries))
    for problem in log.problems:
        warn(str(problem))


@issues.command("show", short_help="Show one entry.")
@NEWEST
@where
@click.option("--format", "form", type=click.Choice(["text", "json", "github"]), help="How to print it.")
@JSON
@click.pass_context
def show_issue(ctx: click.Context, issue: str | None, root: str | None, form: str | None, as_json: bool) -> None:
    """Show one entry, by default the newest; `--format github` prints the Markdown body of a GitHub issue.

    \b
    Examples:
      kotef issues show
      kotef issues show 20260131 --json
      kotef issues show 20260131 --format github | gh issue create --title "kotef stopped" --body-file -
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.issue_entries import show_text, stored, without_entries
    from kotef.cli.screen import say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import UsageError
    from kotef.sdd.export import to_github
    from kotef.sdd.issue_log import find_entry, issues_path, read_issues, written_text

    form = _format(form, as_json=as_json)
    place = workspace_of(root or ctx.obj)
    path = issues_path(place)
    log = read_issues(path)
    if not (issue or log.entries):
        raise UsageError(without_entries(place), hint="`kotef runs` lists all runs")
    entry = find_entry(log, issue) if issue else log.entries[-1]
    match form:
        case "json":
            say_json(stored(entry))
        case "github":
            sys.stdout.write(to_github(entry))
        case _:
            show_text(written_text(path, entry.run_id))


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
    _mark(issue, root or ctx.obj, state="resolved", as_json=as_json)


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
    _mark(issue, root or ctx.obj, state="open", as_json=as_json)


def _mark(wanted: str, root: str | None, *, state: "State", as_json: bool) -> None:
    from kotef.cli.issue_entries import stored
    from kotef.cli.screen import console, say_json
    from kotef.cli.workspace_option import workspace_of
    from kotef.sdd.export import title
    from kotef.sdd.issue_log import find_entry, issues_path, mark, read_issues, timestamp

    path = issues_path(workspace_of(root))
    found = find_entry(read_issues(path), wanted)
    entry = mark(path, found.run_id, state, date=timestamp())
    if as_json:
        say_json(stored(entry))
        return
    result = f"was {state} already" if found.state == state else f"is {state}"
    console().print(f"issue {entry.run_id} {result}: {title(entry)}")


def _format(form: str | None, *, as_json: bool) -> Any:
    """One of the names of `--format`; `--json` is short for one of them."""
    if as_json and form not in (None, "json"):
        raise click.UsageError(f"--json and --format {form} cannot be combined", click.get_current_context())
    return "json" if as_json else form or "text"
