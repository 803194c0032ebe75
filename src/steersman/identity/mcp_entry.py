"""One entry of a file of MCP servers as it is written there, with the right types or not at all."""

from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from msgspec import UNSET, Struct, UnsetType

from steersman.records.addresses import canonical_host
from steersman.records.mcp_server import UNBOUND, Bounds

USUAL_PORTS = (443, 80)


class Wrong(Exception):
    """What is wrong with an entry, in words that contain none of its values."""


class Signing(Struct, frozen=True, rename="camel"):
    """How to sign in at a server, as an entry says it."""

    client_id: str = ""
    client_secret: str = ""
    private_key: str = ""
    algorithm: str = ""
    scopes: list[str] = []
    grant: str = ""
    issuer: str = ""
    callback_port: int = 0


class Sandboxing(Struct, frozen=True, forbid_unknown_fields=True):
    """What a server may do in its sandbox, as an entry says it."""

    network: bool | list[str] = False
    write: list[str] = []
    read: list[str] = []


class Entry(Struct, frozen=True, rename="camel"):
    """One entry; keys of other programs are passed over."""

    type: str = ""
    command: str = ""
    args: list[str] = []
    env: dict[str, str | int | float | bool] = {}
    cwd: str = ""
    url: str = ""
    headers: dict[str, str | int | float] = {}
    description: str = ""
    disabled: bool = False
    read_only_tools: list[str] = []
    writing_tools: list[str] = []
    timeout: float = 60.0
    idle_timeout: float = 600.0
    code_tools: dict[str, dict[str, Any]] = {}
    oauth: Signing = Signing()
    shared: bool = False
    sandbox: bool | Sandboxing | UnsetType = UNSET

    @property
    def switches_off(self) -> bool:
        """Whether it only says that a server of this name is not to be used, wherever it is."""
        return self.disabled and not self.command and not self.url

    @property
    def only_bounds(self) -> bool:
        """Whether it only says how a server of this name is confined, wherever it is."""
        return self.sandbox is not UNSET and not self.command and not self.url


def bounds_of(entry: Entry, expand: Callable[[str, str], str]) -> Bounds | None:
    """How an entry says that its server is confined; None when it does not."""
    said = entry.sandbox
    if isinstance(said, UnsetType):
        return None
    if isinstance(said, bool):
        return Bounds() if said else UNBOUND
    hosts = [] if isinstance(said.network, bool) else said.network
    return Bounds(
        network=said.network is True,
        hosts=tuple(place for host in hosts for place in _places(host)),
        write=tuple(_path(expand(path, "sandbox.write"), "write") for path in said.write),
        read=tuple(_path(expand(path, "sandbox.read"), "read") for path in said.read),
    )


def _path(text: str, key: str) -> str:
    if not text.strip():
        raise Wrong(f"`sandbox.{key}` should name files or folders")
    return text


def _places(text: str) -> list[str]:
    """A host with its port, or with the usual ones."""
    try:
        parts = urlsplit(f"//{text}")
        host, port = canonical_host(parts.hostname or ""), parts.port
        plain = not (parts.path or parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        host, port, plain = "", None, False
    if not host or not plain:
        raise Wrong("`sandbox.network` should be true, false or a list of hosts, as host:port")
    return [f"{host}:{number}" for number in ((port,) if port else USUAL_PORTS)]
