"""The command group `kotef` and its commands. Heavy imports are in their bodies."""

import os
import re
from typing import Any, Final, NoReturn

import click

from kotef import __version__
from kotef.cli.lazy_group import LazyCommands, LazyGroup

WANTS_JSON: Final = "kotef.json"


class Main(LazyGroup):
    """Turns our errors, and the system's about a file, into one line and an exit status; a defect shows a traceback."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Remember whether JSON was requested, because an error may come before the command reads its options."""
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
                message = f"{_problem(error)} (see `{where} --help`)"
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
    """The problem with the command line; for a number, also the valid range."""
    if not isinstance(error, click.BadParameter) or error.param is None:
        return error.format_message()
    given, kind = re.match(r"'?(.*?)'? is not ", error.message), error.param.type
    if given is None or not isinstance(kind, click.types.IntParamType | click.types.FloatParamType):
        return error.format_message()
    wanted = "a whole number" if isinstance(kind, click.types.IntParamType) else "a number"
    wanted += f" of {error.param.metavar.lower()}" if error.param.metavar in {"SECONDS", "DAYS"} else ""
    if isinstance(kind, click.IntRange | click.FloatRange):
        wanted += _range(kind)
    return f"{error.param.opts[0]} {given[1]}: expected {wanted}"


def _range(kind: click.IntRange | click.FloatRange) -> str:
    """` from 1 to 20`, ` of at least 1` or ` above 0`: every range here has a lower end."""
    if kind.max is not None:
        return f" from {kind.min:g} to {kind.max:g}"
    return f" above {kind.min:g}" if kind.min_open else f" of at least {kind.min:g}"


def _fail(ctx: click.Context, message: str, reason: str, status: int) -> NoReturn:
    """Print one line on stderr and, if JSON was requested, one object on stdout; then exit."""
    from kotef.cli.annotations import unheard
    from kotef.cli.screen import complain, plain, say_json

    complain(unheard(f"kotef: error: {plain(message)}"))
    if ctx.meta[WANTS_JSON]:
        say_json({"error": message, "reason": reason, "exitCode": status})
    ctx.exit(status)


@click.group(
    cls=Main,
    commands=LazyCommands(),
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


if __name__ == "__main__":
    main()
