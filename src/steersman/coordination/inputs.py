"""Messages sent while a turn runs, and their receipts: each ends delivered, queued or withdrawn.

The log holds a receipt for every change, so the state of every input survives a crash.
"""

from collections.abc import Iterable, Sequence
from secrets import token_hex
from typing import Literal

from msgspec import Struct

from steersman.records.errors import TooLate
from steersman.records.inbox import Settled
from steersman.records.message import InputState, Message, Steer, User
from steersman.store.cause import NO_CAUSE, Cause
from steersman.store.log import Draft, Lane, unbroken

How = Literal["steer", "queue"]


class Input(Struct, frozen=True):
    """One message of the person that has not been delivered or withdrawn."""

    id: str
    how: How
    state: InputState
    text: str


class Inputs:
    """What the person has said that the model has not heard yet, oldest first."""

    def __init__(self) -> None:
        self._open: dict[str, Input] = {}
        self._leaving: set[str] = set()

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
        """What is in a state, oldest first, unless it is just being written out of it."""
        return [e for e in self._open.values() if e.state == state and e.id not in self._leaving]

    async def admit(self, text: str, how: How, lane: Lane, cause: Cause = NO_CAUSE) -> str:
        """Take a message in: it waits for the next model call, or for the next turn."""
        corr = f"in_{token_hex(4)}"
        state: InputState = "waiting" if how == "steer" else "queued"
        drafts = [*cause.taken(lane), lane.draft(Steer(state, how, text), corr)]
        await self._write(drafts, lane, cause.settled(corr))
        return corr

    async def withdraw(self, corr: str, lane: Lane, cause: Cause = NO_CAUSE) -> None:
        """Take a message back before the model hears it."""
        entry = self._open.get(corr)
        if entry is None or corr in self._leaving:
            raise TooLate(f"No message {corr} is waiting: it was delivered or withdrawn.")
        drafts = [*cause.taken(lane), lane.draft(Steer("withdrawn", entry.how), corr)]
        await self._write(drafts, lane, cause.settled())

    async def deliver(self, lane: Lane) -> list[Message]:
        """Hand over what waits for the next model call."""
        waiting = self._in("waiting")
        drafts = [draft for entry in waiting for draft in _delivery(entry, lane, "steer")]
        return await self._write(drafts, lane)

    async def deliver_next(self, lane: Lane) -> list[Message]:
        """Hand over the oldest queued message as the prompt of a turn."""
        queued = self._in("queued")[:1]
        drafts = [draft for entry in queued for draft in _delivery(entry, lane, "queue")]
        return await self._write(drafts, lane)

    async def requeue(self, lane: Lane) -> None:
        """A turn ended without another model call: what waited for one is queued."""
        waiting = self._in("waiting")
        drafts = [lane.draft(Steer("queued", entry.how), entry.id) for entry in waiting]
        await self._write(drafts, lane)

    async def _write(
        self, drafts: list[Draft], lane: Lane, settled: Sequence[Settled] = ()
    ) -> list[Message]:
        """Log receipts and take them in; nobody else may move these messages meanwhile.

        A cancelled caller waits: what the log says happened to a message has happened.
        """
        leaving = {draft.corr for draft in drafts if draft.corr} - self._leaving
        self._leaving |= leaving
        return await unbroken(self._log(drafts, leaving, lane, settled))

    async def _log(
        self, drafts: list[Draft], leaving: set[str], lane: Lane, settled: Sequence[Settled]
    ) -> list[Message]:
        try:
            messages = await lane.log.append(*drafts, settled=settled) if drafts else []
            self.observe(messages)
            return messages
        finally:
            self._leaving -= leaving


def _delivery(entry: Input, lane: Lane, via: How) -> list[Draft]:
    receipt = lane.draft(Steer("delivered", entry.how), entry.id)
    return [receipt, lane.draft(User(entry.text, via=via), entry.id)]
