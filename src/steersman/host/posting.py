"""What is asked of a thread through its inbox, for whichever process runs it."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from datetime import timedelta
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from steersman.records.clock import now
from steersman.records.errors import SteersmanError
from steersman.records.inbox import LATER, Asked, Request, Settled
from steersman.records.message import Message, RequestResult
from steersman.records.problem import Problem
from steersman.store.log import unbroken

if TYPE_CHECKING:
    from steersman.host.application import Host

TICK = 2.0  # seconds after which the owner of a request is looked for again


class By(Struct, frozen=True):
    """In whose name something is asked. What has the same `request` is done once."""

    sender: str
    request: str = ""


class Inbox:
    """Asks a thread through its inbox, and learns what became of it."""

    def __init__(self, host: "Host", thread: str, by: By | None = None) -> None:
        self._host = host
        self._thread = thread
        self._by = by or By("")

    async def outcome(
        self, request: Request, head: int, someone: Callable[[], Awaitable[object]]
    ) -> Any:
        """What came of a request that was posted when the thread had `head` messages.

        `someone` sees to it that a process runs the thread.
        """
        try:
            settled = await self._settled(request, someone)
        except BaseException as error:
            if self._by.request:
                raise  # it may be asked again
            # Whoever asked learns that it failed, so it must not be done later.
            settled = await unbroken(asyncio.to_thread(self._host.store.expire, request.id))
            if settled.outcome == "expired" or not isinstance(error, SteersmanError):
                raise
        if settled.outcome != "taken":
            raise _problem(settled)
        if settled.result != LATER:
            return settled.result
        if self._by.request:  # it may have been asked before
            earlier = self._host.messages(self._thread, until=head, kinds={"request_result"})
            for message in await asyncio.to_thread(list, earlier):
                if message.corr == request.id:
                    return _result(message)
        return await self._came(request.id, head)

    async def post(self, asked: Asked) -> Request:
        """Put something into the inbox."""
        after = getattr(asked, "expires_after", None)
        expires = now() + timedelta(seconds=after) if after else None
        given = self._by.request
        what = type(asked).__name__  # one name for two kinds of requests is two names
        name = f"{self._thread}/{what}/{given}" if given else f"req_{token_hex(8)}"
        who = self._by.sender or sender()
        request = Request(name, self._thread, who, now(), asked, expires)
        await asyncio.to_thread(self._host.store.post, request)
        self._host.newsroom.wake(self._thread)
        return request

    async def _settled(self, request: Request, someone: Callable[[], Awaitable[object]]) -> Settled:
        """What became of a request: another process takes it, or this one in its place."""
        store = self._host.store
        while True:
            changed = asyncio.ensure_future(self._host.newsroom.change(self._thread, TICK))
            try:
                settled = await asyncio.to_thread(store.settled, request.id)
                if settled is None and request.expires and now() > request.expires:
                    settled = await asyncio.to_thread(store.expire, request.id)
                if settled is not None:
                    return settled
                states = await asyncio.to_thread(store.states, [self._thread])
                if self._thread not in states or states[self._thread].owner is None:
                    await someone()
                await changed
            finally:
                changed.cancel()

    async def _came(self, request: str, after: int) -> Any:
        """What came of work that a request began; the log says so when it is done."""
        async for message in self._host.follow(self._thread, after):
            if message.corr == request and message.kind == "request_result":
                return _result(message)
            if message.kind == "session_end":
                break
        raise SteersmanError("The process that carried it out ended before it was done.")


def _result(message: Message) -> Any:
    assert isinstance(message.body, RequestResult)
    if message.body.problem is not None:
        raise message.body.problem.error()
    return message.body.result


def _problem(settled: Settled) -> SteersmanError:
    """Why a request was not carried out."""
    if settled.outcome == "expired":
        return SteersmanError(
            "No process accepted the request in time, so it was not carried out.",
            try_this="`steer threads list` shows what runs.",
        )
    return msgspec.convert(settled.result, Problem).error()


def sender() -> str:
    """Who asks, in words, for the receipts of others."""
    import getpass
    import socket

    from steersman.store.redactor import readable

    try:
        name = getpass.getuser()
    except (KeyError, OSError):
        name = str(os.getuid())
    return readable(f"{name}@{socket.gethostname()} (pid {os.getpid()})")
