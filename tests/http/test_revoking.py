"""A stream ends when its token does, without waiting for its next heartbeat."""

import asyncio
import threading
from collections.abc import AsyncGenerator
from datetime import timedelta
from typing import Any

import pytest

from steersman.host import Host
from steersman.host.desk import Desk
from steersman.host.tokens import Guard, Holder, Tickets, Token, Tokens
from steersman.ports.http.asgi import Receive, Scope, Send
from steersman.ports.http.door import UNAUTHORIZED, Door
from steersman.ports.http.frames import Frame
from steersman.ports.http.streams import Streams
from tests.hooks.kit import play

NEVER = 24 * 3600.0  # seconds between two heartbeats
PATIENCE = 20


async def quiet() -> AsyncGenerator[Frame, None]:
    """A thread in which nothing happens."""
    await asyncio.Event().wait()
    yield Frame("never", b"")  # type: ignore[arg-type]


async def last_frame(environ: dict[str, str], tokens: Tokens, host: Host, made: Token) -> bytes:
    """What a reader with a token gets last, from a server without heartbeats."""

    async def still(caller: Holder) -> bool:
        return any(one.id == caller.token and one.valid for one in tokens.all())

    shown: list[bytes] = []

    async def put(frame: Frame) -> None:
        shown.append(frame.sse())

    streams = Streams(Desk(host, environ, {}), still, NEVER)
    reader = asyncio.get_running_loop().create_future()
    serving = asyncio.create_task(streams.serve(quiet(), put, reader, made.holder))
    await asyncio.sleep(0)
    if made.expires is None:
        tokens.revoke(made.id)
    async with asyncio.timeout(PATIENCE):
        await serving
    return shown[-1]


@pytest.mark.parametrize("lasts", [None, timedelta(milliseconds=100)])
def test_a_reader_is_told_that_its_token_has_ended(
    environ: dict[str, str], lasts: timedelta | None
) -> None:
    async def scenario(host: Host) -> bytes:
        tokens = Tokens(host)
        made, _ = tokens.make("guest", lasts=lasts)
        return await last_frame(environ, tokens, host, made)

    assert b"the token is not valid any more" in play(environ, scenario)


class Held(Tokens):
    """Tokens of which one look takes as long as a test wants."""

    def __init__(self, host: Host) -> None:
        super().__init__(host)
        self.read, self.go_on = threading.Event(), threading.Event()

    def all(self) -> list[Token]:
        found = super().all()
        self.read.set()
        assert self.go_on.wait(PATIENCE)
        return found


def test_a_token_that_is_made_during_a_look_is_valid(environ: dict[str, str]) -> None:
    async def scenario(host: Host) -> bool:
        tokens, held = Tokens(host), Held(host)
        guard = Guard(held)
        old, _ = tokens.make("old")
        first = asyncio.create_task(guard.ended(old.holder))
        assert await asyncio.to_thread(held.read.wait, PATIENCE)
        new, _ = tokens.make("new")
        second = asyncio.create_task(guard.ended(new.holder))
        await asyncio.sleep(0)
        tokens.revoke(old.id)
        held.go_on.set()
        async with asyncio.timeout(PATIENCE):
            await first
        still = not second.done()
        second.cancel()
        return still

    assert play(environ, scenario)


def test_when_tokens_cannot_be_understood_streams_end(environ: dict[str, str]) -> None:
    async def scenario(host: Host) -> None:
        tokens = Tokens(host)
        made, _ = tokens.make("guest")
        guard = Guard(tokens)
        for spoilt in ("[", '[{"id": 1}]'):
            ended = asyncio.create_task(guard.ended(made.holder))
            await asyncio.sleep(0)
            host.store.remember("host", "tokens", spoilt)
            async with asyncio.timeout(PATIENCE):
                await ended

    play(environ, scenario)


def test_a_socket_is_not_opened_with_a_token_that_was_valid_a_moment_ago() -> None:
    """A request is let in by what was known then; a socket would last."""
    entered, said = list[str](), list[Any]()

    async def app(scope: Scope, _: Receive, __: Send) -> None:
        entered.append(scope["type"])

    async def shown(_: str) -> Holder:
        return Holder("guest", token="0")

    async def still(_: Holder) -> bool:
        return False

    async def receive() -> Any:
        return {"type": "websocket.connect"}

    async def send(message: Any) -> None:
        said.append(message)

    door = Door(
        app, hosts=["box"], origins=[], token="own", shown=shown, still=still, tickets=Tickets()
    )
    headers = [(b"host", b"box"), (b"authorization", b"Bearer guest")]
    same = {"method": "GET", "path": "/", "query_string": b"", "headers": headers}
    for kind in ("http", "websocket"):
        asyncio.run(door({"type": kind, **same}, receive, send))
    assert entered == ["http"]
    assert said[-1]["code"] == UNAUTHORIZED
