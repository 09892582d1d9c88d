"""Delivery of a run's result: a branch, the text of a pull request, outputs for a CI job."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from kotef.cli.help_sections import Sectioned

if TYPE_CHECKING:
    from kotef.errors import KotefError
    from kotef.runs.result import Result

F = TypeVar("F", bound=Callable[..., Any])


def delivery(command: F) -> F:
    """The options for delivering a result; shared by `run` and `resume`."""
    options = (
        click.option(
            "--branch",
            metavar="[=NAME]",
            help="Commit verified work on a new branch; HEAD, index and files stay.  [default name: kotef/TICKET-SLUG]",
        ),
        click.option(
            "--commit-hooks",
            is_flag=True,
            help="With --branch: run the repository's pre-commit and commit-msg hooks on that commit.",
        ),
        click.option(
            "--pr-body",
            type=click.Path(dir_okay=False),
            metavar="FILE",
            help="Write the body of a pull request to this file, whatever the outcome.",
        ),
        click.option(
            "--github/--no-github",
            default=None,
            help="Annotations, step summary and outputs of GitHub Actions.  [default: on in GitHub Actions]",
        ),
    )
    for option in reversed(options):
        command = option(command)
    return command


class Delivering(Sectioned):
    """A command with these options, which also reports its usage errors to a CI job."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; a name for `--branch` must be in the same word: the next word may be the goal."""
        from kotef.cli.annotations import in_actions

        end = args.index("--") if "--" in args else len(args)
        own = args[:end]
        try:
            if taken := next((arg for arg in own if arg.startswith("--branch=-")), ""):
                raise click.BadOptionUsage("--branch", f"{taken}: not a valid branch name", ctx)
            named = ["--branch=." if arg == "--branch" else arg for arg in own]
            return super().parse_args(ctx, [*named, *args[end:]])
        except click.UsageError as found:
            error = found
            if "--branch" in own and "extra argument" in found.message:
                error = click.UsageError(f"{found.message}: give the branch name as --branch=NAME", found.ctx)
            if in_actions() and "--no-github" not in own:
                from kotef.errors import UsageError

                _tell_error(UsageError(error.format_message()), annotated="--json" not in own)
            raise error from None


@dataclass
class Delivery:
    """Receives the result of one run, if there is one."""

    root: Path | None = None
    result: "Result | None" = None

    def take(self, root: Path, result: "Result") -> None:
        """Keep the result of the run."""
        self.root, self.result = root, result


@contextmanager
def delivered(options: dict[str, Any]) -> Iterator[Delivery]:
    """Keep GitHub from reading commands in the output of the run; then deliver its result."""
    from kotef.cli.annotations import deaf, in_actions
    from kotef.errors import KotefError, UsageError

    if options["github"] and options["as_json"]:
        raise UsageError("--json and --github cannot be combined", hint="use one of them")
    github = in_actions() if options["github"] is None else options["github"]
    body: Path | None = None
    taken = Delivery()
    try:
        if options["commit_hooks"] and not options["branch"]:
            raise UsageError("--commit-hooks: only with --branch")
        body = _writable(options["pr_body"])
        with deaf() if github and not options["as_json"] else nullcontext():
            yield taken
    except KotefError as error:
        if github:
            _tell_error(error, annotated=not options["as_json"])
        raise
    finally:
        if taken.result is not None and taken.root is not None:
            if body:
                _write(body, taken.result)
            _warn(taken.result)
            if github:
                from kotef.cli.github import tell_result

                tell_result(taken.root, taken.result, annotated=not options["as_json"])


def _tell_error(error: "KotefError", *, annotated: bool) -> None:
    from kotef.cli.github import tell_error

    tell_error(error, annotated=annotated)


def _writable(path: str | None) -> Path | None:
    """Path for the text; the UsageError comes before the run, because afterwards the text would be lost."""
    from kotef.cli.outputs import must_be_plain
    from kotef.errors import UsageError

    if path is None:
        return None
    if path == "-":
        raise UsageError("--pr-body -: standard output already shows the run", hint="name a file")
    file = Path(path).absolute()
    must_be_plain("--pr-body", file)
    if not file.parent.is_dir():
        raise UsageError(f"--pr-body {path}: the folder {file.parent} does not exist", hint="create it first")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise UsageError(f"--pr-body {path}: it cannot be written", hint="choose another place")
    return file


def _write(path: Path, result: "Result") -> None:
    from kotef.errors import WorkspaceError
    from kotef.files import write_atomic
    from kotef.report import pull_request_text

    try:
        write_atomic(path, pull_request_text(result).encode())
    except (OSError, WorkspaceError) as error:
        _say(f"--pr-body was not written: {error}")


def _warn(result: "Result") -> None:
    """Warn about a branch that was requested but not made."""
    if result.branch and result.branch.refused:
        _say(f"no branch {result.branch.name}: {result.branch.refused}; the verified work is in the workspace")


def _say(text: str) -> None:
    from kotef.cli.annotations import unheard
    from kotef.cli.screen import complain, plain

    complain(unheard(f"kotef: warning: {' '.join(plain(text).split())}"))
