"""What letters mean where something is asked: answers, unless they are words.

A letter whose yes is lasting or wide approves nothing by itself: Enter after it does. So a person
who types a sentence, and hesitates after its first letter, has approved nothing.
"""

from collections.abc import Callable
from functools import partial

from textual import events
from textual.message import Message
from textual.timer import Timer

from steersman.ports.tui.forms import WordsForm
from steersman.ports.tui.request_sheet import RequestSheet
from steersman.views import requests
from steersman.views.blocks import Asked, Request

PAUSE = 1.0  # seconds after which a letter is no longer of the same word
MOVES = "jkhl []?"  # letters that only move, or show more
CANCEL = "yutAwWnYN"  # letters that only cancel one that was not confirmed; others are words


class Letters(RequestSheet):
    """A sheet that understands letters, and keeps what Enter would do now."""

    class Prose(Message):
        """Letters that are words, not answers: they belong into the composer."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    _held: Timer | None = None  # until a letter counts as an answer
    _held_key = ""  # the letter, where it is one of the answers
    _typed = ""  # letters pressed in a row
    _typed_at = float("-inf")
    _prose = False  # words are being typed, until the keys go where they belong
    _gone: Timer | None = None  # while keys may still be meant for what is not asked any more
    _armed = ""  # the letter that Enter would confirm
    _confirmed: Callable[[], None] | None = None

    def _arm(self, key: str, words: str, then: Callable[[], None]) -> None:
        """Let Enter do something, and say so."""
        self._armed, self._confirmed = key, then
        self._mark(key)
        self.tell(f"Enter confirms “{key}”: {words}. Any other key cancels that.")

    def _mark(self, key: str) -> None:
        """Mark the answer of a key; without one the first, which holds once."""
        keys = [one.key for one in self._answers]
        if isinstance(self.current, Request):
            self._queue.option = keys.index(key) if key and key in keys else 0
            self._fit()

    def _confirm(self) -> bool:
        """Enter: do what it was to do; False where that is nothing."""
        then = self._confirmed
        self._disarm()
        if then is not None:
            then()
        return then is not None

    def _disarm(self) -> None:
        if self._confirmed is not None:
            self._armed, self._confirmed = "", None
            self.tell("")

    def _not_confirmed(self, event: events.Key) -> str:
        """Any key but Enter: nothing is confirmed. The letter that would have been, if any."""
        armed = self._armed
        if event.key != "enter":
            self._disarm()
        return armed

    def _only_cancels(self, event: events.Key, *, late: bool) -> bool:
        """Whether a key after one that was to be confirmed is no word, so that it does no more."""
        if event.key in ("enter", "up", "down"):
            return False
        if not event.is_printable or event.character is None or event.character in CANCEL:
            return True
        return late and (event.character in MOVES or event.character in self._queue.letters())

    def _cancels(self, event: events.Key, *, late: bool) -> bool:
        """Whether a key only cancels; the answer that it would have been is marked."""
        if not self._only_cancels(event, late=late):
            return False
        self._let_go()
        self._mark(event.character or "")
        return True

    async def _confirms_letter(self, event: events.Key) -> bool:
        """Whether it is the Enter behind a letter or a word, and not one for the marked answer."""
        if event.key != "enter" or (self._held is None and not self._prose):
            return False
        if self._held is not None and self._held_key and not self._prose:
            await self._take_letter(self._held_key)
        self._let_go()
        return True

    async def on_key(self, event: events.Key) -> None:
        """A letter answers when no other follows it at once: then they are words."""
        if self._gone is not None:
            event.stop()
            event.prevent_default()
            self._came_late(event)
            return
        before = self._not_confirmed(event)
        late = self._clock() - self._typed_at >= PAUSE
        if (before and self._cancels(event, late=late)) or await self._confirms_letter(event):
            event.stop()
            event.prevent_default()
            return
        if late:
            before = ""  # what was pressed so long ago does not begin a word
        if isinstance(self._form, WordsForm) and self._form.hear(event):  # not there yet
            event.stop()
            event.prevent_default()
            return
        if self._form is not None or not event.is_printable or event.character is None:
            self._let_go()
            return
        now = self._clock()
        hurried = now - self._typed_at < self._hold
        self._typed = (self._typed if hurried else before) + event.character
        self._typed_at = now
        moves = event.character in MOVES
        if self._queue.worded:  # all letters are words of an answer
            moves = event.character == " "
        known = moves or event.character in self._queue.letters()
        words = self._prose or self._typed[:-1].isalpha()
        asked = isinstance(self.current, Asked)
        if known and asked and event.character.isdecimal() and not words:
            self._let_go()  # the number of a choice is no word, however fast the next one comes
            return
        wording = self._queue.worded or (self._queue.takes_words and event.character.isalpha())
        elsewhere = not (known or wording) and event.character in requests.ANSWERS
        if before or self._prose or self._held is not None or not (known or elsewhere):
            event.stop()
            event.prevent_default()
            self._take_words(self._typed)
            self._let_go()
        elif elsewhere or (self._hold and not moves):
            event.stop()
            event.prevent_default()
            take = (
                partial(self._not_offered, event.character)
                if elsewhere
                else partial(self._take_letter, event.key)
            )
            if self._hold:
                self._held = self.set_timer(self._hold, take)
                self._held_key = "" if elsewhere else event.key
            else:
                await take()

    def _came_late(self, event: events.Key) -> None:
        """A key for what is not asked any more does nothing; words are words nevertheless."""
        letter = event.character if event.is_printable else None
        if letter is None or (letter in requests.ANSWERS and self._typed in ("", letter)):
            self._typed = letter or ""
            return
        self.post_message(self.Prose(self._typed + letter))
        self._go_away()

    def _go_away(self) -> None:
        """Show no longer that something is gone."""
        raise NotImplementedError

    async def _take_letter(self, key: str) -> None:
        self._let_go()
        if self.has_focus:
            await self.app._check_bindings(key)

    async def _not_offered(self, key: str) -> None:
        """Say why a key that answers other requests does nothing now."""
        self._let_go()
        block = self.current
        if block is not None:
            request = block.request if isinstance(block, Request) else None
            self.tell(requests.not_offered(request, key))

    def _let_go(self) -> None:
        """Nothing is held back any more."""
        if self._held is not None:
            self._held.stop()
        self._held, self._typed = None, ""

    def on_paste(self, event: events.Paste) -> None:
        """What is pasted is words."""
        if self.has_focus:
            event.stop()
            self._take_words(event.text)

    def _take_words(self, text: str) -> None:
        """Words go to the composer; at a question of an agent they are an answer."""
        if self._queue.takes_words:
            self._write_answer(" ".join(text.split()))
        else:
            self.post_message(self.Prose(text))
            self._prose = True

    def _write_answer(self, text: str) -> None:
        """Let the answer be written that begins like this."""
        raise NotImplementedError
