"""What goes to and comes from a server, looked at on its way: fixed, counted, kept within bounds.

Every transport passes its messages through here, so the bounds hold whichever is used.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from mcp_types import PROTOCOL_VERSION_META_KEY as VERSION
from mcp_types import JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from steersman.operations.mcp.repair import (
    repair_call,
    repair_discovery,
    repair_greeting,
    repair_tools,
)
from steersman.records.counting import counted

PASSED_ON = ("notifications/cancelled", "notifications/subscriptions/acknowledged")
PROGRESS = "notifications/progress"
CHANGED = "notifications/tools/list_changed"
UNASKED = 50_000  # messages nobody asked for that may come at once
UNASKED_RATE = 1000  # and how many more in every second
PROGRESS_BURST = 200  # of them, words of progress that are passed on at once
PROGRESS_RATE = 50
GARBAGE = 1000  # lines in a row that are not messages
MOST_ASKED = 10_000


class Delivery:
    """Whether a request may have reached the server; only one that surely did not is sent again."""

    begun = False


DELIVERY: ContextVar[Delivery | None] = ContextVar("delivery", default=None)


@contextmanager
def following() -> Iterator[Delivery]:
    """Follow the requests that are sent within."""
    delivery = Delivery()
    token = DELIVERY.set(delivery)
    try:
        yield delivery
    finally:
        DELIVERY.reset(token)


class Misbehaves(Exception):
    """A server that goes beyond what is bearable; the text says how."""


class Allowance:
    """So many at once, and so many more in every second."""

    def __init__(self, burst: int, rate: float, clock: Callable[[], float]) -> None:
        self._burst = burst
        self._rate = rate
        self._clock = clock
        self._left = float(burst)
        self._looked = clock()

    def take(self) -> bool:
        """Take one; False when there is none left."""
        now = self._clock()
        self._left = min(self._burst, self._left + (now - self._looked) * self._rate)
        self._looked = now
        if self._left < 1:
            return False
        self._left -= 1
        return True


class Traffic:
    """The messages of one life of a server; `changed` is called when its list of tools is."""

    def __init__(
        self,
        changed: Callable[[], None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.ended = asyncio.Event()  # nothing will come any more
        self.trouble = ""  # why, when the server is to blame
        self.status = 0  # the last status of HTTP that said no
        self.sign_in = ""  # why a person is to sign in, when the server wants that
        self.heard = 0
        self.garbage = 0
        self.remarks: dict[str, str] = {}  # what was wrong, by the name of the tool
        self._row = 0
        self._asked: dict[str | int, tuple[str, bool]] = {}
        self._changed = changed
        self._unasked = Allowance(UNASKED, UNASKED_RATE, clock)
        self._progress = Allowance(PROGRESS_BURST, PROGRESS_RATE, clock)

    def close(self, trouble: str = "") -> None:
        """Nothing will come any more; the first reason is the one that is reported."""
        if not self.ended.is_set():
            self.trouble = trouble
            self.ended.set()

    def says(self, message: JSONRPCMessage) -> None:
        """Look at a message to the server."""
        if isinstance(message, JSONRPCRequest):
            meta = (message.params or {}).get("_meta")
            modern = isinstance(meta, dict) and VERSION in meta
            if len(self._asked) >= MOST_ASKED:
                del self._asked[next(iter(self._asked))]
            self._asked[message.id] = message.method, modern
        if (delivery := DELIVERY.get()) is not None:
            delivery.begun = True

    def hears(self, message: JSONRPCMessage) -> bool:
        """Look at a message from the server and fix it; False when nobody needs it."""
        self.heard += 1
        self._row = 0
        if isinstance(message, JSONRPCResponse):
            message.result = self._repaired(message)
            return True
        if isinstance(message, JSONRPCNotification | JSONRPCRequest):
            if not self._unasked.take():
                raise Misbehaves(f"It sent more than {UNASKED:,} unrequested messages.")
            return isinstance(message, JSONRPCRequest) or self._wanted(message.method)
        self._asked.pop(message.id if message.id is not None else "", None)
        return True

    def rubbish(self) -> None:
        """Something came that is not a message."""
        self.garbage += 1
        self._row += 1
        if self._row >= GARBAGE:
            raise Misbehaves(
                f"It printed {counted(self._row, 'line')} in a row that are not messages."
            )

    def _repaired(self, message: JSONRPCResponse) -> dict[str, Any]:
        method, modern = self._asked.pop(message.id, ("", False))
        match method:
            case "tools/list":
                result, remarks = repair_tools(message.result, modern=modern)
                self.remarks.update(remarks)
                return result
            case "tools/call":
                return repair_call(message.result, modern=modern)
            case "initialize":
                return repair_greeting(message.result)
            case "server/discover":
                return repair_discovery(message.result)
            case _:
                return message.result

    def _wanted(self, method: str) -> bool:
        """True for a notification that the library needs; most are of no use to anyone here."""
        if method == CHANGED:
            self._changed()
            return False
        return method in PASSED_ON or (method == PROGRESS and self._progress.take())
