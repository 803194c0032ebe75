"""MCP servers: found in configurations, started when used, called through the gate."""
