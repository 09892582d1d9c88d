"""The commands that judge without editing. Heavy imports are in their bodies."""

import sys
from typing import Any

import click

from kotef.cli.help_sections import Sectioned
from kotef.cli.options import JSON, confinement, where
from kotef.runs.garbage_collection import loaded

CHECK_STATUS = """\b
Exit status:
  0  green: every required check passes, and nothing that ran before is missing or skipped
  2  usage error, or a run is at work here
  3  red
  5  no check found, one could not do its work, or no sandbox where there has to be one
  130  interrupted
"""


@click.command(cls=Sectioned, epilog=CHECK_STATUS, short_help="Run the checks and judge; no model, no edits.")
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
    help="How often to rerun an unexpected failure alone; 0: never.",
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
    from kotef.cli.check_report import check_command

    loaded()

    sys.exit(check_command(options))


@click.command(short_help="Say what the output of a failed command means.")
@click.argument("file", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option(
    "--command", default="", metavar="CMD", help="The command that printed it; makes the answer more certain."
)
@click.option("--exit-code", type=int, metavar="N", help="Its exit status; -N for signal N.  [default: unknown]")
@JSON
def classify(file: str, command: str, exit_code: int | None, as_json: bool) -> None:
    """Say what the output in FILE, or on standard input, means: kind, summary, fingerprint.

    \b
    Examples:
      pytest -q 2>&1 | kotef classify --command "pytest -q"
      kotef classify --command "make test" --exit-code 2 --json build.log

    Reads output of any length and any bytes; runs nothing and calls no model. Without --exit-code the text alone
    decides. Exit status 0 whatever it means; 2 when FILE cannot be read.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.classify_report import classify_command

    classify_command(file, command, exit_code, as_json=as_json)
