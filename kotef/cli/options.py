"""Options that several commands share."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from kotef.cli.screen import Detail

F = TypeVar("F", bound=Callable[..., Any])


def _of_group(ctx: click.Context, _: click.Parameter, value: str | None) -> str | None:
    """The named workspace, also if the option precedes the name of a subcommand."""
    return value if value is not None or ctx.parent is None else ctx.parent.params.get("root")


def where(command: F) -> F:
    """The option that says which workspace is meant."""
    return click.option(
        "--root",
        type=click.Path(file_okay=False),
        callback=_of_group,
        help="The workspace.  [default: the git top level, else the current directory]",
    )(command)


ARRAY: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON array on stdout and nothing else.")
JSON: Final = click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout and nothing else.")


LIMITS: Final = (
    click.option(
        "--max-attempts", type=click.IntRange(1, 20), metavar="N", help="Failed verifications allowed; strict: 3."
    ),
    click.option(
        "--max-tokens", type=click.IntRange(1), metavar="N", help="Input plus output tokens; strict: 2,000,000."
    ),
    click.option("--max-calls", type=click.IntRange(1), metavar="N", help="Model calls; strict: 300."),
    click.option(
        "--max-cost",
        type=click.FloatRange(0, min_open=True),
        metavar="X",
        help="Total cost; needs [prices] in the user's config.",
    ),
    click.option(
        "--max-time", type=click.FloatRange(0, min_open=True), metavar="SECONDS", help="Wall time; strict: 3600."
    ),
    click.option(
        "--max-call-time",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Wall time of one model answer; strict: 900.",
    ),
    click.option(
        "--max-commands",
        type=click.IntRange(1),
        metavar="N",
        help="Commands that the coder runs, plus checks; strict: 500.",
    ),
    click.option(
        "--max-written",
        type=click.IntRange(1),
        metavar="BYTES",
        help="Bytes the coder may write, not counting ignored files; strict: 200,000,000.",
    ),
    click.option(
        "--reruns",
        type=click.IntRange(0, 10),
        metavar="N",
        help="How often to rerun an unexpected failure on its own; strict: 1, 0: never.",
    ),
    click.option(
        "--probes",
        type=click.Choice(["off", "fast", "full"]),
        envvar="KOTEF_PROBES",
        show_envvar=True,
        help="How thoroughly to test, after the checks pass, that they can still fail; strict: full.",
    ),
    click.option(
        "--probe-time",
        type=click.FloatRange(0, min_open=True),
        metavar="SECONDS",
        help="Time for all probes of a green result; at least three times that of the checks; strict: 60.",
    ),
    click.option(
        "--max-steps", type=click.IntRange(1, 200), metavar="N", help="Model calls of one attempt; strict: 200."
    ),
    click.option(
        "--max-tool-calls",
        type=click.IntRange(1, 100),
        metavar="N",
        help="Tool calls of one attempt before the model must summarise; strict: 100.",
    ),
    click.option(
        "--context-window",
        type=click.IntRange(512),
        metavar="TOKENS",
        help="Context window of the coder's model, in tokens.  [default: as reported by the server, else 32,768; "
        "setting: models.NAME.window]",
    ),
    click.option(
        "--continues",
        type=click.IntRange(0, 2),
        metavar="N",
        help="How often an attempt may continue after its summary, with as many calls again; strict: 2.",
    ),
)
"""The options that bound a run, in the order of its help."""


def limits(command: F) -> F:
    """The options that bound a run; shared by `run` and `resume`."""
    for option in reversed(LIMITS):
        command = option(command)
    return command


READS = click.option(
    "--read",
    "reads",
    multiple=True,
    metavar="PATH",
    help="A file or folder that may be read although the sandbox hides it; may be repeated.  [setting: sandbox.read]",
)


def confinement(command: F) -> F:
    """The options that say what commands may touch; shared by all that run the project's commands."""
    options = (
        click.option(
            "--sandbox",
            type=click.Choice(["auto", "bwrap", "landlock", "strict", "off"]),
            envvar="KOTEF_SANDBOX",
            show_envvar=True,
            help="Sandbox for commands; `kotef doctor --sandbox` tests each level.  "
            "[default: auto; setting: sandbox.level]",
        ),
        click.option("--network", is_flag=True, help="Let commands use the network.  [setting: sandbox.network]"),
        READS,
    )
    for option in reversed(options):
        command = option(command)
    return command


