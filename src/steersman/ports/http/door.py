"""Who may come in: checked before anything is looked up, for requests and for sockets alike.

A page in a browser can send requests to this machine too. The name a request calls this server by,
the page it comes from and the token it shows are each compared exactly; there are no cookies, which
know no ports, and nothing is ever allowed to other origins.
"""

import hmac
import time
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from urllib.parse import parse_qs

import msgspec
from msgspec import Struct

from steersman.host.tokens import Holder, Tickets
from steersman.ports.http.asgi import JSON, App, Message, Receive, Scope, Send
from steersman.records.problem import Problem

LARGEST = 32 << 20  # bytes of a body
WRITES = ("POST", "PUT", "PATCH", "DELETE")
LINES = "application/x-ndjson"  # a thread from a file
FREE = ("/healthz", "/readyz", "/openapi.json")  # need no token
SAFE = (  # what every answer says to browsers
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
    (
        b"content-security-policy",
        b"default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
)
UNAUTHORIZED = 4401  # closes a socket whose ticket is not valid; a page then asks for a new one
WRONG, WINDOW = 20, 60.0  # wrong tokens an address may show in so many seconds
MOST_ADDRESSES = 1000


class Refused(Struct, frozen=True):
    """Why a request does not come in."""

    status: int
    what: str
    why: str = ""


class Attempts:
    """Wrong tokens by address; whoever shows the right one is never kept out."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, list[float]] = OrderedDict()

    def wrong(self, address: str) -> bool:
        """Note a wrong token; the answer is whether there were too many."""
        now = self._clock()
        recent = [one for one in self._wrong.pop(address, ()) if one > now - WINDOW][-WRONG:]
        self._wrong[address] = [*recent, now]
        if len(self._wrong) > MOST_ADDRESSES:
            self._wrong.popitem(last=False)
        return len(recent) >= WRONG


class Door:
    """Lets requests through to the application that may come in, and says whose they are."""

    def __init__(
        self,
        app: App,
        *,
        hosts: Iterable[str],
        origins: Iterable[str],
        token: str,
        shown: Callable[[str], Awaitable[Holder | None]],
        still: Callable[[Holder], Awaitable[bool]],
        tickets: Tickets,
    ) -> None:
        self._app = app
        self._hosts = frozenset(hosts)
        self._origins = frozenset(origins)
        self._token = token.encode()
        self._shown = shown
        self._still = still
        self._tickets = tickets
        self._attempts = Attempts()
        self._owner = Holder("owner")

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request in, or say why not."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        fields = _fields(scope)
        refused = self._checked(scope, fields)
        if refused is None and scope["path"] not in FREE:
            holder = await self._holder(scope, fields)
            if holder is None:
                refused = self._unknown(scope, fields)
            else:
                scope.setdefault("state", {})["holder"] = holder
        if refused is None and scope["type"] == "http":
            refused = _body_checked(scope, fields)
        if refused is not None:
            await _refuse(scope, receive, send, refused)
        elif scope["type"] == "http":
            body = Body(receive, expected=_has_body(fields))
            await self._app(scope, body.receive, _with_headers(send, body))
        else:
            await self._app(scope, receive, send)

    def _checked(self, scope: Scope, fields: dict[bytes, list[bytes]]) -> Refused | None:
        """What is wrong with a request, whoever sends it."""
        if _only(fields, b"host").lower() not in self._hosts:
            return Refused(421, "This server is not called that.", "Use an address it printed.")
        if b"content-length" in fields and b"transfer-encoding" in fields:
            return Refused(400, "A request has one length.")  # others may take the other one
        origin = fields.get(b"origin")
        if origin is not None and _only(fields, b"origin") not in self._origins:
            return Refused(403, "Pages of other origins cannot use this server.")
        site = fields.get(b"sec-fetch-site")
        if site is not None and _only(fields, b"sec-fetch-site") not in ("same-origin", "none"):
            return Refused(403, "Pages of other origins cannot use this server.")
        return None

    async def _holder(self, scope: Scope, fields: dict[bytes, list[bytes]]) -> Holder | None:
        if b"authorization" in fields:
            kind, _, text = _only(fields, b"authorization").partition(" ")
            given = text.strip().encode()
            if kind.lower() != "bearer" or not given:
                return None
            if hmac.compare_digest(given, self._token):
                return self._owner
            holder = await self._shown(text.strip())
            if scope["type"] == "http":
                return holder
        elif scope["type"] == "http" and scope["method"] not in ("GET", "HEAD"):
            return None
        else:
            ticket = parse_qs(scope["query_string"].decode("latin-1")).get("ticket", [])
            holder = self._tickets.use(ticket[0], scope["path"]) if len(ticket) == 1 else None
        # What was known a moment ago is not enough for what lasts.
        return holder if holder is not None and await self._still(holder) else None

    def _unknown(self, scope: Scope, fields: dict[bytes, list[bytes]]) -> Refused:
        guessed = b"authorization" in fields or b"ticket=" in scope["query_string"]
        if guessed and self._attempts.wrong((scope.get("client") or ("",))[0]):
            return Refused(429, "Too many wrong tokens came from this address.", "Wait a minute.")
        return Refused(
            401, "A token is needed.", "Send it as `Authorization: Bearer TOKEN`, or use a ticket."
        )


def _fields(scope: Scope) -> dict[bytes, list[bytes]]:
    found: dict[bytes, list[bytes]] = {}
    for name, value in scope["headers"]:
        found.setdefault(name.lower(), []).append(value)
    return found


def _only(fields: dict[bytes, list[bytes]], name: bytes) -> str:
    """The value of a header; one that is there twice says nothing."""
    values = fields.get(name, [])
    return values[0].decode("latin-1") if len(values) == 1 else ""


def _body_checked(scope: Scope, fields: dict[bytes, list[bytes]]) -> Refused | None:
    """A form of another page cannot be JSON; and nobody sends more than is taken."""
    length = _only(fields, b"content-length")
    if scope["method"] in WRITES and _has_body(fields):
        kind = _only(fields, b"content-type").partition(";")[0].strip().lower()
        if kind not in (JSON, LINES):
            return Refused(415, "Only JSON is accepted.", f"Send `Content-Type: {JSON}`.")
    if length and (not length.isdigit() or int(length) > LARGEST):
        return Refused(413, f"The request is larger than {LARGEST >> 20} MB.")
    return None


class TooLarge(Exception):
    """A body that did not say how long it is went on for too long."""


class Body:
    """What a request sends after its head, up to a limit; `whole` once nothing more will come."""

    def __init__(self, receive: Receive, *, expected: bool) -> None:
        self._receive = receive
        self._taken = 0
        self.whole = not expected

    async def receive(self) -> Message:
        """The next part."""
        message = await self._receive()
        self._taken += len(message.get("body", b""))
        if self._taken > LARGEST:
            raise TooLarge
        self.whole = self.whole or not message.get("more_body", False)
        return message


def _has_body(fields: dict[bytes, list[bytes]]) -> bool:
    return b"transfer-encoding" in fields or _only(fields, b"content-length") not in ("", "0")


def _with_headers(send: Send, body: Body) -> Send:
    async def sending(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message.get("headers", ())}
            more = [(name, value) for name, value in SAFE if name not in own]
            if not body.whole:  # nobody waits for the rest of it
                more.append((b"connection", b"close"))
            message = {**message, "headers": [*message.get("headers", ()), *more]}
        await send(message)

    return sending


async def _refuse(scope: Scope, receive: Receive, send: Send, refused: Refused) -> None:
    """Say no: to a socket whose ticket is wrong by closing it, so that a page learns why."""
    if scope["type"] == "websocket":
        if refused.status in (401, 429):
            await receive()
            await send({"type": "websocket.accept"})
            await send({"type": "websocket.close", "code": UNAUTHORIZED, "reason": refused.what})
            return
        if "websocket.http.response" not in scope.get("extensions", {}):
            await send({"type": "websocket.close", "code": 1008})
            return
    kind = "websocket.http" if scope["type"] == "websocket" else "http"
    words = msgspec.json.encode(Problem(refused.what, refused.why))
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(words)).encode()),
        *SAFE,
    ]
    if refused.status == 401:
        headers.append((b"www-authenticate", b'Bearer realm="steersman"'))
    headers.append((b"connection", b"close"))  # whatever else it sends
    await send({"type": f"{kind}.response.start", "status": refused.status, "headers": headers})
    await send({"type": f"{kind}.response.body", "body": words})
