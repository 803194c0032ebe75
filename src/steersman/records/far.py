"""The addresses of workspaces on other machines: `ssh://HOST/PATH`, `https://HOST:PORT/PATH`."""

from urllib.parse import unquote, urlsplit

from msgspec import Struct

from steersman.records.errors import UsageProblem

SCHEMES = ("ssh://", "https://", "http://")
NOWHERE = "/dev/null/workspace"  # where nothing is, and nothing can be put


class Far(Struct, frozen=True):
    """An address, taken apart; `host` may have a user before it."""

    scheme: str
    host: str
    port: int | None
    path: str


def is_far(workspace: str) -> bool:
    """Whether a workspace is on another machine, or is to be reached as if it were."""
    return workspace.startswith(SCHEMES)


def here(workspace: str) -> str:
    """Where to look on this machine for what a workspace brings: nowhere, if it is not here."""
    return NOWHERE if is_far(workspace) else workspace


def far(address: str) -> Far:
    """An address, taken apart; raises what is wrong with it."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    try:
        port = parts.port
    except ValueError:
        raise _wrong(address, "Its port is not a number.") from None
    name = parts.hostname or ""
    host = f"{parts.username}@{name}" if parts.username else name
    if not name or host.startswith("-") or any(letter.isspace() for letter in host):
        raise _wrong(address, "It names no host.")
    if path in ("", "/") or "\0" in path:
        raise _wrong(address, "It names no folder.")
    if parts.password is not None:
        raise _wrong(address, "A password in an address can be read by others.")
    if parts.scheme == "http" and name not in ("localhost", "127.0.0.1", "::1"):
        raise _wrong(address, "Without TLS, only this machine is reached.")
    if path.startswith("/~/"):
        path = path[1:]
    return Far(parts.scheme, host, port, path.rstrip("/"))


def _wrong(address: str, why: str) -> UsageProblem:
    return UsageProblem(
        f"The workspace {address} cannot be reached.", why,
        "Write it as ssh://HOST/PATH or https://HOST:PORT/PATH.",
    )  # fmt: skip
