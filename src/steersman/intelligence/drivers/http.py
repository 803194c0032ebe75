"""One request to a model over HTTP: sent, streamed, timed, and closed whatever happens.

What is said in it belongs to the formats; what went wrong is put into words in `problems`.
"""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

import msgspec

from steersman import __version__
from steersman.intelligence.drivers.answers import Broken, Reader
from steersman.intelligence.drivers.endpoint import Endpoint
from steersman.intelligence.drivers.events import Events, Patience
from steersman.intelligence.drivers.failures import read_failure
from steersman.intelligence.drivers.line import Line, LineError, Reply
from steersman.intelligence.drivers.network import masked, of_transport, proxy_of
from steersman.intelligence.drivers.problems import (
    Where,
    blind,
    dropped,
    no_first_token,
    not_an_api,
    of_failure,
    of_status,
    seen,
    stalled,
    unreadable,
)
from steersman.records.dialogue import Event, Prompt, UserItem
from steersman.records.errors import DriverProblem

if TYPE_CHECKING:
    from steersman.intelligence.drivers.proxied import ProxiedLine

LARGEST_ERROR = 256 * 1024
TAIL_SECONDS = 0.25
BREATH = 256  # deltas after which others get their turn, however fast they come


class Format(Protocol):
    """How one provider is spoken to."""

    def url(self, name: str, endpoint: Endpoint) -> str:
        """Where requests go."""
        ...

    def models_url(self, endpoint: Endpoint) -> str:
        """Where the models are listed."""
        ...

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The headers that name and authorise us."""
        ...

    def body(self, prompt: Prompt, name: str, endpoint: Endpoint) -> bytes:
        """A request; the same conversation always gives the same bytes, the newest last."""
        ...

    def reader(self, name: str) -> Reader:
        """Who understands the answer."""
        ...


class HttpDriver:
    """A model behind an address; keeps its connection between requests."""

    def __init__(self, name: str, endpoint: Endpoint, form: Format) -> None:
        self.model = f"{endpoint.provider}:{name}"
        self._name = name
        self._endpoint = endpoint
        self._form = form
        self._line: Line | ProxiedLine | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

    async def stream(self, prompt: Prompt) -> AsyncGenerator[Event, None]:
        """Ask for one answer; closing the iterator ends the request at once."""
        prompt = self._in_words(prompt)
        reader = self._form.reader(self._name)
        patience = Patience(self._endpoint)
        response = await self._send(prompt, patience)
        chunks = response.pieces()
        try:
            self._check_kind(response)
            events = Events()
            shown = 0
            while not reader.done:
                chunk = await self._next(chunks, patience, reader)
                if chunk is None:
                    break
                data = chunk
                try:
                    for data in events.feed(chunk):
                        for delta in reader.take(data):
                            yield delta
                            shown += 1
                            if shown % BREATH == 0:
                                await asyncio.sleep(0)
                except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
                    raise unreadable(self._where(), data, str(error)) from error
                except Broken as broken:
                    raise self._told(broken.data) from broken
            if reader.done:
                await tail(chunks)
            elif not reader.whole:
                raise self._cut(events, reader)
        finally:
            patience.end()
            await chunks.aclose()
            await response.aclose()
        yield reader.completed()

    async def aclose(self) -> None:
        """Close connections that are kept for the next request."""
        line, self._line = self._line, None
        if line is not None and self._loop is asyncio.get_running_loop():
            await line.aclose()

    def _where(self, proxy: str = "") -> Where:
        return Where(self._endpoint.label, self._name, self._endpoint.base_url, proxy)

    def _in_words(self, prompt: Prompt) -> Prompt:
        """A prompt for a model that sees nothing: older pictures are named, a new one is refused.

        So a thread that was begun with another model continues.
        """
        said = [item for item in prompt.items if isinstance(item, UserItem)]
        if self._endpoint.sees is not False or not any(item.images for item in said):
            return prompt
        if said[-1].images:
            raise blind(self._where())
        items = [
            UserItem(f"{item.text}\n[a picture that you cannot see]", item.steer)
            if isinstance(item, UserItem) and item.images
            else item
            for item in prompt.items
        ]
        return Prompt(prompt.system, prompt.tools, items, prompt.schema)

    def _open(self) -> "Line | ProxiedLine":
        """The line of this event loop; connections cannot move to another."""
        loop = asyncio.get_running_loop()
        if self._line is None or self._loop is not loop:
            self._line = line_for(self._endpoint)
            self._loop = loop
        return self._line

    async def _post(self, body: bytes) -> Reply:
        endpoint = self._endpoint
        headers = {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"steersman/{__version__}",
        }
        headers |= self._form.headers(endpoint) | endpoint.headers
        url = self._form.url(self._name, endpoint)
        return await self._open().post(url, headers, body, endpoint.timeouts.connect)

    async def _send(self, prompt: Prompt, patience: Patience) -> Reply:
        body = self._form.body(prompt, self._name, self._endpoint)
        try:
            response = await patience.wait(self._post(body), begun=False)
        except TimeoutError as error:
            seconds = self._endpoint.timeouts.first_token
            raise no_first_token(self._where(), seconds) from error
        except LineError as error:
            where = self._where(masked(proxy_of(self._endpoint)))
            place = "before the answer started"
            raise of_transport(where, error, place=place, answered=False) from error
        if response.status != 200:
            patience.end()
            raise await self._refused(response)
        return response

    async def _refused(self, response: Reply) -> DriverProblem:
        body = await whole(response)
        where = self._where(masked(proxy_of(self._endpoint)))
        return of_status(where, response.status, response.headers, body)

    def _check_kind(self, response: Reply) -> None:
        kind = response.headers.get("content-type", "")
        if "html" in kind:
            raise not_an_api(self._where(), f"It answered with {seen({}, b'<html')}.")

    def _told(self, data: bytes) -> DriverProblem:
        failure = read_failure(data)
        if failure is None:
            return unreadable(self._where(), data, "An error without a message")
        return of_failure(self._where(), failure)

    async def _next(
        self, chunks: AsyncIterator[bytes], patience: Patience, reader: Reader
    ) -> bytes | None:
        """The next bytes, or None at the end of the stream."""
        try:
            return await patience.wait(anext(chunks, None), begun=reader.begun)
        except TimeoutError as error:
            timeouts = self._endpoint.timeouts
            if not reader.begun:
                raise no_first_token(self._where(), timeouts.first_token) from error
            place = reader.place()
            raise stalled(self._where(), timeouts.between_tokens, place) from error
        except LineError as error:
            if reader.whole:
                return None
            place = reader.place()
            raise of_transport(self._where(), error, place=place, answered=True) from error

    def _cut(self, events: Events, reader: Reader) -> DriverProblem:
        """The stream ended too soon, or never was one."""
        rest = events.rest.strip()
        if not events.any and rest:
            failure = read_failure(rest)
            if failure is not None:
                return of_failure(self._where(), failure)
            return not_an_api(self._where(), f"It answered with {seen({}, rest)}.")
        return dropped(self._where(), reader.place())


def line_for(endpoint: Endpoint) -> "Line | ProxiedLine":
    """A line to an endpoint, through the proxy that stands before it, if one does."""
    proxy = proxy_of(endpoint)
    if not proxy:
        return Line()
    from steersman.intelligence.drivers.proxied import ProxiedLine

    return ProxiedLine(proxy)


async def tail(chunks: AsyncIterator[bytes]) -> None:
    """Read the end of a stream that has said everything, so that its connection can be kept."""
    with suppress(LineError, TimeoutError):
        async with asyncio.timeout(TAIL_SECONDS):
            async for _ in chunks:
                pass


async def whole(response: Reply) -> bytes:
    """The body of an error, as much of it as anyone would read."""
    body = b""
    try:
        with suppress(LineError, TimeoutError):
            async with asyncio.timeout(10):
                async for chunk in response.pieces():
                    body += chunk
                    if len(body) > LARGEST_ERROR:
                        break
    finally:
        await response.aclose()
    return body


def bearer(endpoint: Endpoint) -> dict[str, str]:
    """The key as most servers want it; none where there is none."""
    return {"authorization": f"Bearer {endpoint.key}"} if endpoint.key else {}


class OpenAI:
    """What the formats of OpenAI have in common."""

    def models_url(self, endpoint: Endpoint) -> str:
        """Where the models are listed."""
        return f"{endpoint.base_url}/models"

    def headers(self, endpoint: Endpoint) -> dict[str, str]:
        """The headers that name and authorise us."""
        return bearer(endpoint)
