"""`kotef check`: the checks run and judged, without a model and without edits."""

import sys
from typing import Any

import click

from kotef.cli.help_sections import Sectioned
from kotef.cli.options import JSON, confinement, where

CHECK_STATUS = """\b
Exit status:
  0  green: every required check passes, and nothing that ran before is missing or skipped
  2  usage error, or a run is at work here
  3  red
  5  no check found, a check that could not run, or no sandbox where one is required
  130  interrupted
"""


@click.command(cls=Sectioned, epilog=CHECK_STATUS)
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="A check command; may be repeated.  [default: .sdd, pyproject, detection]",
)
@click.option(
    "--against",
    metavar="REF",
    help="Compare with this commit.  [default: HEAD, if something is uncommitted]",
)
@click.option("--no-compare", "compare", flag_value=False, default=True, help="Judge only the current state.")
@click.option(
    "--reruns",
    type=click.IntRange(0, 10),
    default=1,
    show_default=True,
    metavar="N",
    help="How often to rerun an unexpected failure on its own; 0: never.",
)
@click.option(
    "--probes",
    type=click.Choice(["off", "fast", "full"]),
    default="fast",
    show_default=True,
    envvar="KOTEF_PROBES",
    show_envvar=True,
    help="With --against: whether to test in a copy that passing checks can still fail.",
)
@click.option(
    "--github/--no-github",
    default=None,
    help="Also print annotations for GitHub Actions.  [default: on in GitHub Actions]",
)
@confinement
@where
@JSON
def check(**options: Any) -> None:
    """Run the project's checks and judge them as `kotef run` would; no model is called and no file is edited.

    \b
    Examples:
      kotef check
      kotef check --check "pytest -q" --check "ruff check ." --json
      kotef check --against origin/main --github

    A report, an exit status and a summary line that contradict each other are red. With a commit to compare with, the
    checks run there first, in a copy that only they see; what failed there already does not excuse a failure now. With
    --against, checks that pass are tested in a copy: the result is red if a wrong expected value passes a test.
    """  # noqa: D301  click reads the backspace character
    from contextlib import nullcontext

    from kotef.cli.annotations import deaf, in_actions, in_checkout
    from kotef.cli.check_report import annotations, running_line, show_inspection
    from kotef.cli.screen import say, say_json
    from kotef.cli.workspace_check import inspect_workspace
    from kotef.cli.workspace_option import workspace_of
    from kotef.errors import INTERRUPTED, UsageError
    from kotef.runs.garbage_collection import loaded

    loaded()
    if options["as_json"] and options["github"]:
        raise UsageError("--json and --github cannot be combined", hint="use one of them")
    github = not options["as_json"] and (in_actions() if options["github"] is None else options["github"])

    try:
        with running_line() as show_running:
            found = inspect_workspace(options, show_running)
    except KeyboardInterrupt:
        sys.stderr.write("kotef: interrupted; nothing was changed\n")
        sys.exit(INTERRUPTED)

    if options["as_json"]:
        say_json(found)
        sys.exit(found.exit_code)
    with deaf() if github else nullcontext():
        show_inspection(found)
    if github:
        say("".join(f"{line}\n" for line in annotations(found, in_checkout(workspace_of(options["root"])))))
    sys.exit(found.exit_code)
