"""MCP servers as a person configured them: which program or address, and what may be done there.

Only the record; `identity/mcp_servers.py` reads it from files, `operations/mcp/` uses it.
"""

from collections.abc import Mapping
from typing import Any, Literal

from msgspec import Struct

Transport = Literal["stdio", "http", "sse"]
Grant = Literal["authorization_code", "client_credentials"]


class OAuth(Struct, frozen=True, omit_defaults=True):
    """How to sign in at a server that wants it, as far as it is not found out.

    `client_id` is one that was registered beforehand, or the address of a document about the
    client. `issuer` is whom the client was registered with; the secret goes to nobody else.
    """

    client_id: str = ""
    client_secret: str = ""
    private_key: str = ""
    algorithm: str = ""
    scopes: tuple[str, ...] = ()
    grant: Grant = "authorization_code"
    issuer: str = ""
    port: int = 0

    def __repr__(self) -> str:
        """Without values, as below."""
        return f"OAuth({self.grant!r})"


class Bounds(Struct, frozen=True, omit_defaults=True):
    """How far a server is confined: by default it reads the workspace and reaches nobody.

    `hosts` are those it may reach, as `host:port`; with `network` it may reach any, this machine
    too. `write` and `read` are files and folders, relative ones below the workspace.
    """

    sandbox: bool = True
    network: bool = False
    hosts: tuple[str, ...] = ()
    write: tuple[str, ...] = ()
    read: tuple[str, ...] = ()

    @property
    def grants(self) -> tuple[str, ...]:
        """What it may do beyond the default, for a person to read."""
        if not self.sandbox:
            return ("runs outside the sandbox",)
        named = {"reaches": self.hosts, "changes": self.write, "reads": self.read}
        any_host = ("reaches any host",) if self.network else ()
        return any_host + tuple(f"{verb} {', '.join(of)}" for verb, of in named.items() if of)


UNBOUND = Bounds(sandbox=False)


class Server(Struct, frozen=True, omit_defaults=True):
    """One MCP server.

    `environ`, `headers` and `oauth` may hold secrets and are never shown or logged. `about` is the
    one line a model gets. `reads` and `writes` are patterns of tool names (`get_*`) that say
    more than the server's own hints; `source` is the file the entry is in. `idle` is after how
    many seconds without use the server is stopped. `code_tools` says which of its tools answer
    questions about code (docs/code-intelligence.md). `shared` when the server keeps nothing of its
    clients, so that one serves all threads of a workspace. `bounds` says how far it is confined;
    without them one of a folder is, and a user's own is not. `variables` are the names
    of those that its entry is filled in with, `host` is whom it reaches, without their values.
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
    oauth: OAuth = OAuth()
    shared: bool = False
    bounds: Bounds | None = None
    variables: tuple[str, ...] = ()
    host: str = ""

    def __repr__(self) -> str:
        """Without values: an entry may land in a traceback or a log."""
        return f"Server({self.name!r}, {self.transport!r})"
