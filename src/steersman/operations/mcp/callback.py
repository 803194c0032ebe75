"""Where a browser comes back to after a person has signed in: a listener on this machine alone.

It gets one answer: the one that brings the `state` of the sign-in that was begun. Whatever else
comes is refused and changes nothing.
"""

import asyncio
import re
from contextlib import suppress
from secrets import compare_digest
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from msgspec import Struct

from steersman.records.errors import UsageProblem

HOST = "127.0.0.1"
PATH = "/callback"
LONGEST = 32 * 1024
READING = 10.0  # seconds for a browser to say what it wants
CODE = re.compile(r"[a-z_]{1,60}")
PAGE = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Steersman</title>
<body style="font-family: sans-serif; margin: 4em"><p>{said}</p></body></html>
"""
DONE = "You are back. The terminal says whether the sign-in worked; this page can be closed."
NOT_OURS = "This answer does not belong to the sign-in that was started."


class Answer(Struct, frozen=True):
    """What the browser brought; `refused` is the code of an error instead."""

    code: str = ""
    state: str = ""
    issuer: str | None = None
    refused: str = ""

    def __repr__(self) -> str:
        """Without the code, which is worth a token."""
        return f"Answer(refused={self.refused!r})"


class Callback:
    """The listener: `async with Callback(port) as callback`."""

    def __init__(self, port: int = 0) -> None:
        self._port = port
        self._state = ""
        self._answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> "Callback":
        try:
            self._server = await asyncio.start_server(
                self._serve, HOST, self._port, limit=LONGEST, reuse_address=True
            )
        except OSError as error:
            raise UsageProblem(
                f"Cannot listen at {HOST}:{self._port}.",
                f"Reason: {error.strerror or type(error).__name__}.",
                "Choose another port with --port.",
            ) from None
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        assert self._server is not None
        self._server.close()
        self._answer.cancel()

    @property
    def address(self) -> str:
        """Where the browser is to come back to."""
        assert self._server is not None
        return f"http://{HOST}:{self._server.sockets[0].getsockname()[1]}{PATH}"

    def expect(self, state: str) -> None:
        """Wait for the answer with this state."""
        self._state = state
        if self._answer.done():
            self._answer = asyncio.get_running_loop().create_future()

    async def answer(self) -> Answer:
        """The answer, when it has come."""
        return await asyncio.shield(self._answer)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            async with asyncio.timeout(READING):
                head = await reader.readuntil(b"\r\n\r\n")
                status, said = self._take(head.split(b"\r\n", 1)[0].decode("latin-1"))
                writer.write(_response(status, said))
                await writer.drain()
        except (OSError, TimeoutError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            pass
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    def _take(self, line: str) -> tuple[str, str]:
        """What to say to a request, whose answer is kept if it is the one."""
        method, _, rest = line.partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != PATH:
            return "404 Not Found", NOT_OURS
        fields = {name: values[0] for name, values in parse_qs(target.query).items()}
        state = fields.get("state", "")
        if not self._state or not compare_digest(state.encode(), self._state.encode()):
            return "400 Bad Request", NOT_OURS
        if not self._answer.done():
            refused = fields.get("error", "")
            if refused and not CODE.fullmatch(refused):
                refused = "unknown_error"
            self._answer.set_result(
                Answer(fields.get("code", ""), state, fields.get("iss"), refused)
            )
        return "200 OK", DONE


def _response(status: str, said: str) -> bytes:
    body = PAGE.format(said=said).encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\n"
        f"content-length: {len(body)}\r\ncache-control: no-store\r\n"
        "referrer-policy: no-referrer\r\n"
        "content-security-policy: default-src 'none'; style-src 'unsafe-inline'\r\n"
        "connection: close\r\n\r\n"
    )
    return head.encode() + body
