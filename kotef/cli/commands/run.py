"""`kotef run`: work on a goal or a ticket until it is verified or the attempts are spent."""

import sys
from typing import Any

import click

from kotef.cli.delivery import Delivering, delivered, delivery
from kotef.cli.options import (
    ACCEPT,
    AGENT,
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
    SKILL,
    confinement,
    detail_of,
    detail_options,
    limits,
    where,
)


@click.command(cls=Delivering, epilog=RUN_STATUS)
@click.argument("goal", required=False, default="")
@click.option(
    "--ticket",
    metavar="ID",
    help="Ticket in .sdd/backlog/tickets/open: its number, slug or path; or a spec of spec-kit or Kiro: "
    "FOLDER, or FOLDER#TASK.",
)
@click.option(
    "--ticket-file",
    metavar="FILE",
    help="An issue as Markdown or `gh --json`; - reads standard input. Its commands run only with --trust.",
)
@where
@click.option(
    "--check",
    "checks",
    multiple=True,
    metavar="CMD",
    help="A check command; may be repeated.  [default: ticket, .sdd, detection]",
)
@click.option(
    "--profile",
    type=click.Choice(["strict", "fast", "smoke", "yolo"]),
    default="strict",
    show_default=True,
    help="strict: every detected check. fast: tests and linters, smaller limits. smoke: tests, one attempt. yolo: "
    "every check, five attempts, installs allowed. All judge success the same way.",
)
@limits
@confinement
@CODER
@CODER_ENV
@CODER_FILE
@AGENT
@SKILL
@MODEL
@PLANNER_MODEL
@FALLBACK_MODEL
@BASE_URL
@ALLOW_INSTALL
@click.option(
    "--allow-edits",
    multiple=True,
    metavar="GLOB",
    help="Protected files (tests, their configuration) this run may change.",
)
@click.option(
    "--allow-unverified", is_flag=True, help="Run without any check; ends `unverified`, exit 0, with an issue entry."
)
@click.option("--ignore-dependencies", is_flag=True, help="Start a ticket even if one it depends on is open.")
@click.option("--fresh", is_flag=True, help="Do not show the model what earlier runs here tried.")
@click.option("--no-cache", is_flag=True, help="Judge the state before the run again, ignoring the stored result.")
@click.option(
    "--trust",
    is_flag=True,
    help="Use the settings, roles and prompts in this repository's .sdd.  [setting: trusted]",
)
@click.option("--web", is_flag=True, help="Let the model read public web pages.")
@click.option(
    "--web-search-url", default="", metavar="URL", help="With --web: a SearXNG-compatible server to search with."
)
@click.option(
    "--mcp",
    is_flag=True,
    help="Start the MCP servers of this repository's .sdd/mcp.json and .mcp.json.  [setting: trusted_mcp]",
)
@INTERACTIVE
@ACCEPT
@delivery
@detail_options
@JSON
def run(**options: Any) -> None:
    """Work on GOAL, or on a ticket, until its checks pass or the attempts are spent.

    \b
    Examples:
      kotef run "make tests/test_cart.py pass"
      kotef run --ticket 07
      kotef run --ticket specs/001-cart#T003
      gh issue view 12 --json number,title,body | kotef run --ticket-file - --check "pytest -q"
      kotef run "add a --quiet option" --check "pytest -q" --max-attempts 5
      kotef run --ticket 07 --coder search:10s,aider
      kotef run --ticket 07 --coder 'python my_agent.py {brief}'
      OPENAI_BASE_URL=http://localhost:8080/v1 kotef run --ticket 07 --json
      kotef run --ticket 07 --branch --pr-body body.md
      kotef run -i --ticket 07

    On a terminal, Ctrl-C stops the run after the current step; pressed twice, it stops at once. `kotef watch`
    follows it in another terminal.

    Without GOAL and ticket, the open tickets are listed, including specs of spec-kit and Kiro. Uncommitted work is
    kept: kotef commits only verified work, only with --branch and on a new branch; every attempt is kept as
    .sdd/runs/RUN/visit-N.patch.
    """  # noqa: D301  click reads the backspace character
    from kotef.cli.run_launch import screen_of, show_result, watched
    from kotef.cli.run_setup import ready
    from kotef.runs.start import start

    with delivered(options) as delivery:
        config = ready(options)
        screen = screen_of(config, detail=detail_of(options["quiet"], options["verbose"]))
        result = watched(start, config, screen, as_json=options["as_json"])
        delivery.take(config.root, result)
        show_result(config.root, result, screen, as_json=options["as_json"])
    sys.exit(result.exit_code)
