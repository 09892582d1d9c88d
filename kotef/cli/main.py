"""Which commands does kotef have? Nothing heavy is imported before one of them runs."""

import sys
from typing import Any

import click

from kotef import __version__
from kotef.cli.attempts import apply, diff, undo
from kotef.cli.issues import issues
from kotef.cli.options import JSON, F, where

EXIT_STATUS = """\b
Exit status:
  0  verified (or unverified, only with --allow-unverified)
  1  a defect in kotef itself
  2  usage or configuration error, or the workspace is busy; nothing was run
  3  the attempts are spent, or the run was stuck
  4  a budget is spent: tokens, calls, money or time
  5  the environment is broken: no check found, checks cannot run, disk full
  6  blocked: a decision only a person can take
  7  the model endpoint is unavailable
  130, 143  interrupted by SIGINT, SIGTERM
A run that began and was not verified leaves one entry in .sdd/issues.md.
"""


class Main(click.Group):
    """Turns an error of ours into one line and its exit status; everything else is a defect and shows itself."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command named."""
        from kotef.errors import KotefError

        try:
            return super().invoke(ctx)
        except KotefError as error:
            click.echo(f"kotef: error: {error}", err=True)
            ctx.exit(error.exit_code)
        except click.UsageError as error:
            where = error.ctx.command_path if error.ctx else "kotef"
            click.echo(f"kotef: error: {error.format_message()} (`{where} --help` tells what there is)", err=True)
            ctx.exit(error.exit_code)


@click.group(
    cls=Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `kotef demo`, then `kotef doctor` in a repository of yours.",
)
@click.version_option(__version__, prog_name="kotef", message="%(prog)s %(version)s")
def main() -> None:
    """A coding agent that can be trusted to stop.

    kotef works on a goal or a ticket until the project's own checks prove it, or until its attempts are spent; then it
    says why, in one outcome, one exit status, one result file and, unless it succeeded, one entry in .sdd/issues.md.
    """


