"""ExUnit: a formatter from kotef, added through an environment variable of the Erlang virtual machine."""

import re
from collections.abc import Mapping
from typing import Final

from kotef.checks.runners.plugin_reports import report_of
from kotef.checks.runners.plugins import copy_of
from kotef.checks.runners.row import REPORT_FOLDER, Runner, RunnerCommand

_FLAGS: Final = (
    "-pa {folder} -ex_unit formatters \"['Elixir.ExUnit.CLIFormatter',kotef_exunit]\" "
    '-eval "catch code:which(kotef_exunit)=:=non_existing andalso '
    "compile:file('{folder}/kotef_exunit',[{{outdir,'{folder}'}}])\""
)
"""The first virtual machine compiles the formatter."""


def exunit_environment(command: RunnerCommand, env: Mapping[str, str]) -> dict[str, str]:
    """Flags for every Erlang virtual machine, in a Mix project."""
    if "mix" not in command.asked.tools and not (command.root / "mix.exs").is_file():
        return {}
    folder = str(copy_of(command.folder, "kotef_exunit.erl"))
    if re.search(r"[\s\"'\\]", folder):
        return {}
    flags = _FLAGS.format(folder=folder)
    return {REPORT_FOLDER: str(command.folder), "ERL_AFLAGS": f"{env.get('ERL_AFLAGS', '')} {flags}".strip()}


EXUNIT: Final = Runner(
    name="ExUnit",
    ids="`path::Module::test name`; for a doctest, its number",
    tools=frozenset({"mix"}),
    environment=exunit_environment,
    closing="exunit",
    report=report_of("exunit"),
    failing_status=lambda status, _: status == 2,  # noqa: PLR2004 - mix test's own
)
