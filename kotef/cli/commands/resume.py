"""`kotef resume`: continue a run that was killed, interrupted or out of budget."""

import sys
from typing import Any

import click

from kotef.cli.delivery import Delivering, delivered, delivery
from kotef.cli.options import (
    ACCEPT,
    ALLOW_INSTALL,
    BASE_URL,
    CODER,
    CODER_ENV,
    CODER_FILE,
    FALLBACK_MODEL,
    INTERACTIVE,
    JSON,
    MODEL,
    PLANNER_MODEL,
    RUN_STATUS,
    confinement,
    detail_of,
    detail_options,
    limits,
    where,
)


@click.command(cls=Delivering, epilog=RUN_STATUS)
@click.argument("run_id", metavar="[RUN]", required=False)
@click.option("--last", is_flag=True, help="The newest run of this workspace.")
@where
@limits
@confinement
@CODER
@CODER_ENV
@CODER_FILE
@MODEL
@PLANNER_MODEL
@FALLBACK_MODEL
@BASE_URL
@click.option(
    "--from",
    "from_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Continue a run that `kotef runs export` packed, here or elsewhere.",
)
@click.option("--fingerprint", metavar="SHA256", help="With --from: refuse FILE if it has another fingerprint.")
@click.option(
    "--continue",
    "one_more",
    is_flag=True,
    help="Allow one more attempt after the last hit its step or tool-call limit, starting from the files it left.",
)
@ALLOW_INSTALL
@INTERACTIVE
@ACCEPT
@delivery
@detail_options
@JSON
def resume(**options: Any) -> None:
    """Continue a run that was killed or interrupted, or that a larger limit can help.

    \b
    Examples:
      kotef resume --last
      kotef resume 20260131-101500-3fa2 --max-attempts 5
      kotef resume --last --continue
      kotef resume --from run.kotef

    Attempts and budgets continue from where they were; an open question is asked again.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_launch import screen_of, show_result, watched
    from kotef.cli.run_setup import ready_again
    from kotef.runs.start import resume as go_on

    with delivered(options) as delivery:
        config = ready_again(options)
        screen = screen_of(config, detail=detail_of(options["quiet"], options["verbose"]))
        result = watched(go_on, config, screen, as_json=options["as_json"])
        delivery.take(config.root, result)
        show_result(config.root, result, screen, as_json=options["as_json"])
    sys.exit(result.exit_code)
