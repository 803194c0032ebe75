"""Calls that wait for a client's next request: how a server asks something in the newer era.

There the server cannot send requests of its own. It answers a call with what it needs and a word
for the call's state; the client sends the call again with the answers and that word. The call
itself waits here meanwhile. The word is a random name that nobody can guess or make up.
"""

import asyncio
from collections.abc import Callable, Mapping
from secrets import token_urlsafe
from typing import Any

from msgspec import Struct

from steersman.ports.mcp.offer import Asked, Ongoing

LONGEST = 600.0  # seconds that an answer is waited for
MOST = 8  # calls that wait at once; the oldest gives way


class Unknown(Exception):
    """No call waits under that word, or not this one."""


class Waiting(Struct, frozen=True):
    """A call, what it was asked for, and what it still needs."""

    call: Ongoing
    tool: str
    arguments: Mapping[str, Any]
    asked: Mapping[str, Asked]
    expiry: asyncio.TimerHandle


class Rounds:
    """The calls that wait."""

    def __init__(self, longest: float = LONGEST) -> None:
        self._longest = longest
        self._waiting: dict[str, Waiting] = {}
        self._ending: set[asyncio.Task[None]] = set()

    def suspend(
        self, call: Ongoing, tool: str, arguments: Mapping[str, Any], asked: Mapping[str, Asked]
    ) -> str:
        """Keep a call; the answer is the word for it."""
        while len(self._waiting) >= MOST:
            self._expire(next(iter(self._waiting)))
        word = token_urlsafe(24)
        loop = asyncio.get_running_loop()
        expiry = loop.call_later(self._longest, self._expire, word)
        self._waiting[word] = Waiting(call, tool, arguments, asked, expiry)
        return word

    def resume(self, word: str, tool: str, arguments: Mapping[str, Any]) -> Waiting:
        """The call that waits under a word, which holds only once; it must be the same call."""
        waiting = self._waiting.get(word)
        if waiting is None or (waiting.tool, waiting.arguments) != (tool, arguments):
            raise Unknown
        del self._waiting[word]
        waiting.expiry.cancel()
        return waiting

    def _expire(self, word: str) -> None:
        waiting = self._waiting.pop(word, None)
        if waiting is not None:
            waiting.expiry.cancel()
            self._end(waiting.call.cancel)

    def _end(self, cancel: Callable[[], Any]) -> None:
        task = asyncio.ensure_future(cancel())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End whatever waits."""
        for word in list(self._waiting):
            self._expire(word)
        if self._ending:
            await asyncio.wait(set(self._ending))
