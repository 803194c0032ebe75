"""The MCP server: the tools of a workspace for any other agent, through the same gate."""
