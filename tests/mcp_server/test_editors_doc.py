"""What docs/editors.md tells people to paste is what kotef takes."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import click
import pytest

from kotef.cli.main import main
from kotef.mcp_server.server import OFFERS
from kotef.runs.progress import State

TEXT = (Path(__file__).parents[2] / "docs" / "editors.md").read_text()
BLOCKS = [json.loads(block) for block in re.findall(r"```json\n(.*?)```", TEXT, re.DOTALL)]
SERVERS = [
    block[key]["kotef"] for block in BLOCKS for key in ("mcpServers", "servers", "context_servers") if key in block
]


def test_there_is_a_block_for_each_editor_and_one_for_studio() -> None:
    assert len(SERVERS) == 4
    [studio] = [block for block in BLOCKS if "graphs" in block]
    module, _, variable = studio["graphs"]["kotef"].partition(":")
    assert (Path(__file__).parents[2] / f"{module.replace('.', '/')}.py").exists()
    assert variable == "graph"


@pytest.mark.parametrize("server", SERVERS)
def test_each_server_is_a_command_line_of_kotef(server: dict[str, Any], tmp_path: Path) -> None:
    assert server["command"] == "kotef"
    name, *rest = [argument.replace("${workspaceFolder}", str(tmp_path)) for argument in server["args"]]
    above = click.Context(
        main, info_name="kotef", **main.context_settings
    )  # click keeps the first help option it makes
    context = main.commands[name].make_context(name, rest, parent=above)
    assert context.invoked_subcommand is None


def test_tools_and_states_are_those_in_force() -> None:
    assert re.findall(r"^\| `(\w+)` \|", TEXT.partition("### Claude")[0], re.MULTILINE) == list(OFFERS)
    row = next(line for line in TEXT.splitlines() if line.startswith("| `run_status`"))
    assert [state for state in get_args(State) if f"`{state}`" in row] == list(get_args(State))
