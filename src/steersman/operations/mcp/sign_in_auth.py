"""What requests to a server carry so that it lets them in, once someone has signed in there.

A person's tokens are shown and renewed, and that is all: nothing is found out, nobody is
registered and no browser opens here, where nobody looks. What only a person can do is reported
instead (`signing_in.py` does it). A machine's own credentials need nobody.
"""

import re
import time
import warnings
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from mcp.client.auth import (
    OAuthClientProvider,
    OAuthFlowError,
    OAuthRegistrationError,
    OAuthTokenError,
)
from mcp.client.auth.extensions.client_credentials import (
    ClientCredentialsOAuthProvider,
    PrivateKeyJWTOAuthProvider,
    SignedJWTParameters,
)
from mcp.client.auth.utils import (
    extract_field_from_www_auth,
    extract_scope_from_www_auth,
    union_scopes,
)
from mcp.shared.auth import (
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthMetadata,
    OAuthToken,
    ProtectedResourceMetadata,
)
from pydantic import ValidationError

from steersman.operations.mcp.session import fault
from steersman.operations.mcp.tokens import SignIn, SignIns, signs_in
from steersman.records.errors import StorageProblem
from steersman.records.mcp_server import Server

NEVER = "You have not signed in there yet."
OVER = "The sign-in has ended: it expired, or it was revoked."
CONNECTING = httpx2.Timeout(30.0).as_dict()
LONGEST = 200
Flow = AsyncGenerator[httpx2.Request, httpx2.Response]


class Hints:
    """Whom to tell what is met: why a sign-in is wanted, and which values nobody should see."""

    def __init__(
        self, wanted: Callable[[str], None], learn: Callable[[Iterable[str]], None]
    ) -> None:
        self.wanted = wanted
        self.learn = learn


def sign_in_auth(server: Server, sign_ins: SignIns, hints: Hints) -> httpx2.Auth | None:
    """What lets requests in; None when the entry says so itself."""
    if not signs_in(server):
        return None
    if server.oauth.grant == "authorization_code":
        return Holder(server, sign_ins, hints)
    kept = Kept(server, sign_ins, hints)
    oauth = server.oauth
    scope = " ".join(oauth.scopes) or None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # without an issuer, the server says whom to ask: a choice
        if oauth.private_key:
            signed = SignedJWTParameters(
                issuer=oauth.client_id,
                subject=oauth.client_id,
                signing_key=oauth.private_key,
                signing_algorithm=oauth.algorithm or "RS256",
            )
            return _Signing(
                server.url,
                kept,
                oauth.client_id,
                signed.create_assertion_provider(),
                scope,
                oauth.issuer or None,
            )
        return _Sharing(
            server.url,
            kept,
            oauth.client_id,
            oauth.client_secret,
            scope=scope,
            issuer=oauth.issuer or None,
        )


