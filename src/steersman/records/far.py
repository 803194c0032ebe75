"""The addresses of workspaces on other machines: `ssh://HOST/PATH`, `https://HOST:PORT/PATH`."""

import re
from urllib.parse import unquote

from msgspec import Struct

from steersman.records.errors import UsageProblem

SCHEMES = ("ssh://", "https://", "http://")
_NAME = r"[\w.][\w.+-]*"  # what begins with a dash would be an option of ssh
_HOST = re.compile(
    rf"(?P<user>{_NAME}@)?(?:\[(?P<number>[0-9A-Fa-f:]+(?:%\w+)?)\]|(?P<name>{_NAME}))"
    r"(?::(?P<port>[0-9]+))?"
)
NOWHERE = "/dev/null/workspace"  # where nothing is, and nothing can be put


class Far(Struct, frozen=True):
    """An address, taken apart; `host` may have a user before it."""

    host: str
    port: int | None
    path: str
    scheme: str = "ssh"

    @property
    def server(self) -> str:
        """Host and port, as in a URL."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"{name}:{self.port}" if self.port else name


def is_far(workspace: str) -> bool:
    """Whether a workspace is on another machine, or is to be reached as if it were."""
    return workspace.startswith(SCHEMES)


def here(workspace: str) -> str:
    """Where to look on this machine for what a workspace brings: nowhere, if it is not here."""
    return NOWHERE if is_far(workspace) else workspace


def far(address: str) -> Far:
    """An address, taken apart; raises what is wrong with it.

    Not as other addresses: ssh knows hosts by names that people chose, and a folder may be called
    `a#b`.
    """
    scheme, _, rest = address.partition("://")
    if f"{scheme}://" not in SCHEMES:
        raise _wrong(address, "Another machine is reached with ssh or https.")
    place, _, folder = rest.partition("/")
    if ":" in place.rpartition("@")[0] or (scheme != "ssh" and any(sign in rest for sign in "@?#")):
        raise _wrong(address, "A password or token in an address can be read by others.")
    found = _HOST.fullmatch(place)
    if found is None:
        raise _wrong(address, "It names no host.")
    port = int(found["port"]) if found["port"] else None
    if port is not None and not 0 < port < 1 << 16:
        raise _wrong(address, "There is no such port.")
    try:
        path = "/" + unquote(folder, errors="strict").rstrip("/")
    except UnicodeDecodeError:
        raise _wrong(address, "The name of its folder is not UTF-8.") from None
    if path == "/" or re.search(r"[\x00-\x1f\x7f]", path):
        raise _wrong(address, "It names no folder.")
    host = (found["user"] or "") + (found["number"] or found["name"])
    if scheme == "http":
        from steersman.records.addresses import is_here

        if not is_here(host):
            raise _wrong(address, "Without TLS, whoever listens on the way reads your token.")
    if path.startswith("/~/"):
        if scheme != "ssh":
            raise _wrong(address, "A server is asked for a folder by its whole path.")
        path = path[1:]
    return Far(host, port, path, scheme)


def _wrong(address: str, why: str) -> UsageProblem:
    said = re.sub(r"//[^/]*@", "//…@", address)  # perhaps with a password
    said = re.sub(r"(?<=^http)(s?://[^?#]*)[?#].*", r"\1…", said, flags=re.DOTALL)
    said = "".join(letter if letter.isprintable() else "?" for letter in said)
    return UsageProblem(
        f"The workspace {said} cannot be reached.",
        why,
        "Write it as ssh://HOST/PATH or https://HOST:PORT/PATH.",
    )


def refuse_foreign(*, imported: bool) -> None:
    """Raise where only a file says that a thread works on another machine: anyone may write one."""
    if imported:
        raise UsageProblem(
            "This thread came out of a file that names a workspace on another machine.",
            "A file must not make this machine connect to another one.",
            "Start a new thread there: steer --workspace ssh://HOST/PATH",
        )
