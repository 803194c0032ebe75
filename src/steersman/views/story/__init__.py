"""A thread as a person follows it: messages go in, blocks come out. Pure; knows no screen.

A thread read from its beginning and one that was watched while it happened give the same blocks.
What is only broadcast (words on their way, what a running tool shows) is therefore kept at the end
of the list and gives way to what the log says of it.
"""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from steersman.records.message import Body, Message
from steersman.views.blocks import Asked, Block, Person, Request, Work
from steersman.views.story import course, talk, work
from steersman.views.story.shelf import Shelf, Usage
from steersman.views.text import call_words, lasting, one_line, tokens

__all__ = ["Story", "Usage"]

LETTERS = 4  # of a token, as a rule

_TAKERS: Mapping[type[Body], Callable[[Shelf, Message, Any], list[Block]]] = {
    **talk.TAKERS,
    **work.TAKERS,
    **course.TAKERS,
}


class Story(Shelf):
    """A thread, told. Feed it every message in order; it forgives gaps and repetitions."""

    def feed(self, message: Message) -> list[Block]:
        """Take in a message; the answer is what changed or came new."""
        if message.seq:
            if message.seq <= self.seq:
                return []
            self.seq = message.seq
        taker = _TAKERS.get(type(message.body))
        return taker(self, message, message.body) if taker else []

    def queued(self) -> list[Person]:
        """What the user said that the model has not heard yet, oldest first."""
        return list(self.open_inputs.values())

    def waiting(self) -> list[Request | Asked]:
        """What is to be answered, oldest first."""
        return list(self.open_requests.values())

    def running(self) -> list[Work]:
        """The calls that have not ended, oldest first."""
        return list(self.open_calls.values())

    def spent(self, now: datetime) -> str:
        """How long this turn runs, and what it used so far with the words that are on their way."""
        if not self.working or self.began is None:
            return ""
        seconds = max(0, int((now - self.began).total_seconds()))
        spent = self.usage.input + self.usage.output - self.used_before
        letters = sum(len(one.text) for words in self.live_words.values() for one in words)
        about = "~" if letters else ""
        spent += letters // LETTERS
        used = f" · {about}{tokens(spent)}" if spent else ""
        return f"{lasting(seconds)}{used}"

    @property
    def step(self) -> str:
        """What is being done now, in a few words; empty between turns."""
        if not self.working:
            return ""
        if self.open_requests:
            return "waiting for your answer"
        if self.open_calls:
            last = next(reversed(self.open_calls.values()))
            return call_words(last.call.tool, last.call.arguments)
        if self.retrying is not None:
            return f"trying again: {one_line(self.retrying.what, 60)}"
        for words in self.live_words.values():
            return "thinking" if words[-1].thought else "answering"
        return self.progress or "thinking"
