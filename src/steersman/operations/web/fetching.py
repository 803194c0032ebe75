"""One request to a web server: addresses checked and then dialled, size and time bounded.

The name is looked up once, every address out of bounds is left out, and exactly what is left is
connected to: no server of names can give the check one address and the connection another. A
redirect is not followed here; it is a new address that has to be decided on.
"""

import asyncio
import zlib
from collections.abc import Mapping, Sequence
from urllib.parse import quote, urljoin, urlsplit

from msgspec import Struct

from steersman.operations.running.dialling import TRIED, NoWay, Resolve, addresses, look_up
from steersman.records.action import Network
from steersman.records.addresses import canonical_host
from steersman.records.errors import ToolProblem
from steersman.records.visible import quoted

MOST_BYTES = 4 * 1024 * 1024
SECONDS = 30.0
LONGEST_URL = 4000
_PORTS = {"http": 80, "https": 443}
_MOVED = frozenset({301, 302, 303, 307, 308})
_PACKED = {"gzip": 31, "x-gzip": 31, "deflate": 15}  # as zlib calls them
_RAW = -15  # what some servers send for "deflate"
_GZIP = b"\x1f\x8b"
AGENT = "Steersman (a coding agent reading a page for its user)"


class Target(Struct, frozen=True):
    """Where a request goes, in one spelling."""

    url: str
    scheme: str
    host: str
    port: int
    path: str

    @property
    def place(self) -> str:
        """Host and port, as rules and questions name them."""
        return f"{self.host}:{self.port}"

    @property
    def shown(self) -> str:
        """The address as it is said to people and models; a stranger's redirect may be long."""
        return self.url if len(self.url) <= 200 else f"{self.url[:199]}…"

    @property
    def action(self) -> Network:
        """The request, as it is decided on."""
        return Network(self.host, self.port, url=self.url)


class Response(Struct, frozen=True):
    """What came back: `moved` names where a redirect leads; `cut` when there was more."""

    status: int
    kind: str
    charset: str
    body: bytes
    moved: str = ""
    cut: bool = False


def target(url: str) -> Target:
    """An address as it can be decided on; raises where it is none."""
    try:
        parts = urlsplit(url.strip())
        port = parts.port or _PORTS.get(parts.scheme, 0)
    except ValueError as error:
        raise _unusable(url, f"It is not an address: {error}.") from error
    if parts.scheme not in _PORTS:
        raise _unusable(url, "Only http and https can be fetched.")
    if parts.username is not None or parts.password is not None:
        raise _unusable(url, "It contains a name or password, which are not sent.")
    host = canonical_host(parts.hostname or "")
    if not host:
        raise _unusable(url, "It names no host.")
    bracketed = f"[{host}]" if ":" in host else host
    where = bracketed if port == _PORTS[parts.scheme] else f"{bracketed}:{port}"
    path = _plain((parts.path or "/") + (f"?{parts.query}" if parts.query else ""))
    whole = f"{parts.scheme}://{where}{path}"
    if len(whole) > LONGEST_URL:
        raise _unusable(whole, f"It is longer than {LONGEST_URL:,} characters.")
    return Target(whole, parts.scheme, host, port, path)


async def request(
    goal: Target,
    near: Sequence[str] = (),
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    body: bytes = b"",
    resolve: Resolve = look_up,
) -> Response:
    """One request and its answer. `near` are places out of bounds that a rule allows by name."""
    try:
        async with asyncio.timeout(SECONDS):
            found = await addresses(goal.host, goal.port, resolve, local=goal.place in near)
            return await _ask(goal, found[:TRIED], method, headers or {}, body)
    except NoWay as problem:
        raise ToolProblem(f"{goal.shown} was not fetched.", problem.why) from problem
    except TimeoutError:
        raise ToolProblem(f"{goal.shown} did not answer within {SECONDS:g} seconds.") from None


