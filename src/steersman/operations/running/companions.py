"""Programs that work beside the host and talk with it: MCP servers, language servers, checkers.

They are started by the same nursery as commands, so none outlives the host, whatever ends it. A
companion is confined when it is given a profile, and then sees the workspace to be read only.
"""
