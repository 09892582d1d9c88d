"""The command group `kotef` and its commands. Heavy imports are in their bodies."""

import os
import re
import sys
from typing import Any, Final, NoReturn

import click

from kotef import __version__
from kotef.cli.agents import agents
from kotef.cli.attempts import apply, diff, undo
from kotef.cli.check_commands import check, classify
from kotef.cli.coders import coders
from kotef.cli.completion import completion, offer
from kotef.cli.help_sections import Grouped
from kotef.cli.help_topics import helps
from kotef.cli.issues import issues
from kotef.cli.mcp import mcp
from kotef.cli.options import ARRAY, BASE_URL, JSON, MODEL, where
from kotef.cli.overview_commands import config, stats
from kotef.cli.prompt import prompt
from kotef.cli.replay_commands import rejudge, replay
from kotef.cli.run_commands import resume, run
from kotef.cli.skills import skills
from kotef.cli.spec import spec
from kotef.cli.tools import tools
from kotef.cli.watch_command import watch

WANTS_JSON: Final = "kotef.json"


class Main(Grouped):
    """Turns our errors, and the system's about a file, into one line and an exit status; a defect shows a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether JSON is asked for: an error is found before the command knows it, or while it works."""
        ctx.meta[WANTS_JSON] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command named."""
        from kotef.errors import INTERRUPTED, KotefError
        from kotef.files import os_fault
        from kotef.redaction import redactor, scope

        with scope():
            try:
                return super().invoke(ctx)
            except KotefError as error:
                _fail(ctx, redactor().text(str(error)), reason_of(error), error.exit_code)
            except click.UsageError as error:
                where = error.ctx.command_path if error.ctx else "kotef"
                message = f"{_problem(error)} (`{where} --help` lists what exists)"
                _fail(ctx, redactor().text(message), "usage", error.exit_code)
            except OSError as error:
                if error.filename is None:  # of no file: nothing that a person could correct
                    raise
                fault = os_fault(os.fsdecode(error.filename), error)
                _fail(ctx, redactor().text(str(fault)), reason_of(fault), fault.exit_code)
            except KeyboardInterrupt:
                click.echo("kotef: interrupted", err=True)
                ctx.exit(INTERRUPTED)


def reason_of(error: Exception) -> str:
    """The machine word for an error of ours: `NoSpaceError` is `no_space`."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", type(error).__name__.removesuffix("Error")).lower()


def _problem(error: click.UsageError) -> str:
    """What is wrong with the command line; of a number, which ones there are."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        return error.format_message()
    given, kind = re.match(r"'?(.*?)'? is not ", error.message), error.param.type
    if given is None or not isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return error.format_message()
    wanted = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
    wanted += f" of {error.param.metavar.lower()}" if error.param.metavar in {"SECONDS", "DAYS"} else ""
    if isinstance(kind, click.IntRange | click.FloatRange):
        wanted += f" above {kind.min:g}" if kind.min_open else f" from {kind.min:g}"
        wanted += f" to {kind.max:g}" if kind.max is not None else "" if kind.min_open else " on"
    return f"{error.param.opts[0]} {given[1]}: {wanted} is wanted"


def _fail(ctx: click.Context, message: str, reason: str, status: int) -> NoReturn:
    """One line on stderr and, where JSON is asked for, one object on stdout; then the end."""
    from kotef.cli.annotations import unheard
    from kotef.cli.screen import plain, say_json

    click.echo(unheard(f"kotef: error: {plain(message)}"), err=True)
    if ctx.meta[WANTS_JSON]:
        say_json({"error": message, "reason": reason, "exitCode": status})
    ctx.exit(status)


@click.group(
    cls=Main,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with `kotef demo`, then `kotef doctor` in your own repository. `kotef help environment`, `kotef "
    "help files` and `kotef help exit-statuses` apply to all commands.",
)
@click.version_option(__version__, prog_name="kotef", message="%(prog)s %(version)s")
def main() -> None:
    """A coding agent that can be trusted to stop.

    kotef works on a goal or a ticket until the project's own checks prove it, or until its attempts are spent; then it
    says why, in one outcome, one exit status, one result file and, unless it succeeded, one entry in .sdd/issues.md.
    """


@main.group(invoke_without_command=True)
@where
@ARRAY
@click.pass_context
def runs(ctx: click.Context, root: str | None, as_json: bool) -> None:
    """List the runs of this workspace, oldest first, with how each ended.

    \b
    Examples:
      kotef runs
      kotef runs --json | jq -r '.[] | select(.resume) | .resume'
      kotef runs prune --dry-run
      kotef runs export --last run.kotef
    """  # noqa: D301  click reads the backspace character
    if ctx.invoked_subcommand is None:
        from kotef.cli.run_list import runs_command

        runs_command(root, as_json=as_json)


@runs.command(short_help="Delete old runs and the data only they need.")
@where
@click.option("--keep", type=click.IntRange(0), metavar="N", help="Number of newest runs to keep.  [default: 20]")
@click.option(
    "--older-than",
    type=click.FloatRange(0, min_open=True),
    metavar="DAYS",
    help="Delete only runs older than this; --keep then defaults to 0.",
)
@click.option("--resumable", is_flag=True, help="Also delete runs that can be resumed.")
@click.option("--dry-run", is_flag=True, help="Only show what would be deleted.")
@JSON
def prune(**options: Any) -> None:
    """Delete old runs with their checkpoints, the snapshots only they need, old outputs and baselines.

    Runs that can be resumed are kept unless --resumable is given. Issue entries and everything in git are kept.

    \b
    Examples:
      kotef runs prune --dry-run
      kotef runs prune --keep 5
      kotef runs prune --older-than 30 --resumable
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.prune_report import prune_command

    prune_command(options)


