"""`kotef init`: a .sdd/ skeleton with the checks found here."""

import os

import click

from kotef.cli.options import where


@click.command()
@where
def init(root: str | None) -> None:
    """Write a .sdd/ skeleton with the checks found here; a file that exists is left as it is.

    \b
    Examples:
      kotef init
      kotef init --root ~/shop
    """  # noqa: D301  click reads the backspace character
    from kotef.checks.detect import collect_checks
    from kotef.cli.screen import console, plain
    from kotef.cli.workspace_option import workspace_of
    from kotef.runs.check_trial import sandbox_to_look, tried
    from kotef.sandbox import child_environment
    from kotef.sdd.skeleton import TEMPLATE, write_skeleton
    from kotef.sdd.spec import read_spec

    place = workspace_of(root)
    checks = collect_checks(place, options=(), ticket=(), architect=read_spec(place).checks)
    # without a sandbox programs are looked for, and none is started
    sandbox, starts = sandbox_to_look(place)
    trial = tried(checks, root=place, env=child_environment(os.environ), sandbox=sandbox, start=starts)
    absent = [each.check.command for each in trial.left_out]
    done = write_skeleton(place, [check.command for check in trial.checks], not_installed=absent)

    screen = console()
    for path in done.written:
        screen.print(f"wrote {path}")
    for path in done.kept:
        screen.print(f"kept  {path} (it exists)")
    found = ", ".join(f"`{check.command}`" for check in trial.checks) or "none; name them in .sdd/architect.md"
    screen.print(f"checks: {found}")
    if TEMPLATE in done.written:
        screen.print(f'next: `kotef run "GOAL"`, or copy {TEMPLATE} to tickets/open/01-NAME.md for a ticket')
    for each in trial.left_out:
        screen.print(f"note: {plain(each.sentence)}; it is written as a comment", style="yellow", soft_wrap=True)
