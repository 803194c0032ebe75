"""Serving over HTTP: only to whoever has the token, only under the names it is known by.

A page in a browser can send requests to this machine too; the token, and the check of the `Host`
and `Origin` a request names, keep it out.
"""

import hmac
from collections.abc import Awaitable, Callable, MutableMapping, Sequence
from typing import Any

from mcp.server.lowlevel import Server
from mcp.server.transport_security import TransportSecuritySettings

PATH = "/mcp"
DEFAULT_PORT = 8921

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
