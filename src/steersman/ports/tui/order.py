"""Keys in the order in which they came, also when many come at once.

Textual hands a letter to the field that has the keys, but looks up what another key means only
when that key has gone up from the field to the application. A letter behind it would overtake it,
and be in the field before the cursor moved, or the focus. So here each key has come to its end
before the next one begins. What a key means is not decided here.
"""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

from textual import events
from textual.app import App
from textual.message_pump import MessagePump

T = TypeVar("T")
ROUNDS = 2  # behind the key itself, then behind what it caused, such as a dialog that closes


class InOrder(App[T], Generic[T]):
    """An application in which no key overtakes another."""

    def __init__(self, *given: object, **named: object) -> None:
        super().__init__(*given, **named)  # type: ignore[arg-type]
        self._coming: deque[events.Event] = deque()
        self._busy: MessagePump | None = None  # what had the keys when the last one came
        self._turn = 0

    async def on_event(self, event: events.Event) -> None:
        """Let a key, or a paste, wait for the one before it."""
        ours = isinstance(event, events.Key | events.Paste) and not event.is_forwarded
        if not ours:
            await super().on_event(event)
            return
        if isinstance(event, events.Key) and event.key.startswith("alt+"):
            event.character = None  # a letter with Alt is a key, and types nothing
        self._coming.append(event)
        if self._busy is None or not self._busy.is_attached:  # what is gone tells nothing more
            await self._hand_over(self._turn)

    def typed(self, key: str) -> None:
        """A key, or text that was pasted, is about to be handed over."""

    async def _hand_over(self, turn: int) -> None:
        """Begin with the next key; a dialog that is just opening gets it when it is there."""
        if turn != self._turn:
            return
        self._turn += 1
        self._busy = (self.focused or self.screen) if self._coming else None
        if self._busy is None:
            return
        start = self._busy
        if self.screen.is_mounted:
            event = self._coming.popleft()
            self.typed(event.key if isinstance(event, events.Key) else "")
            await super().on_event(event)
        self._follow(start, start, ROUNDS, self._turn)

    def _follow(self, node: MessagePump | None, start: MessagePump, rounds: int, turn: int) -> None:
        """Go the way of a key, behind it: from what had the keys up to the application."""
        while node is not None and node is not self:
            if node.call_later(self._follow, node._parent, start, rounds, turn):
                return
            node = node._parent  # this one is closing
        if rounds > 1:
            self.call_later(self._follow, start, start, rounds - 1, turn)
        else:
            self.call_later(self._hand_over, turn)
