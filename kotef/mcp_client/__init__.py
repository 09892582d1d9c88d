"""The tools of MCP servers that a person has configured."""

from typing import TYPE_CHECKING

from kotef.lazy_exports import lazy_exports

if TYPE_CHECKING:
    from kotef.mcp_client.servers import NOT_INSTALLED, Server, named_servers, parse_servers, server_of
    from kotef.mcp_client.sessions import McpSession, ServerFault, Servers, tool_name
else:
    __getattr__ = lazy_exports(
        __name__,
        {
            "servers": "NOT_INSTALLED Server named_servers parse_servers server_of",
            "sessions": "McpSession ServerFault Servers tool_name",
        },
    )

__all__ = [
    "NOT_INSTALLED",
    "McpSession",
    "Server",
    "ServerFault",
    "Servers",
    "named_servers",
    "parse_servers",
    "server_of",
    "tool_name",
]
