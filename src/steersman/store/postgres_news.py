"""News between the processes of many machines: LISTEN and NOTIFY, and a slow look behind it."""

import asyncio
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import psycopg
from psycopg.pq.abc import PGresult

from steersman.records.errors import SteersmanError
from steersman.store.contract import News
from steersman.store.listening import Collected, nowhere
from steersman.store.packets import Joined
from steersman.store.postgres_line import FAULTS, connect
from steersman.store.postgres_problems import unopened

Connection = psycopg.Connection[tuple[Any, ...]]
Called = tuple[Connection, bytes | None]
STORED, LIVE = "s", "l"
_LOOK_EVERY = 2.0
_MISSED_LOOKS = 3  # after so many without an answer the connection counts as lost
_LONGEST_PAUSE = 5.0
# Grows with everything that anyone writes to the server.
_LOOK = "SELECT pg_snapshot_xmax(pg_current_snapshot())"


@asynccontextmanager
async def listen(url: str, channel: str, own: str) -> AsyncIterator[News]:
    """Collect what other processes do until the end."""
    collected = Collected()
    try:
        called = await _call(url, channel)
    except FAULTS as error:
        raise unopened(url, error) from error
    task = asyncio.create_task(_follow(url, channel, called, own, collected))
    try:
        yield collected
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def _call(url: str, channel: str) -> Called:
    """A connection that listens; one that comes too late for whoever waited is closed."""
    calling = asyncio.get_running_loop().run_in_executor(None, _connected, url, channel)
    try:
        return await asyncio.shield(calling)
    except asyncio.CancelledError:
        calling.add_done_callback(_hang_up)
        raise


def _hang_up(calling: "asyncio.Future[Called]") -> None:
    if not calling.cancelled() and calling.exception() is None:
        calling.result()[0].close()


def _connected(url: str, channel: str) -> Called:
    connection = connect(url)
    try:
        connection.execute(f"LISTEN {channel}")
        seen = connection.execute(_LOOK).pgresult
    except BaseException:
        connection.close()
        raise
    return connection, _value(seen)


def _value(result: PGresult | None) -> bytes | None:
    return result.get_value(0, 0) if result is not None and result.ntuples else None


async def _follow(url: str, channel: str, called: Called, own: str, collected: Collected) -> None:
    """Listen, and again on a new connection whenever one is lost."""
    while True:
        hearing = _Hearing(*called, own, collected)
        try:
            await hearing.until_lost()
        finally:
            called[0].close()
        pause = 0.05
        while True:
            await asyncio.sleep(pause)
            try:
                called = await _call(url, channel)
            except (*FAULTS, SteersmanError):
                pause = min(pause * 2, _LONGEST_PAUSE)
            else:
                break
        collected.anything()


class _Hearing:
    """Reads what a server sends, as it comes, without waiting for it."""

    def __init__(
        self, connection: Connection, seen: bytes | None, own: str, collected: Collected
    ) -> None:
        self._server = connection.pgconn
        self._own = own
        self._collected = collected
        self._joined = Joined()
        self._unanswered = 0
        self._seen = seen

    async def until_lost(self) -> None:
        """Collect until the connection breaks."""
        loop = asyncio.get_running_loop()
        socket = self._server.socket
        lost = asyncio.Event()

        def readable() -> None:
            try:
                self._take()
            except psycopg.Error:
                self._collected.look = nowhere
                loop.remove_reader(socket)
                lost.set()

        loop.add_reader(socket, readable)
        self._collected.look = readable
        try:
            readable()  # what came before anyone listened
            while not lost.is_set() and self._unanswered <= _MISSED_LOOKS:
                self._look()
                with suppress(TimeoutError):
                    async with asyncio.timeout(_LOOK_EVERY):
                        await lost.wait()
        except psycopg.Error:
            return
        finally:
            self._collected.look = nowhere
            loop.remove_reader(socket)

    def _look(self) -> None:
        """Ask how far the server is, unless it has not even answered before."""
        if not self._unanswered:
            self._server.send_query(_LOOK.encode())
            self._server.flush()
        self._unanswered += 1

    def _take(self) -> None:
        self._server.consume_input()
        while note := self._server.notifies():
            self._note(note.extra.decode())
        while self._unanswered and not self._server.is_busy():
            result = self._server.get_result()
            if result is None:
                self._unanswered = 0
                return
            if (value := _value(result)) != self._seen:
                self._collected.anything()
                self._seen = value

    def _note(self, text: str) -> None:
        # Anyone who may use the database may send; what is not a message is ignored.
        with suppress(ValueError):
            kind, sender, rest = text.split(" ", 2)
            if sender == self._own:
                return
            if kind == STORED:
                self._collected.stored(rest)
            elif kind == LIVE and (whole := self._joined.add(sender, b64decode(rest))):
                self._collected.shown(*whole)
