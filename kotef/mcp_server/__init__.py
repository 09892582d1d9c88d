"""The MCP server: kotef as a tool for editors and other agents."""