@runs.command(short_help="Pack a run with its state into one file.")
@click.argument("words", metavar="[RUN] FILE", nargs=-1)
@click.option("--last", is_flag=True, help="The newest run of this workspace.")
@where
@JSON
def export(**options: Any) -> None:
    """Pack RUN with its record, checkpoints and snapshots into FILE, to resume it in another clone or machine.

    The workspace is packed as it is now, without the files that git ignores. The printed fingerprint covers the whole
    content of FILE.

    \b
    Examples:
      kotef runs export --last run.kotef
      kotef runs export 20260131-101500-3fa2 /mnt/artifacts/run.kotef
      kotef resume --from run.kotef
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_export import export_command

    export_command(options)


@main.command()
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@JSON
def show(run_id: str | None, root: str | None, as_json: bool) -> None:
    """Show the report of RUN (default: the newest); with --json its result.json.

    \b
    Examples:
      kotef show
      kotef show 20260131-101500-3fa2 --json | jq -r .outcome
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_list import show_command

    show_command(run_id, root, as_json=as_json)


@main.command(short_help="Report a run as a page, Markdown, JSON, SARIF or JUnit.")
@click.argument("run_id", metavar="[RUN]", required=False)
@where
@click.option(
    "--format",
    "form",
    type=click.Choice(["md", "html", "json", "sarif", "junit"]),
    help="Report format.  [default: md]",
)
@click.option(
    "--output", "-o", type=click.Path(dir_okay=False), metavar="FILE", help="Write to this file.  [default: stdout]"
)
@click.option("--open", "show", is_flag=True, help="Rewrite the run's report.html, and open it in a browser.")
def report(run_id: str | None, root: str | None, form: str | None, output: str | None, show: bool) -> None:
    """Report RUN (default: the newest) in a format of your choice, from its directory alone.

    The HTML report is one file that needs nothing else: timeline, tests by attempt, diffs, logs, guards.

    \b
    Examples:
      kotef report --open
      kotef report --format json
      kotef report 20260131-101500-3fa2 -o report.md
      kotef report --format sarif -o kotef.sarif
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.report_output import report_command

    report_command(run_id, root, form=form, output=output, show=show)


@main.command(short_help="Write a .sdd/ skeleton with the checks found here.")
@where
def init(root: str | None) -> None:
    """Write a .sdd/ skeleton with the checks found here; a file that exists is left as it is.

    \b
    Examples:
      kotef init
      kotef init --root ~/shop
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_list import init_command

    init_command(root)


@main.command(short_help="Show how runs end, on example repositories; needs no key.")
@click.option(
    "--case", type=click.Choice(["solved", "impossible", "cheat", "deaf"]), help="Show only this one.  [default: all]"
)
@click.option("--keep", type=click.Path(file_okay=False), metavar="DIR", help="Keep the workspaces in DIR.")
@click.option("--open", "show", is_flag=True, help="Keep them, and open the report of each in a browser.")
def demo(case: str | None, keep: str | None, show: bool) -> None:
    """Show four outcomes on small example repositories; no key, no model, no network.

    \b
    Examples:
      kotef demo
      kotef demo --case cheat --keep /tmp/cheat

    One task is fixed by a search. One cannot be done by any honest edit and ends with its entry in .sdd/issues.md. In
    the last two a script plays a model: it deletes the failing test, which is put back and judged; it returns an object
    that is equal to everything, which a wrong expected value in its test reveals. The graph, git, pytest and every file
    are real. Exit status 0 if all end as expected, else 1.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.demo import demo_command

    sys.exit(demo_command(keep, case, show=show))


@main.command(short_help="Check what a run needs here: git, checks, endpoint.")
@where
@MODEL
@BASE_URL
@click.option("--sandbox", is_flag=True, help="Try each sandbox level, and show what a command can do in it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def doctor(root: str | None, model: str | None, base_url: str | None, sandbox: bool, as_json: bool) -> None:
    """Check what a run needs here: git, the checks, the endpoint, the sandbox; say what to do about each.

    \b
    Examples:
      kotef doctor
      kotef doctor --base-url http://localhost:8080/v1
      kotef doctor --sandbox

    The program of each check is started for its version, in the sandbox; no check is run and no tokens are spent. Exit
    status 0, or 5 where something is missing.
    """  # noqa: D301  click reads the backspace character
    if sandbox:
        from kotef.cli.sandbox_doctor import sandbox_command

        sys.exit(sandbox_command(root, as_json=as_json))
    from kotef.cli.doctor import doctor_command

    sys.exit(doctor_command(root, model=model, base_url=base_url, as_json=as_json))


@main.command()
def graph() -> None:
    """Print the graph of a run as Mermaid: which node works after which.

    \b
    Examples:
      kotef graph > loop.mmd
    """  # noqa: D301  click reads the backspace character
    from kotef.graph import build_graph

    click.echo(build_graph().get_graph().draw_mermaid())


@main.command(short_help="Print the JSON schema of result.json.")
@click.argument("name", type=click.Choice(["result"]))
def schema(name: str) -> None:  # noqa: ARG001  there is one schema yet
    """Print a JSON schema: `result` describes result.json and the output of `kotef run --json`.

    \b
    Examples:
      kotef schema result > result.schema.json
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.screen import say_json
    from kotef.runs.result import schema as result_schema

    say_json(result_schema())


for command in (
    *(run, resume, watch, replay, rejudge),
    *(check, classify, diff, apply, undo, issues, stats),
    *(spec, agents, coders, skills, tools, prompt, mcp),
    *(config, completion, helps),
):
    main.add_command(command)
offer(main)


if __name__ == "__main__":
    main()
