"""Messages sent while a turn runs, and their receipts: each ends delivered, queued or withdrawn.

The log holds a receipt for every change, so the state of every input survives a crash.
"""

from collections.abc import Iterable
from secrets import token_hex
from typing import Literal

from msgspec import Struct

from steersman.errors import UsageProblem
from steersman.message import InputState, Message, Steer, User
from steersman.store.log import Draft, Lane

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

    async def admit(self, text: str, how: How, lane: Lane) -> str:
        """Take a message in: it waits for the next model call, or for the next turn."""
        corr = f"in_{token_hex(4)}"
        state: InputState = "waiting" if how == "steer" else "queued"
        self.observe(await lane.append(Steer(state, how, text), corr=corr))
        return corr

    async def withdraw(self, corr: str, lane: Lane) -> None:
        """Take a message back before the model hears it."""
        entry = self._open.get(corr)
        if entry is None:
            raise UsageProblem(f"No message {corr} is waiting: it was delivered or withdrawn.")
        self.observe(await lane.append(Steer("withdrawn", entry.how), corr=corr))

    async def deliver(self, lane: Lane) -> list[Message]:
        """Hand over what waits for the next model call."""
        waiting = [entry for entry in self.pending() if entry.state == "waiting"]
        drafts = [draft for entry in waiting for draft in _delivery(entry, lane, "steer")]
        messages = await lane.log.append(*drafts) if drafts else []
        self.observe(messages)
        return messages

    async def deliver_next(self, lane: Lane) -> list[Message]:
        """Hand over the oldest queued message as the prompt of a turn."""
        queued = [entry for entry in self.pending() if entry.state == "queued"]
        if not queued:
            return []
        messages = await lane.log.append(*_delivery(queued[0], lane, "queue"))
        self.observe(messages)
        return messages

    async def requeue(self, lane: Lane) -> None:
        """A turn ended without another model call: what waited for one is queued."""
        waiting = [entry for entry in self.pending() if entry.state == "waiting"]
        drafts = [lane.draft(Steer("queued", entry.how), entry.id) for entry in waiting]
        if drafts:
            self.observe(await lane.log.append(*drafts))


def _delivery(entry: Input, lane: Lane, via: How) -> list[Draft]:
    receipt = lane.draft(Steer("delivered", entry.how), entry.id)
    return [receipt, lane.draft(User(entry.text, via=via), entry.id)]
