"""MCP servers as a person configured them: which program or address, and what may be done there.

Only the record; `identity/mcp_servers.py` reads it from files, `operations/mcp/` uses it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

Transport = Literal["stdio", "http", "sse"]


class Server(Struct, frozen=True, omit_defaults=True):
    """One MCP server.

    `environ` and `headers` may hold secrets and are never shown or logged. `about` is the one line
    a model is told. `reads` and `writes` are patterns of tool names (`get_*`) that say more than
    the server's own hints; `source` is the file the entry stands in. `idle` is after how many
    seconds without use the server is stopped. `code_tools` says which of its tools answer questions
    about code (docs/code-intelligence.md).
    """

    name: str
    transport: Transport
    command: str = ""
    arguments: tuple[str, ...] = ()
    environ: Mapping[str, str] = {}
    cwd: str = ""
    url: str = ""
    headers: Mapping[str, str] = {}
    about: str = ""
    enabled: bool = True
    reads: tuple[str, ...] = ()
    writes: tuple[str, ...] = ()
    source: str = ""
    timeout: float = 60.0
    idle: float = 600.0
    code_tools: Mapping[str, Mapping[str, Any]] = {}

    def __repr__(self) -> str:
        """Without values: an entry may land in a traceback or a log."""
        return f"Server({self.name!r}, {self.transport!r})"
