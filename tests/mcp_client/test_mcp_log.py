"""What a server says on stderr is kept, and no secret with it."""

import asyncio
import sys
from pathlib import Path

import pytest

from kotef.mcp_client.servers import Server
from kotef.mcp_client.sessions import McpSession, ServerFault
from kotef.redaction import scope
from kotef.runs.secret_sources import hide

KEY = "sk-live-9fJ2mXq7Lw0aVb3TzRk8"
SAYS = """
import os, sys, time
key = os.environ["SERVICE_KEY"]
sys.stderr.write("begin " + key[:9]); sys.stderr.flush()
time.sleep(0.1)
sys.stderr.write(key[9:] + "\\nno such account: " + key + "\\n")
"""


def test_the_key_a_server_was_given_is_not_in_its_log(tmp_path: Path) -> None:
    server = Server(name="shop", command=sys.executable, args=("-c", SAYS), env={"SERVICE_KEY": KEY}, shown="shop")
    log = tmp_path / "logs" / "mcp-shop.log"
    with scope():
        hide(tmp_path, servers=[server], env={})
        with pytest.raises(ServerFault) as fault:
            asyncio.run(McpSession(server, tmp_path, log).open())
    assert log.read_text() == "begin [secret:SERVICE_KEY]\nno such account: [secret:SERVICE_KEY]\n"
    assert str(fault.value).endswith("no such account: [secret:SERVICE_KEY]")