def detail_options(command: F) -> F:
    """The options that say how much of a run is shown."""
    quiet = click.option("--quiet", "-q", is_flag=True, help="Show only checks, attempts and the result.")
    verbose = click.option("--verbose", "-v", is_flag=True, help="Show everything: every word, call, edit and failure.")
    return quiet(verbose(command))


def detail_of(quiet: bool, verbose: bool) -> "Detail":
    """How much is shown; UsageError for both at once."""
    if quiet and verbose:
        raise click.UsageError("--quiet and --verbose cannot be combined")
    if quiet:
        return "quiet"
    return "full" if verbose else "usual"


ALLOW_INSTALL = click.option(
    "--allow-install",
    is_flag=True,
    help="Let the coder's commands change installed environments (.venv, node_modules), which are otherwise read-only.",
)
MODEL = click.option("--model", envvar="KOTEF_MODEL", show_envvar=True, help="Model of the coder.  [setting: model]")
PLANNER_MODEL = click.option(
    "--planner-model",
    envvar="KOTEF_PLANNER_MODEL",
    show_envvar=True,
    help="Model of the planner.  [default: the coder's]",
)
FALLBACK_MODEL = click.option(
    "--fallback-model",
    envvar="KOTEF_FALLBACK_MODEL",
    show_envvar=True,
    help="Model of the same endpoint that takes over when the first still fails after all retries.  "
    "[setting: fallback_model]",
)
AGENT = click.option(
    "--agent", default="coder", metavar="NAME", help="Role of the coder; see `kotef agents`.  [default: coder]"
)
SKILL = click.option(
    "--skill",
    "skills",
    multiple=True,
    metavar="NAME",
    help="A skill that the coder gets whole; see `kotef skills`. May be repeated.",
)
BASE_URL = click.option(
    "--base-url",
    envvar="OPENAI_BASE_URL",
    show_envvar=True,
    help="OpenAI-compatible endpoint; a local server needs no key.  [setting: base_url]",
)
CODER = click.option(
    "--coder",
    envvar="KOTEF_CODER",
    show_envvar=True,
    metavar="CHAIN",
    help="Who edits, in order: fixers makes mechanical edits, search tries small ones, model asks a model; anything "
    "else is an agent: a name from `kotef coders`, or a command line with {brief}. Seconds of a search are CPU time.  "
    "[default: fixers,search:10s,model; without a model: fixers,search]",
)
CODER_ENV = click.option(
    "--coder-env",
    multiple=True,
    metavar="NAME",
    help="An environment variable that an agent of --coder gets; may be repeated.",
)
CODER_FILE = click.option(
    "--coder-file",
    "coder_files",
    multiple=True,
    metavar="PATH",
    help="A login or settings file that an agent of --coder may read, at the same place in its home; may be repeated.",
)
ACCEPT = click.option(
    "--accept-ambiguous",
    is_flag=True,
    help="Keep an edit found by search even if other passing edits disagree with it.",
)
INTERACTIVE = click.option(
    "--interactive/--no-interactive",
    "-i",
    default=None,
    help="Ask at the terminal before the first edit (approve the plan, edit it or quit) and before commands that the "
    "policy does not allow on its own. A resumed run asks if the original did.",
)


def which_run(command: F) -> F:
    """The argument and options that choose a run."""
    argument = click.argument("run_id", metavar="[RUN]", required=False)
    return argument(click.option("--last", is_flag=True, help="The newest run of this workspace.")(command))


FORCE: Final = click.option(
    "--force", is_flag=True, help="Also replace files that someone else changed; copies are kept first."
)
ATTEMPT: Final = click.IntRange(1)
TREE_STATUS: Final = """\b
Exit status:
  0  done, or there was nothing to do
  2  refused, and nothing was touched: no such run or attempt, a run is at work here, or
     someone else changed a file that would be replaced
  5  a file could not be written
"""
"""Exit statuses of `apply` and `undo`."""
RUN_STATUS: Final = """\b
Exit status:
  0  verified (or unverified, only with --allow-unverified)
  1  a defect in kotef itself
  2  usage or configuration error, or the workspace is busy; nothing was run
  3  the attempts are spent, or the run was stuck
  4  a budget is spent: tokens, calls, commands, money or time
  5  the environment is broken: no check found, checks cannot run, no sandbox in CI, disk full
  6  blocked: a decision that only a person can make
  7  the model endpoint is unavailable
  129, 130, 143  interrupted by SIGHUP, SIGINT, SIGTERM
A run that began and was not verified leaves one entry in .sdd/issues.md.
A setting is a key of your config.toml: see `kotef help files`, and `kotef help environment` for variables.
"""
"""Exit statuses of `run` and `resume`."""
