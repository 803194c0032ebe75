"""A server by the official library that lets nobody in who has not signed in, and its door.

Both run in a thread of the test, so a test can take tokens back or change what is wanted while
they work: `with house() as it`.
"""

import asyncio
import json
import secrets
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.error import HTTPError
from urllib.request import urlopen

import uvicorn
from mcp.server import MCPServer
from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    RefreshToken,
    construct_redirect_uri,
)
from mcp.server.auth.settings import AuthSettings, ClientRegistrationOptions, RevocationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken

from steersman.records.mcp_server import Server


class House:
    """Who may come in. All it gave is known to it, so that tests can look for it elsewhere."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.wanted = ["use"]  # scopes without which nobody comes in
        self.refuses = False
        self.busy = False  # it answers whoever wants a token with an error of its own
        self.clients: dict[str, OAuthClientInformationFull] = {}
        self.codes: dict[str, AuthorizationCode] = {}
        self.access: dict[str, AccessToken] = {}
        self.refresh: dict[str, RefreshToken] = {}
        self.given: list[str] = []  # every secret it ever gave
        self.renewals = 0

    def server(self, transport: Any = "http", **more: Any) -> Server:
        """The entry of a configuration."""
        return Server(
            name="house",
            transport=transport,
            url=f"{self.address}/{'mcp' if transport == 'http' else 'sse'}",
            timeout=60.0,
            **more,
        )

    def forget_access(self) -> None:
        """As if all tokens had expired; they can be renewed."""
        self.access.clear()

    def forget_all(self) -> None:
        """Nobody is known any more."""
        self.access.clear()
        self.refresh.clear()

    # What the library asks

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        self.clients[client_info.client_id] = client_info
        if client_info.client_secret:
            self.given.append(client_info.client_secret)

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        back = str(params.redirect_uri)
        if self.refuses:
            return construct_redirect_uri(back, error="access_denied", state=params.state)
        code = self._secret("code")
        self.codes[code] = AuthorizationCode(
            code=code,
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id,
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
        )
        return construct_redirect_uri(back, code=code, state=params.state)

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        del self.codes[authorization_code.code]
        return self._tokens(client.client_id, authorization_code.scopes)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        if self.busy:
            raise RuntimeError("busy")
        return self.refresh.get(refresh_token)

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        self.renewals += 1
        del self.refresh[refresh_token.token]  # it works once
        return self._tokens(client.client_id, scopes or refresh_token.scopes)

    async def load_access_token(self, token: str) -> AccessToken | None:
        return self.access.get(token)

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        self.forget_all()

    def _tokens(self, client: str, scopes: list[str]) -> OAuthToken:
        access, refresh = self._secret("access"), self._secret("refresh")
        self.access[access] = AccessToken(token=access, client_id=client, scopes=scopes)
        self.refresh[refresh] = RefreshToken(token=refresh, client_id=client, scopes=scopes)
        return OAuthToken(
            access_token=access,
            refresh_token=refresh,
            expires_in=3600,
            scope=" ".join(scopes),
        )

    def _secret(self, kind: str) -> str:
        made = f"{kind}/{secrets.token_urlsafe(24)}"
        self.given.append(made)
        return made


@contextmanager
def house() -> Iterator[House]:
    """The server and its door, as long as the block is open."""
    with socket.socket() as place:
        place.bind(("127.0.0.1", 0))
        place.listen(100)
        made = House(f"http://127.0.0.1:{place.getsockname()[1]}")
        config = uvicorn.Config(_app(made), log_config=None, timeout_graceful_shutdown=1)
        running = uvicorn.Server(config)
        thread = threading.Thread(target=lambda: asyncio.run(running.serve([place])), daemon=True)
        thread.start()
        try:
            yield made
        finally:
            running.should_exit = True
            thread.join(30)


def _app(made: House) -> Any:
    settings = AuthSettings(
        issuer_url=made.address,
        resource_server_url=f"{made.address}/mcp",
        client_registration_options=ClientRegistrationOptions(
            enabled=True, valid_scopes=["use", "change"], default_scopes=["use"]
        ),
        revocation_options=RevocationOptions(enabled=True),
        validate_token_resource=False,
    )
    settings.required_scopes = made.wanted
    server = MCPServer("house", auth_server_provider=made, auth=settings)

    @server.tool()
    def echo(text: str) -> str:
        """Say it again."""
        return text

    @server.tool()
    def tell_token() -> str:
        """Say what nobody should hear."""
        token = get_access_token()
        return f"The token is {token.token if token else 'none'}."

    inner = server.streamable_http_app(stateless_http=True)

    async def app(scope: Any, receive: Any, send: Any) -> None:
        async def telling(message: Any) -> None:
            """The library does not say which rights are wanted."""
            if message.get("status") == 403:
                said = f', scope="{" ".join(made.wanted)}"'.encode()
                message["headers"] = [
                    (name, value + said if name == b"www-authenticate" else value)
                    for name, value in message["headers"]
                ]
            await send(message)

        await inner(scope, receive, telling)

    return app


class Pages(ThreadingHTTPServer):
    """Answers by a table of paths: a status, headers and perhaps a body; the rest is not found."""

    daemon_threads = True

    def __init__(self, pages: dict[str, Any]) -> None:
        super().__init__(("127.0.0.1", 0), _Page)
        self.pages = pages
        self.requests: list[dict[str, str]] = []


class _Page(BaseHTTPRequestHandler):
    server: Pages

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("content-length", 0)))
        heard = {name.lower(): value for name, value in self.headers.items()}
        self.server.requests.append({"path": self.path, **heard})
        status, headers, *more = self.server.pages.get(self.path, (404, {}))
        body = json.dumps(more[0] if more else {}).encode()
        self.send_response(status)
        told = {"content-type": "application/json", "content-length": str(len(body)), **headers}
        for name, value in told.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_DELETE = do_POST

    def log_message(self, *_: Any) -> None:
        """Nothing is printed."""


@contextmanager
def listening(pages: dict[str, Any]) -> Iterator[tuple[str, Pages]]:
    """A place that answers by a table and remembers who came."""
    made = Pages(pages)
    thread = threading.Thread(target=made.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{made.server_port}", made
    finally:
        made.shutdown()
        made.server_close()


def visit(address: str) -> int:
    """A browser in which somebody agrees to everything; the status of the last page."""
    try:
        with urlopen(address, timeout=30) as page:
            page.read()
            return int(page.status)
    except HTTPError as error:
        return error.code


def browser(*also: Callable[[str], object]) -> Callable[[str], Awaitable[None]]:
    """What `sign_in` shows addresses to; `also` is done before somebody goes there."""

    async def show(address: str) -> None:
        def go() -> None:
            for one in also:
                one(address)
            visit(address)

        asyncio.get_running_loop().run_in_executor(None, go)

    return show
