"""Serving over HTTP: only to whoever has the token, only under the names it is known by.

A page in a browser can send requests to this machine too; the token, and the check of the `Host`
and `Origin` a request names, keep it out.
"""

import asyncio
import hmac
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from typing import Any

import uvicorn
from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

from steersman.records.errors import UsageProblem

PATH = "/mcp"
DEFAULT_PORT = 8921
GRACE = 2  # seconds that answers under way have at the end

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class Guarded:
    """An application that answers only requests which show the token."""

    def __init__(self, app: App, token: str) -> None:
        self._app = app
        self._expected = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it with 401."""
        if scope["type"] != "http" or self._shown(scope):
            await self._app(scope, receive, send)
            return
        words = b'{"error":"unauthorized","error_description":"A bearer token is needed."}'
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(words)).encode()),
            (b"www-authenticate", b'Bearer realm="steersman"'),
        ]
        await send({"type": "http.response.start", "status": 401, "headers": headers})
        await send({"type": "http.response.body", "body": words})

    def _shown(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._expected)


def application(server: Server[Any], token: str, names: Sequence[str], *, port: int) -> App:
    """The server as an application for these host names."""
    hosts = [host for name in names for host in ((name, f"{name}:{port}"))]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{host}" for scheme in ("http", "https") for host in hosts],
    )
    app = server.streamable_http_app(streamable_http_path=PATH, transport_security=security)
    return Guarded(app, token)


def names_of(host: str, public: Sequence[str]) -> list[str]:
    """The names under which a server that listens at `host` may be called."""
    if not is_loopback(host) and not public:
        raise UsageProblem(
            f"{host} can be reached from other machines.",
            "Whoever has the token could then use your tools over the network, unencrypted.",
            "Listen at 127.0.0.1, or name the server with --public NAME if you mean it.",
        )
    here = [f"[{host}]" if ":" in host else host]
    return [*dict.fromkeys([*here, "127.0.0.1", "localhost", "[::1]", *public])]


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches an address."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def address_from(text: str) -> tuple[str, int]:
    """Host and port of `HOST:PORT`, `:PORT`, `PORT` or `HOST`."""
    host, colon, port = text.rpartition(":")
    if not colon:
        host, port = ("", text) if text.isdigit() else (text, str(DEFAULT_PORT))
    elif text.startswith("[") and text.endswith("]"):
        host, port = text, str(DEFAULT_PORT)
    host = host.removeprefix("[").removesuffix("]") or "127.0.0.1"
    if not port.isdigit() or int(port) > 65535:
        raise UsageProblem(f"“{text}” is not an address.", try_this="Use HOST:PORT.")
    return host, int(port)


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there."""
    try:
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        return socket.create_server((host, port), family=family, reuse_port=False)
    except OSError as error:
        why = error.strerror or str(error)
        raise UsageProblem(f"Cannot listen at {host}, port {port}.", why) from error


async def serve(app: App, listening: socket.socket) -> None:
    """Serve until the task is cancelled; what is under way gets a moment to end."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="on",
        timeout_graceful_shutdown=GRACE,
        server_header=False,
    )
    server = Unsignalled(config)
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    try:
        await asyncio.shield(serving)
    except asyncio.CancelledError:
        server.should_exit = True
        await serving
        raise


class Unsignalled(uvicorn.Server):
    """A server that leaves signals to whoever runs it."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Nothing is captured."""
        yield