class Kept:
    """The sign-in of one server, as the protocol library keeps its tokens."""

    def __init__(self, server: Server, sign_ins: SignIns, hints: Hints) -> None:
        self.server = server
        self.sign_ins = sign_ins
        self.hints = hints

    def now(self) -> SignIn:
        """What is kept; another process may have put it there a moment ago."""
        found = self.sign_ins.of(self.server) or SignIn()
        self.hints.learn(found.secrets)
        return found

    def change(self, **fields: Any) -> None:
        """Keep it with other fields."""
        changed = msgspec.structs.replace(self.now(), **fields)
        self.hints.learn(changed.secrets)
        self.sign_ins.keep(self.server, changed)

    async def get_tokens(self) -> OAuthToken | None:
        found = self.now()
        good = found.tokens and not found.ended and not 0 < found.expires < time.time()
        return _read(OAuthToken, found.tokens) if good else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.change(tokens=written(tokens), expires=expiry(tokens), ended="")

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Who a machine is, see its entry."""


class Holder(OAuthClientProvider):
    """Shows the tokens of a person, and renews them.

    Unlike the library's own flow, a request does not wait until the one before it is answered.
    """

    def __init__(self, server: Server, sign_ins: SignIns, hints: Hints) -> None:
        self._kept = Kept(server, sign_ins, hints)
        self._trouble = ""
        super().__init__(server.url, OAuthClientMetadata(redirect_uris=None), self._kept)

    async def _auth_flow(self, request: httpx2.Request) -> Flow:
        if not self._look() and self.context.can_refresh_token():
            async with self._alone():
                if (renewal := await self._renewal("")) is not None:
                    await self._renewed((yield renewal))
        sent = self._show(request)
        response = yield request
        if insufficient(response):
            self._wants_more(response)
        if response.status_code != 401:
            return
        async with self._alone():
            if (renewal := await self._renewal(sent)) is not None:
                await self._renewed((yield renewal))
        if self._token() not in ("", sent):
            self._show(request)
            if (yield request).status_code != 401:
                return
        self._not_let_in()

    def _look(self) -> bool:
        """Take what is kept as it is now; True when its token can be shown."""
        kept, context = self._kept.now(), self.context
        context.current_tokens = None if kept.ended else _read(OAuthToken, kept.tokens)
        context.token_expiry_time = kept.expires or None
        context.client_info = _read(OAuthClientInformationFull, kept.client)
        context.oauth_metadata = _read(OAuthMetadata, kept.metadata)
        context.protected_resource_metadata = _read(ProtectedResourceMetadata, kept.resource)
        secret = self._kept.server.oauth.client_secret
        if secret and context.client_info and context.client_info.client_secret is None:
            context.client_info.client_secret = secret  # it is kept in the entry alone
        return context.is_token_valid()

    def _token(self) -> str:
        tokens = self.context.current_tokens
        return tokens.access_token if tokens is not None and self.context.is_token_valid() else ""

    def _show(self, request: httpx2.Request) -> str:
        request.headers.pop("authorization", None)
        if token := self._token():
            request.headers["authorization"] = f"Bearer {token}"
        return token

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        async with self.context.lock, self._kept.sign_ins.alone(self._kept.server):
            yield

    async def _renewal(self, sent: str) -> httpx2.Request | None:
        """How to ask for another token; None when someone else just did, or nobody can."""
        if (self._look() and self._token() != sent) or not self.context.can_refresh_token():
            return None
        request = await self._refresh_token()
        request.extensions.setdefault("timeout", CONNECTING)
        return request

    async def _renewed(self, response: httpx2.Response) -> None:
        """Keep another token; `_trouble` is why there is none although there may be one later."""
        self._trouble = ""
        if response.status_code in (400, 401):
            self._end()
        elif not await self._handle_refresh_response(response):
            self._trouble = f"The sign-in could not be renewed ({response.status_code})."
        self._look()

    def _not_let_in(self) -> None:
        kept, tokens = self._kept.now(), self.context.current_tokens
        known = tokens is not None and kept.tokens.get("access_token") == tokens.access_token
        if known and not self._trouble:
            self._end()
        elif not kept.tokens and not kept.ended:
            with suppress(StorageProblem):  # for whoever asks its state, without asking there
                self._kept.change(ended=NEVER)
        self._kept.hints.wanted(self._trouble or self._kept.now().ended or NEVER)

    def _end(self) -> None:
        """The tokens are of no more use."""
        self._kept.change(tokens={}, expires=0.0, ended=OVER)
        self._look()

    def _wants_more(self, response: httpx2.Response) -> None:
        kept = self._kept.now()
        asked = extract_scope_from_www_auth(response)
        wanted = union_scopes(union_scopes(kept.tokens.get("scope"), kept.wanted), asked) or ""
        self._kept.change(wanted=wanted)
        what = f": {asked[:LONGEST]}" if asked else ""
        self._kept.hints.wanted(f"It needs more rights than the sign-in gave{what}.")


class _Machine(OAuthClientProvider):
    """Credentials of a machine: the library's flow, begun only when a request is not let in."""

    async def _auth_flow(self, request: httpx2.Request) -> Flow:
        kept = self.context.storage
        assert isinstance(kept, Kept)
        async with self.context.lock:
            await self._initialize()
        sent = self._shown(request)
        first: httpx2.Response | None = yield request
        if first is None or not (first.status_code == 401 or insufficient(first)):
            return
        flow = super()._auth_flow(request)
        try:
            outgoing = await anext(flow)
            while True:
                if outgoing is request and first is not None and self._shown(request) == sent:
                    answer, first = first, None
                else:
                    if outgoing is not request:
                        checked(outgoing, kept.server.url)
                    answer = yield outgoing
                outgoing = await flow.asend(answer)
        except StopAsyncIteration:
            return
        except (OAuthFlowError, ValidationError, ValueError) as error:
            kept.hints.wanted(why(error))
        finally:
            await flow.aclose()
        request.headers.pop("authorization", None)
        yield request  # what is handed on is an answer to this one, and to none of the flow

    def _shown(self, request: httpx2.Request) -> str:
        tokens = self.context.current_tokens
        if tokens is None or not self.context.is_token_valid():
            return ""
        request.headers["authorization"] = f"Bearer {tokens.access_token}"
        return tokens.access_token


