"""Table of the commands: each is in the module of its name, which is imported when the command is started."""

from importlib import import_module
from typing import Final

import click

COMMANDS: Final = {
    "demo": "Show how runs end, on example repositories; needs no key.",
    "doctor": "Check what a run needs here: git, checks, endpoint.",
    "init": "Write a .sdd/ skeleton with the checks found here.",
    "run": "Work on a goal or a ticket until it is verified or the attempts are spent.",
    "check": "Run the checks and judge the result; no model, no edits.",
    "resume": "Continue a run that was killed, interrupted or out of budget.",
    "watch": "Follow a run in another process.",
    "show": "Show the report of a run, by default the newest.",
    "diff": "Show what an attempt of a run changed.",
    "report": "Export the report of a run as HTML, Markdown, JSON, SARIF or JUnit.",
    "undo": "Restore the state before a run.",
    "apply": "Apply the files of an attempt.",
    "runs": "List the runs of this workspace, oldest first, with how each ended.",
    "issues": "List, show and resolve the entries of runs that did not succeed.",
    "agents": "List the roles in force and where each comes from.",
    "classify": "Explain the output of a failed command.",
    "coders": "List the agents that --coder knows by name.",
    "completion": "Print the completion script of a shell.",
    "config": "Show the settings in effect, and where each comes from.",
    "graph": "Print the graph of a run as a Mermaid diagram.",
    "help": "Explain a command, or a topic: environment, files, exit-statuses.",
    "mcp": "Serve editors over MCP; check the servers a run may use.",
    "prompt": "Show what is sent to a model, with token counts.",
    "rejudge": "Judge the stored outputs of a run by the current rules.",
    "replay": "Replay a run from its record, without a key.",
    "schema": "Print the JSON schema of result.json.",
    "skills": "List the skills a model may use here, and where each comes from.",
    "spec": "Draft a specification and tickets with a model; `spec lint` finds their gaps.",
    "stats": "Show statistics of all runs: how they end, and what goes wrong.",
    "tools": "List the tools that a model can use.",
}
"""Name → what `kotef --help` says of it, in the order of its groups."""


def command_of(name: str) -> click.Command:
    """The command of this name, from its module."""
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    return next(each for each in vars(module).values() if isinstance(each, click.Command) and each.name == name)