async def _ask(
    goal: Target, found: Sequence[str], method: str, headers: Mapping[str, str], body: bytes
) -> Response:
    import httpx2

    why = ""
    bracketed = f"[{goal.host}]" if ":" in goal.host else goal.host
    usual = goal.port == _PORTS[goal.scheme]
    sent = {
        "Host": bracketed if usual else f"{bracketed}:{goal.port}",
        "User-Agent": AGENT,
        "Accept": "text/html, text/markdown, text/plain, application/json, */*;q=0.1",
        "Accept-Encoding": "gzip, deflate",
        **headers,
    }
    async with httpx2.AsyncHTTPTransport(trust_env=False) as line:
        for address in found:
            place = f"[{address}]" if ":" in address else address
            asked = httpx2.Request(
                method,
                f"{goal.scheme}://{place}:{goal.port}{goal.path}",
                headers=sent,
                content=body or None,
                extensions={
                    "sni_hostname": goal.host,
                    "timeout": {"connect": 10.0, "read": SECONDS, "write": SECONDS},
                },
            )
            try:
                answer = await line.handle_async_request(asked)
            except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
                why = str(error) or "it did not answer"
                continue
            except (httpx2.HTTPError, ValueError) as error:
                raise ToolProblem(f"{goal.shown} was not fetched.", _words(error)) from error
            try:
                return await _read(goal, answer)
            except httpx2.HTTPError as error:
                what = f"The answer of {goal.host} broke off."
                raise ToolProblem(what, _words(error)) from error
            finally:
                await answer.aclose()
    raise ToolProblem(f"{goal.place} cannot be reached.", f"{visible_reason(why)}.")


async def _read(goal: Target, answer: object) -> Response:
    import httpx2

    assert isinstance(answer, httpx2.Response)
    kind, _, rest = answer.headers.get("content-type", "").partition(";")
    charset = rest.partition("charset=")[2].partition(";")[0].strip(" \"'")
    if answer.status_code in _MOVED and (to := answer.headers.get("location")):
        try:
            return Response(answer.status_code, "", "", b"", urljoin(goal.url, to))
        except ValueError as error:
            raise _unusable(to, "A redirect leads there, and it is not an address.") from error
    packed = answer.headers.get("content-encoding", "").strip().lower()
    if packed not in ("", "identity", *_PACKED):
        raise ToolProblem(
            f"{goal.shown} cannot be read.", f"It is packed with {quoted(packed, 20)}."
        )
    body, came, whole = bytearray(), 0, True
    unpack = _Unpacking(_PACKED[packed]) if packed in _PACKED else None
    async for piece in answer.aiter_raw(65536):
        room, came = MOST_BYTES - len(body), came + len(piece)
        try:
            body += unpack.feed(piece, room + 1) if unpack else piece[: room + 1]
        except zlib.error as error:
            raise ToolProblem(f"{goal.shown} cannot be read.", "It is packed wrongly.") from error
        if max(len(body), came) > MOST_BYTES:  # much may come that unpacks to nothing
            whole = False
            break
    whole = whole and (unpack is None or unpack.whole)
    return Response(
        answer.status_code,
        kind.strip().lower(),
        charset.lower(),
        bytes(body[:MOST_BYTES]),
        cut=not whole,
    )


class _Unpacking:
    """Unpacks pieces of a body: every member of a gzip, and both forms of `deflate`."""

    def __init__(self, form: int) -> None:
        self._form = form
        self._member = zlib.decompressobj(form)
        self._begun = False

    @property
    def whole(self) -> bool:
        """Whether nothing was cut off."""
        return self._member.eof or not self._begun

    def feed(self, piece: bytes, most: int) -> bytes:
        """What a piece unpacks to; the rest of it is not looked at when that is too much."""
        made = bytearray()
        while piece and len(made) < most:
            if self._member.eof:
                if self._form != _PACKED["gzip"] or not _GZIP.startswith(piece[:2]):
                    break  # what follows is no part of it; browsers ignore it, too
                self._member, self._begun = zlib.decompressobj(self._form), False
            made += self._unpacked(piece, most - len(made))
            piece, self._begun = self._member.unused_data, True
        return bytes(made)

    def _unpacked(self, piece: bytes, most: int) -> bytes:
        try:
            return self._member.decompress(piece, most)
        except zlib.error:
            if self._begun or self._form != _PACKED["deflate"]:
                raise
            self._form, self._member = _RAW, zlib.decompressobj(_RAW)
            return self._member.decompress(piece, most)


def _plain(path: str) -> str:
    """A path and query in the letters that a request may contain."""
    return quote(path, safe="/?#[]@!$&'()*+,;=:%-._~")


def visible_reason(why: str) -> str:
    """Why a connection failed, as text of others may be shown."""
    return quoted(why, 200).strip('"').rstrip(".") or "it did not answer"


def _words(error: Exception) -> str:
    """What went wrong; the library's own words would quote what a stranger's server sent."""
    import httpx2

    match error:
        case httpx2.RemoteProtocolError():
            return "The server does not answer as HTTP asks."
        case httpx2.TimeoutException():
            return "It took too long."
    return "The connection failed."


def _unusable(url: str, why: str) -> ToolProblem:
    return ToolProblem(
        f"{quoted(url, 120)} cannot be fetched.", why, "Pass a whole address: https://host/path."
    )
