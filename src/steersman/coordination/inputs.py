"""Messages sent while a turn runs, and their receipts: each ends delivered, queued or withdrawn.

The log holds a receipt for every change, so the state of every input survives a crash.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import Literal

from msgspec import Struct

from steersman.records.call_ids import INPUT, fresh
from steersman.records.errors import TooLate
from steersman.records.inbox import Settled
from steersman.records.message import Body, InputState, Message, Steer, User
from steersman.store.cause import NO_CAUSE, Cause
from steersman.store.log import Draft, Lane, unbroken

How = Literal["steer", "queue"]


class Input(Struct, frozen=True):
    """One message of the user that has not been delivered or withdrawn."""

    id: str
    how: How
    state: InputState
    text: str


def new_input() -> str:
    """A name for something that the user says."""
    return fresh(INPUT)


class Inputs:
    """What the user has said that the model has not heard yet, oldest first."""

    def __init__(self, before: Callable[[], Awaitable[Sequence[Body]]] | None = None) -> None:
        self._before = before  # gives what the model is to know ahead of words in a turn
        self._open: dict[str, Input] = {}
        self._order = asyncio.Lock()

    def observe(self, messages: Iterable[Message]) -> None:
        """Take in receipts from the log."""
        for message in messages:
            if isinstance(message.body, Steer) and message.corr:
                self._apply(message.corr, message.body)

    def _apply(self, corr: str, receipt: Steer) -> None:
        if receipt.state in ("delivered", "withdrawn"):
            self._open.pop(corr, None)
            return
        known = self._open.get(corr)
        text = receipt.text or (known.text if known else "")
        self._open[corr] = Input(corr, receipt.how, receipt.state, text)

    def pending(self) -> list[Input]:
        """Everything not delivered, oldest first."""
        return list(self._open.values())

    def _in(self, state: InputState) -> list[Input]:
        """What is in a state, oldest first."""
        return [entry for entry in self._open.values() if entry.state == state]

    async def admit(
        self, text: str, how: How, lane: Lane, cause: Cause = NO_CAUSE, corr: str = ""
    ) -> str:
        """Take a message in: it waits for the next model call, or for the next turn."""
        corr = corr or new_input()
        state: InputState = "waiting" if how == "steer" else "queued"
        drafts = [*cause.taken(lane), lane.draft(Steer(state, how, text), corr)]
        await self._write(lambda: drafts, lane, cause.settled(corr))
        return corr

    async def hasten(self, corr: str, lane: Lane, cause: Cause = NO_CAUSE) -> None:
        """What was queued waits for the next model call instead."""
        await self._write(lambda: self._moved(corr, "waiting", lane, cause), lane, cause.settled())

    async def withdraw(self, corr: str, lane: Lane, cause: Cause = NO_CAUSE) -> None:
        """Withdraw a message before the model gets it."""
        await self._write(
            lambda: self._moved(corr, "withdrawn", lane, cause), lane, cause.settled()
        )

    def _moved(self, corr: str, state: InputState, lane: Lane, cause: Cause) -> list[Draft]:
        """The receipt by which a message that waits gets another state."""
        entry = self._open.get(corr)
        if entry is None:
            raise TooLate(f"No message {corr} is waiting: it was delivered or withdrawn.")
        return [*cause.taken(lane), lane.draft(Steer(state, entry.how), corr)]

    async def deliver(self, lane: Lane) -> list[Message]:
        """Hand over what waits for the next model call."""
        if not self._in("waiting"):
            return []
        before = await self._before() if self._before is not None else ()

        def words() -> list[Draft]:
            made = [d for entry in self._in("waiting") for d in _delivery(entry, lane, "steer")]
            return [*map(lane.draft, before), *made] if made else []

        return await self._write(words, lane)

    async def deliver_next(self, lane: Lane) -> list[Message]:
        """Hand over the oldest queued message as the prompt of a turn."""
        return await self._write(
            lambda: [d for e in self._in("queued")[:1] for d in _delivery(e, lane, "queue")], lane
        )

    async def requeue(self, lane: Lane) -> None:
        """A turn ended without another model call: what waited for one is queued."""
        await self._write(
            lambda: [lane.draft(Steer("queued", e.how), e.id) for e in self._in("waiting")], lane
        )

    async def _write(
        self, choose: Callable[[], list[Draft]], lane: Lane, settled: Sequence[Settled] = ()
    ) -> list[Message]:
        """Log receipts and take them in, one after the other: what is chosen is as the log says.

        A cancelled caller waits: what the log says happened to a message has happened.
        """
        return await unbroken(self._log(choose, lane, settled))

    async def _log(
        self, choose: Callable[[], list[Draft]], lane: Lane, settled: Sequence[Settled]
    ) -> list[Message]:
        async with self._order:
            drafts = choose()
            messages = await lane.log.append(*drafts, settled=settled) if drafts else []
            self.observe(messages)
            return messages


def _delivery(entry: Input, lane: Lane, via: How) -> list[Draft]:
    receipt = lane.draft(Steer("delivered", entry.how), entry.id)
    return [receipt, lane.draft(User(entry.text, via=via), entry.id)]