class _Sharing(_Machine, ClientCredentialsOAuthProvider):
    """With a secret."""


class _Signing(_Machine, PrivateKeyJWTOAuthProvider):
    """With a key."""


def insufficient(response: httpx2.Response) -> bool:
    """True when a server wants more rights than the token gives."""
    said = extract_field_from_www_auth(response, "error")
    return response.status_code == 403 and said == "insufficient_scope"


def checked(request: httpx2.Request, server: str) -> None:
    """Hold on before a secret goes over a line that others can read, or waits without end."""
    request.extensions.setdefault("timeout", CONNECTING)
    private(str(request.url), server)


def private(url: str, server: str) -> None:
    """Raise unless an address is encrypted, on this machine, or as open as the server itself."""
    parts, own = urlsplit(url), urlsplit(server)
    if parts.scheme == "https" or (parts.scheme, parts.hostname) == (own.scheme, own.hostname):
        return
    host = parts.hostname or ""
    try:
        local = ip_address(host).is_loopback
    except ValueError:
        local = host == "localhost"
    if parts.scheme != "http" or not local:
        raise OAuthFlowError(f"The sign-in leads to {host} over an unencrypted connection.")


def why(error: Exception) -> str:
    """What went wrong with a sign-in, without anything that was sent or came for it."""
    match error:
        case OAuthRegistrationError():
            return "Programs cannot register there; name one with `oauth.clientId` in its entry."
        case OAuthTokenError():
            return f"It gave no token{_code(str(error))}."
        case OAuthFlowError() if "mismatch: " in str(error) and "State" in str(error):
            return "The answer does not belong to this sign-in."
        case OAuthFlowError():
            return f"{str(error).splitlines()[0].rstrip('.')[: 2 * LONGEST]}."
        case _:
            return fault(error)[: 2 * LONGEST]


def _code(text: str) -> str:
    found = re.search(r'"error"\s*:\s*"([a-z_]{1,40})"', text)
    return f" ({found[1]})" if found else ""


def expiry(tokens: OAuthToken) -> float:
    """When a token that was just given ends; 0 when unknown."""
    return time.time() + tokens.expires_in if tokens.expires_in is not None else 0.0


def written(model: Any) -> dict[str, Any]:
    """A record of the library as it is kept."""
    kept: dict[str, Any] = model.model_dump(mode="json", exclude_none=True)
    return kept


def _read(kind: Any, kept: dict[str, Any]) -> Any:
    """A record of the library; None for what is not there or is damaged."""
    try:
        return kind.model_validate(kept) if kept else None
    except ValidationError:
        return None