def limits(command: F) -> F:
    """The options that bound a run; shared by `run` and `resume`."""
    options = (
        click.option(
            "--max-attempts", type=click.IntRange(1, 20), metavar="N", help="Failed verifications allowed; strict: 3."
        ),
        click.option(
            "--max-tokens", type=click.IntRange(1), metavar="N", help="Tokens, in plus out; strict: 2,000,000."
        ),
        click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Model calls; strict: 300."),
        click.option(
            "--max-cost",
            type=click.FloatRange(0, min_open=True),
            metavar="X",
            help="Money; needs [prices] in the user's config.",
        ),
        click.option(
            "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Wall time; strict: 3600."
        ),
        click.option(
            "--reruns",
            type=click.IntRange(0, 10),
            metavar="N",
            help="How often an unexpected failure is run again, alone; strict: 1, 0 never.",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


MODEL = click.option("--model", envvar="KOTEF_MODEL", show_envvar=True, help="Model of the coder.")
PLANNER_MODEL = click.option(
    "--planner-model",
    envvar="KOTEF_PLANNER_MODEL",
    show_envvar=True,
    help="Model of the planner.  [default: as the coder]",
)
BASE_URL = click.option(
    "--base-url",
    envvar="OPENAI_BASE_URL",
    show_envvar=True,
    help="OpenAI-compatible endpoint; a local server needs no key.",
)
CODER = click.option(
    "--coder",
    envvar="KOTEF_CODER",
    show_envvar=True,
    metavar="CHAIN",
    help="Who edits, in order.  [default: fixers,search:10s,model; without a model: fixers,search]",
)
ACCEPT = click.option(
    "--accept-ambiguous", is_flag=True, help="Keep a searched edit although others that pass disagree with it."
)


@main.command(
    epilog=EXIT_STATUS, short_help="Work on a goal or a ticket until it is verified or the attempts are spent."
)
@click.argument("goal", required=False, default="")
@click.option("--ticket", metavar="ID", help="Ticket in .sdd/backlog/tickets/open: its number, slug or path.")
@where
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="A command that judges; may be repeated.  [default: ticket, .sdd, detection]",
)
@click.option(
    "--profile",
    type=click.Choice(["strict", "fast", "smoke", "yolo"]),
    default="strict",
    show_default=True,
    help="Which detected checks, which limits.",
)
@limits
@CODER
@MODEL
@PLANNER_MODEL
@BASE_URL
@click.option(
    "--allow-edits",
    multiple=True,
    metavar="GLOB",
    help="Protected files (tests, their configuration) this run may change.",
)
@click.option(
    "--allow-unverified", is_flag=True, help="Work without any check; ends `unverified`, exit 0, with an entry."
)
@click.option("--ignore-dependencies", is_flag=True, help="Start a ticket although one it depends on is open.")
@click.option("--fresh", is_flag=True, help="Tell the model nothing of what earlier runs here tried.")
@click.option("--no-cache", is_flag=True, help="Judge the state before the run anew, and forget what is kept of it.")
@click.option("--trust", is_flag=True, help="Let the prompts in this repository's .sdd/prompts take effect.")
@ACCEPT
@JSON
def run(**options: Any) -> None:
    """Work on GOAL, or on a ticket, until its checks pass or the attempts are spent.

    \b
    Examples:
      kotef run "make tests/test_cart.py pass"
      kotef run --ticket 07
      kotef run "add a --quiet option" --check "pytest -q" --max-attempts 5
      OPENAI_BASE_URL=http://localhost:8080/v1 kotef run --ticket 07 --json

    With neither GOAL nor --ticket the open tickets are listed. Uncommitted work is kept: kotef commits nothing, and
    every attempt is kept as .sdd/runs/RUN/visit-N.patch.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.running import run_command

    sys.exit(run_command(options))


@main.command(epilog=EXIT_STATUS, short_help="Go on with a run that was killed, interrupted or out of budget.")
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--last", is_flag=True, help="The newest run of this workspace.")
@where
@limits
@CODER
@MODEL
@PLANNER_MODEL
@BASE_URL
@ACCEPT
@JSON
def resume(**options: Any) -> None:
    """Go on with a run that was killed or interrupted, or that a larger limit can help.

    \b
    Examples:
      kotef resume --last
      kotef resume 20260131-101500-3fa2 --max-attempts 5

    Attempts and budgets go on from where they were.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.running import resume_command

    sys.exit(resume_command(options))


@main.command()
@where
@JSON
def runs(root: str | None, as_json: bool) -> None:
    """List the runs of this workspace, oldest first."""
    from kotef.cli.reading import runs_command

    runs_command(root, as_json=as_json)


@main.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@JSON
def show(run_id: str | None, root: str | None, as_json: bool) -> None:
    """Show the report of RUN (default: the newest)."""
    from kotef.cli.reading import show_command

    show_command(run_id, root, as_json=as_json)


for command in (diff, apply, undo, issues):
    main.add_command(command)


CHECK_STATUS = """\b
Exit status:
  0  green: every required check passes, and nothing that ran before is missing or skipped
  2  usage error, or a run is at work here
  3  red
  5  no check found, or one could not do its work
  130  interrupted
"""


@main.command(epilog=CHECK_STATUS, short_help="Run the checks and judge; no model, no edits.")
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="A command that judges; may be repeated.  [default: .sdd, pyproject, detection]",
)
@click.option(
    "--against",
    metavar="REF",
    help="Compare with this commit.  [default: HEAD, where something is uncommitted]",
)
@click.option("--no-compare", "compare", flag_value=False, default=True, help="Judge the state now alone.")
@click.option(
    "--reruns",
    type=click.IntRange(0, 10),
    default=1,
    show_default=True,
    metavar="N",
    help="How often an unexpected failure is run again, alone; 0 never.",
)
@click.option("--github", is_flag=True, help="Also print annotations for GitHub Actions.")
@where
@JSON
def check(**options: Any) -> None:
    """Run the project's checks and judge them as `kotef run` would; no model is asked and no file is edited.

    \b
    Examples:
      kotef check
      kotef check --check "pytest -q" --check "ruff check ." --json
      kotef check --against origin/main --github

    A report, an exit status and a closing line that contradict each other are red. With a commit to compare with, the
    checks run there first, in a copy that only they see; what failed there already does not excuse a failure now.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.checking import check_command

    sys.exit(check_command(options))


@main.command(short_help="Say what the output of a failed command means.")
@click.argument("file", default="-", type=click.Path(dir_okay=False, allow_dash=True))
@click.option("--command", default="", metavar="CMD", help="The command that printed it; makes the answer surer.")
@click.option("--exit-code", type=int, metavar="N", help="Its exit status; -N for signal N.  [default: not known]")
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
    from kotef.cli.classifying import classify_command

    classify_command(file, command, exit_code, as_json=as_json)


@main.command(short_help="Write a .sdd/ skeleton with the checks found here.")
@where
def init(root: str | None) -> None:
    """Write a .sdd/ skeleton with the checks found here. Never overwrites a file."""
    from kotef.cli.reading import init_command

    init_command(root)


@main.command(short_help="Show both endings on example repositories; needs no key.")
@click.option("--keep", type=click.Path(file_okay=False), metavar="DIR", help="Leave both workspaces in DIR.")
def demo(keep: str | None) -> None:
    """Show both endings on two small example repositories; no key, no model, no network.

    One task is fixed by a search, one cannot be done by any honest edit and ends with its entry in .sdd/issues.md. The
    graph, git, pytest and every file are real. Exit status 0 when both ended as they must, 1 when not.
    """
    from kotef.cli.demo import demo_command

    sys.exit(demo_command(keep))


@main.command(short_help="Tell what a run needs here: git, checks, endpoint.")
@where
@MODEL
@BASE_URL
def doctor(root: str | None, model: str | None, base_url: str | None) -> None:
    """Check what a run needs here: git, the checks, the endpoint; say what to do. Exit status 0, or 5."""
    from kotef.cli.doctor import doctor_command

    sys.exit(doctor_command(root, model=model, base_url=base_url))


@main.command()
def graph() -> None:
    """Print the graph of a run as Mermaid."""
    from kotef.graph import build_graph

    click.echo(build_graph().get_graph().draw_mermaid())


@main.command(short_help="Print the JSON schema of result.json.")
@click.argument("name", type=click.Choice(["result"]))
def schema(name: str) -> None:  # noqa: ARG001  there is one schema yet
    """Print a JSON schema: `kotef schema result` is that of result.json."""
    import json

    from kotef.runs.result import schema as result_schema

    click.echo(json.dumps(result_schema(), indent=2))


if __name__ == "__main__":
    main()
