"""`kotef doctor`: what a run needs here, and what to do about each gap."""

import sys

import click
from click.core import ParameterSource

from kotef.cli.options import BASE_URL, MODEL, where


@click.command()
@where
@MODEL
@BASE_URL
@click.option("--sandbox", is_flag=True, help="Try each sandbox level, and show what a command can do in it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object on stdout.")
def doctor(root: str | None, model: str | None, base_url: str | None, sandbox: bool, as_json: bool) -> None:
    """Check what a run needs here: git, the checks, the endpoint, the sandbox; say how to fix each gap.

    \b
    Examples:
      kotef doctor
      kotef doctor --base-url http://localhost:8080/v1
      kotef doctor --model qwen3-coder
      kotef doctor --sandbox

    Each check's program is asked for its version, in the sandbox; no check is run. With --model the model is asked two
    short questions (a few hundred tokens) to find out which requests it supports; without it no tokens are spent. Exit
    status 0, or 5 if something is missing.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.workspace_option import workspace_of

    place = workspace_of(root)
    if sandbox:
        from kotef.cli.sandbox_doctor import report_levels

        sys.exit(report_levels(place, as_json=as_json))

    from kotef.cli.doctor_findings import examine, show_report
    from kotef.cli.screen import say_json

    named = click.get_current_context().get_parameter_source("model") is ParameterSource.COMMANDLINE
    report = examine(place, model=model, base_url=base_url, ask=named)
    if as_json:
        say_json(report)
    else:
        show_report(report)
    sys.exit(report.exit_code)
