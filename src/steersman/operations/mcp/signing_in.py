"""A person signs in at a server: a browser opens, comes back to this machine, and tokens are kept.

The protocol library finds out where to sign in, registers us there and checks what comes back.
Only a command that a person gave begins this; during a turn nothing does.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
from mcp.client.auth import (
    AuthorizationCodeResult,
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
)
from mcp.client.auth.utils import is_valid_client_metadata_url, union_scopes
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from pydantic import AnyUrl, PrivateAttr, ValidationError

from steersman.operations.mcp.callback import Answer, Callback
from steersman.operations.mcp.discretion import Discretion
from steersman.operations.mcp.sentences import Sentences, status_text
from steersman.operations.mcp.sign_in_auth import (
    Flow,
    Hints,
    checked,
    expiry,
    private,
    sign_in_auth,
    why,
    written,
)
from steersman.operations.mcp.tokens import SignIn, SignIns, signs_in
from steersman.operations.mcp.traffic import Traffic
from steersman.operations.mcp.transport import CONNECTING, line
from steersman.records.errors import UsageProblem
from steersman.records.mcp_server import Server
from steersman.records.mcp_tools import ServerProblem

NAME = "Steersman"
VERSION = "2025-11-25"  # of the protocol, for the one question that is asked before
QUESTION = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
HEADERS = {
    "accept": "application/json, text/event-stream",
    "mcp-protocol-version": VERSION,
}
NOT_ASKED = "It does not ask for a sign-in."
NO_HEADER = "It offers no way to sign in; it may need a header in its entry."
PATIENCE = 300.0
REVOKING = 10.0
Show = Callable[[str], Awaitable[None]]


async def sign_in(
    server: Server,
    sign_ins: SignIns,
    show: Show,
    *,
    port: int = 0,
    patience: float = PATIENCE,
) -> SignIn:
    """Sign in and keep what it gave. `show` is given the address that a browser is to open."""
    if not signs_in(server):
        raise UsageProblem(
            f"The MCP server “{server.name}” needs no sign-in.",
            "It is a program on this machine."
            if server.transport == "stdio"
            else "Its entry says how to authenticate (a header, or a name in its address).",
        )
    say = _Saying(server)
    shown: list[str] = []

    async def showing(address: str) -> None:
        shown.append(address)
        await show(address)

    try:
        async with asyncio.timeout(patience):
            if server.oauth.grant == "client_credentials":
                return await _as_machine(server, sign_ins, say)
            return await _as_person(server, sign_ins, showing, port or server.oauth.port, say)
    except TimeoutError:
        late = "The browser did not return" if shown else "It did not answer"
        raise say.failed(f"{late} within {patience:g} s.") from None
    except httpx2.HTTPError as error:
        said = str(error).rstrip(".") or type(error).__name__
        raise say.failed(f"It cannot be reached: {said}.") from None
    except (OAuthFlowError, ValidationError, ValueError) as error:
        raise say.failed(why(error)) from None


async def sign_out(server: Server, sign_ins: SignIns) -> bool:
    """Forget a sign-in, and tell whoever gave it, if they want to know; False if there is none."""
    kept = sign_ins.of(server)
    sign_ins.forget(server)
    if kept is None or not kept.tokens:
        return False
    endpoint, tokens = kept.metadata.get("revocation_endpoint"), kept.tokens
    token = tokens.get("refresh_token") or tokens.get("access_token")
    if isinstance(endpoint, str) and token:
        fields = {"token": token, "client_id": kept.client.get("client_id", "")}
        secret = kept.client.get("client_secret") or server.oauth.client_secret
        if secret:
            fields["client_secret"] = secret
        with suppress(httpx2.HTTPError, OAuthFlowError, ValueError, TimeoutError):
            private(endpoint, server.url)
            async with asyncio.timeout(REVOKING), line(Traffic()) as client:
                await client.post(endpoint, data=fields)
    return True


class _Saying:
    """Sentences about a sign-in, without secrets."""

    def __init__(self, server: Server) -> None:
        self.discretion = Discretion(server)
        self._name = server.name
        self._say = Sentences(server, self.discretion)

    def failed(self, reason: str) -> ServerProblem:
        return self._say.problem(f"The sign-in at the MCP server “{self._name}” failed.", reason)


async def _as_person(
    server: Server, sign_ins: SignIns, show: Show, port: int, say: _Saying
) -> SignIn:
    before = sign_ins.of(server) or SignIn()
    async with Callback(port) as callback:
        newcomer = Newcomer(server, before.wanted, callback, show)
        try:
            await _ask(server, newcomer)
        except OAuthRegistrationError:
            if newcomer.led:
                raise
            raise say.failed(NO_HEADER if newcomer.asked else NOT_ASKED) from None
    made = newcomer.made()
    sign_ins.keep(server, made)
    return made


async def _as_machine(server: Server, sign_ins: SignIns, say: _Saying) -> SignIn:
    sign_ins.forget(server)
    reasons: list[str] = []
    auth = sign_in_auth(server, sign_ins, Hints(reasons.append, say.discretion.learn))
    assert auth is not None
    status = await _ask(server, auth)
    made = sign_ins.of(server)
    if reasons or made is None:
        refused = status_text(status) if status >= 400 else NOT_ASKED
        raise say.failed(reasons[0] if reasons else refused)
    return made


async def _ask(server: Server, auth: httpx2.Auth) -> int:
    """Ask the server something, only to hear what it wants first."""
    timeout = httpx2.Timeout(CONNECTING)
    async with line(Traffic(), dict(server.headers), timeout, auth) as client:
        if server.transport == "sse":
            request = client.build_request("GET", server.url, headers=HEADERS)
        else:
            request = client.build_request("POST", server.url, json=QUESTION, headers=HEADERS)
        response = await client.send(request, stream=True)
        await response.aclose()
        return response.status_code


class _Asking(OAuthClientMetadata):
    """Who we are; asks for the scopes that are wanted, whatever else a server suggests."""

    _configured: str = PrivateAttr("")
    _wanted: str = PrivateAttr("")

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "scope":
            value = union_scopes(self._configured or value, self._wanted)
        super().__setattr__(name, value)


class Newcomer(OAuthClientProvider):
    """Goes through the library's flow once, and ends when it has a token."""

    def __init__(self, server: Server, wanted: str, callback: Callback, show: Show) -> None:
        self.tokens: OAuthToken | None = None
        self.asked = True  # that someone signs in
        self._server = server
        self._callback = callback
        self._show = show
        oauth = server.oauth
        document = is_valid_client_metadata_url(oauth.client_id) and not oauth.client_secret
        self._fixed = bool(oauth.client_id) and not document
        about = _Asking(
            client_name=NAME,
            redirect_uris=[AnyUrl(callback.address)],
            scope=" ".join(oauth.scopes) or None,
        )
        about._configured, about._wanted = " ".join(oauth.scopes), wanted
        super().__init__(
            server.url,
            about,
            self,
            self._open,
            self._come_back,
            oauth.client_id if document else None,
        )

    @property
    def led(self) -> bool:
        """True when the server said where to sign in."""
        context = self.context
        return bool(context.oauth_metadata or context.protected_resource_metadata)

    def made(self) -> SignIn:
        """What came of it."""
        assert self.tokens is not None
        context = self.context
        client = written(context.client_info) if context.client_info else {}
        if client.get("client_secret") == self._server.oauth.client_secret:
            client.pop("client_secret", None)
        metadata, resource = context.oauth_metadata, context.protected_resource_metadata
        return SignIn(
            tokens=written(self.tokens),
            expires=expiry(self.tokens),
            client=client,
            metadata=written(metadata) if metadata else {},
            resource=written(resource) if resource else {},
        )

    async def _auth_flow(self, request: httpx2.Request) -> Flow:
        response = yield request
        if response.status_code != 401:  # it may ask only when something is called
            self.asked = False
            response = httpx2.Response(401, request=request)
        flow = super()._auth_flow(request)
        try:
            outgoing = await anext(flow)
            outgoing = await flow.asend(response)
            while outgoing is not request:
                checked(outgoing, self._server.url)
                outgoing = await flow.asend((yield outgoing))
        except StopAsyncIteration:
            return
        finally:
            await flow.aclose()

    async def _perform_authorization(self) -> httpx2.Request:
        info, metadata = self.context.client_info, self.context.oauth_metadata
        if self._fixed and info is not None and info.client_secret:
            known = metadata and metadata.token_endpoint_auth_methods_supported
            basic = not known or "client_secret_basic" in known
            info.token_endpoint_auth_method = (
                "client_secret_basic" if basic else "client_secret_post"
            )
        return await super()._perform_authorization()

    async def _open(self, address: str) -> None:
        private(address, self._server.url)
        (state,) = parse_qs(urlsplit(address).query)["state"][-1:]
        self._callback.expect(state)
        await self._show(address)

    async def _come_back(self) -> AuthorizationCodeResult:
        answer: Answer = await self._callback.answer()
        if answer.refused:
            raise OAuthFlowError(f"It was refused there ({answer.refused})")
        return AuthorizationCodeResult(code=answer.code, state=answer.state, iss=answer.issuer)

    # What the library keeps, until all of it is known

    async def get_tokens(self) -> OAuthToken | None:
        return None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        oauth = self._server.oauth
        if not self._fixed:
            return None
        return OAuthClientInformationFull(
            client_id=oauth.client_id,
            client_secret=oauth.client_secret or None,
            redirect_uris=[AnyUrl(self._callback.address)],
            token_endpoint_auth_method=None if oauth.client_secret else "none",
            issuer=oauth.issuer or None,
        )

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """It is in the context."""
