"""Limits on what the tools of one run may reach beyond the workspace."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kotef.tools.tool import Feature, ToolSpec

if TYPE_CHECKING:
    from kotef.mcp_client import Servers
    from kotef.web import Web


@dataclass(frozen=True, slots=True)
class Outside:
    """The web and the MCP servers that a person allowed; empty by default."""

    web: "Web | None" = None
    servers: "Servers | None" = None

    @property
    def features(self) -> tuple[Feature, ...]:
        """The features of this run, for the registry."""
        had: dict[Feature, object] = {
            "mcp": self.servers,
            "web": self.web,
            "web_search": self.web and self.web.search_url,
        }
        return tuple(feature for feature, service in had.items() if service)

    async def rows(self) -> list[ToolSpec]:
        """The tools of the MCP servers, which are started by the first call."""
        return await self.servers.rows() if self.servers else []

    async def aclose(self) -> None:
        """End what was started."""
        if self.servers:
            await self.servers.aclose()
