"""Where a person writes: several lines, history, completion, chips for what is pasted.

The widget decides what the words are (said, queued, a command, a shell command) and shows the
application by a message; it never speaks to the host.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress

from rich.text import Text
from textual import events
from textual.app import SuspendNotSupported
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive

from steersman.ports.tui.editor import edit
from steersman.ports.tui.history import NOTHING
from steersman.ports.tui.paper import Paper
from steersman.records.dialogue import Image
from steersman.records.errors import SteersmanError, UsageProblem
from steersman.views.attachments import (
    NO_MENTIONS,
    ComposerDraft,
    Mentions,
)
from steersman.views.images import images_from
from steersman.views.saying import BaseFolder, Meaning, meaning, spoken
from steersman.views.seat import Doing
from steersman.views.text import safe

KEYS: Mapping[str, str] = {
    "enter": "say",
    "shift+enter": "newline",
    "alt+enter": "newline",
    "ctrl+j": "newline",
    "tab": "tab",
    "up": "up",
    "down": "down",
    "ctrl+r": "search",
    "ctrl+g": "editor",
    "ctrl+d": "leave",
    "question_mark": "remind",
    "escape": "dismiss",
}
# What to write; what keys do now is in the footer, and only there.
PLACEHOLDERS: Mapping[Doing, str] = {
    "nothing": "Say what to do · @ file · $ skill · / command · ! shell",
    "working": "Write the next message",
}
SHORT: Mapping[Doing, str] = {"nothing": "Say what to do", "working": "Write the next"}
DRAFT_PAUSE = 0.4  # seconds without a key before unsent words are kept


class Composer(Paper):
    """The place to write. Set `doing` to what the seat does; `refuse` while nothing may be said."""

    DEFAULT_CSS = """
    Composer {
        height: auto;
        min-height: 3;
        max-height: 33vh;
        border: round $border-blurred;
        padding: 0 1;
        background: $surface;
        scrollbar-size-vertical: 1;
        &:focus { border: round $border; }
        &.-shell, &.-shell:focus { border: round $warning; }
        &.-refused { color: $text-muted; }
        &.-small, &.-small:focus { border: none; min-height: 1; padding: 0; }
        & .composer--chip { text-style: reverse; }
        & .composer--mention { color: $accent; text-style: underline; }
        & .composer--mark { color: $warning; text-style: bold; }
    }
    """
    keys: Mapping[str, str] = KEYS
    _refused = ""
    SMALL = 12  # lines of a screen on which there is no room for a border

    doing: reactive[Doing] = reactive("nothing")
    waiting = 0  # messages that were not delivered

    class Said(Message):
        """Words for the model, with pictures; `mentions` are the files named in them."""

        def __init__(
            self, text: str, images: tuple[Image, ...] = (), mentions: tuple[str, ...] = ()
        ) -> None:
            super().__init__()
            self.text = text
            self.images = images
            self.mentions = mentions

    class Queued(Message):
        """Words for the next turn."""

        def __init__(self, text: str, mentions: tuple[str, ...] = ()) -> None:
            super().__init__()
            self.text = text
            self.mentions = mentions

    class Hastened(Message):
        """The oldest message that waits is to go to the model now."""

    class NewestWithdrawn(Message):
        """The newest message that waits is to be edited."""

    class Left(Message):
        """Nothing is written, and Ctrl+D was pressed: the user wants to go, as from a shell."""

    class Unsure(Message):
        """Nothing is written, and `?` was pressed: which keys are there?"""

    class Command(Message):
        """A line that begins with `/`."""

        def __init__(self, line: str) -> None:
            super().__init__()
            self.line = line

    class Shell(Message):
        """A command for the shell, without the `!`."""

        def __init__(self, command: str) -> None:
            super().__init__()
            self.command = command

    # Set up and moved by the application

    def on_mount(self) -> None:
        """Take up what was left unsent."""
        self._fit(self.app.size.height)
        self.restore(self._drafts.read(self.folder, self.thread))
        self.set_interval(DRAFT_PAUSE, self.keep)
        self._show_state()

    async def on_unmount(self) -> None:
        """Leave nothing behind, and lose nothing."""
        self.keep()

    def move(self, folder: str, thread: str, mentions: Mentions = NO_MENTIONS) -> None:
        """Write in another thread: unsent words stay with the thread they were meant for."""
        super().move(folder, thread, mentions)
        self._show_state()

    def set_text(self, text: str) -> None:
        """Put text here for the user to continue with, such as a queued message."""
        self.put_away()
        self.restore(ComposerDraft(text))
        self.focus()

    def put_away(self) -> None:
        """Clear what is written; it can be found in the history."""
        with suppress(SteersmanError):
            self.past.add(self.attachments.light(self.text))
        self.restore(NOTHING)

    def refuse(self, reason: str) -> None:
        """Take no words, and say why; what is written stays. An empty reason takes them again."""
        self._refused = reason
        self.read_only = bool(reason)
        self.set_class(bool(reason), "-refused")
        self._show_state()

    def dismiss(self) -> bool:
        """Close what is open above the text; False if nothing is, so Esc means something else."""
        return self.assistant.dismiss()

    def watch_doing(self) -> None:
        """Say what can be written now."""
        self._show_state()

    def _show_state(self) -> None:
        narrow = self.size.width and self.size.width < 60
        words = (SHORT if narrow else PLACEHOLDERS)[self.doing]
        self.placeholder = Content(safe(self._refused) or words)
        self.border_title = Text(safe(self._refused)) if self._refused and self.text else None

    def on_resize(self, _: events.Resize) -> None:
        """Lay out again."""
        self._fit(self.app.size.height)
        self._show_state()
        self.assistant.place()

    def _fit(self, height: int) -> None:
        self.set_class(height < self.SMALL, "-small")

    # Keys

    async def _on_key(self, event: events.Key) -> None:
        action = self.keys.get(event.key)
        if action is not None and await self._act(action):
            event.stop()
            event.prevent_default()
            return
        if event.key in ("enter", "tab"):
            event.prevent_default()
            return
        # At once rather than after the key has gone through the application: keys that come
        # quickly must not overtake one another.
        for binding in self._bindings.key_to_bindings.get(event.key, ()):
            if await self.app.run_action(binding.action, self):
                event.stop()
                event.prevent_default()
                return
        await super()._on_key(event)
        event.prevent_default()
        self.assistant.look()

    async def _act(self, action: str) -> bool:
        """Do what a key means; False when it means nothing here."""
        match action:
            case "say":
                self.action_say()
            case "newline":
                self._insert("\n")
            case "tab":
                return self._tab()
            case "up":
                return self.assistant.step(-1) or self._withdraw_newest() or self._walk(back=True)
            case "down":
                return self.assistant.step(1) or self._walk(back=False)
            case "search":
                self.assistant.search_history()
            case "editor":
                self.run_worker(self.open_editor(), group="editor", exclusive=True)
            case "dismiss":
                return self.dismiss()
            case "leave" | "remind" if self.text:
                return False
            case "leave":
                self.post_message(self.Left())
            case "remind":
                self.post_message(self.Unsure())
        return True

    def action_say(self) -> None:
        """Enter: choose what is offered, or break the line after a backslash, or say it."""
        if self.assistant.accept(enter=True):
            return
        row, column = self.cursor_location
        if column and self.document.get_line(row)[column - 1] == "\\" and not self.read_only:
            self.replace("\n", (row, column - 1), (row, column), maintain_selection_offset=False)
            return
        if self.text.strip():
            self._submit(queued=self.doing == "working")
        elif self.waiting:
            self.post_message(self.Hastened())

    def _tab(self) -> bool:
        if not self.assistant.accept():
            self.assistant.open()
        return True

    def _withdraw_newest(self) -> bool:
        """What waits comes before the history, where nothing is written."""
        if not self.waiting or self.text or self.read_only:
            return False
        self.post_message(self.NewestWithdrawn())
        return True

    def _walk(self, *, back: bool) -> bool:
        """History, from the first line up and from the last line down."""
        if self.read_only or not self.selection.is_empty:
            return False
        edge = self.navigator.is_first_wrapped_line if back else self.navigator.is_last_wrapped_line
        if not edge(self.cursor_location):
            return False
        now = self.attachments.draft(self.text)
        found = self.past.earlier(now) if back else self.past.later()
        if found is not None:
            self.restore(found)
        return found is not None

    def _submit(self, *, queued: bool) -> None:
        text = self.text.strip()
        if self._refused:
            self.notify(safe(self._refused), severity="warning", markup=False)
            return
        try:
            message = self._message(text, queued=queued)
            entry = self.attachments.light(text)
        except SteersmanError as problem:
            self.tell(problem)
            return
        self.past.add(entry)
        self.attachments.forget()
        self.restore(NOTHING)
        self.keep()
        self._show_state()
        self.post_message(message)

    def _message(self, text: str, *, queued: bool) -> Message:
        """What the words are."""
        meant = meaning(
            text, self.attachments, self.mentions, BaseFolder(self.folder), doing=self.doing,
            queued=queued,
        )  # fmt: skip
        match meant.kind:
            case "shell":
                return self.Shell(meant.text)
            case "command":
                return self.Command(meant.text)
        images = self._going_along(meant)
        if queued:
            return self.Queued(meant.text, meant.files)
        return self.Said(meant.text, images, meant.files)

    def spoken(self, text: str) -> tuple[str, tuple[Image, ...]]:
        """Words that a command says for the user, as if they were written here."""
        place = BaseFolder(self.folder)
        meant = spoken(text, self.attachments, self.mentions, place, doing=self.doing)
        return meant.text, self._going_along(meant)

    def _going_along(self, meant: Meaning) -> tuple[Image, ...]:
        """The pictures of words; the files that they name stay in context."""
        images = images_from(meant.pictures)
        self.mentions = self.mentions.add(meant.files)
        return images

    async def open_editor(self) -> None:
        """Write on in the user's own editor; the turn continues meanwhile."""
        if self.read_only:
            return
        try:
            # Nothing is drawn while another program has the terminal.
            with self.app.batch_update(), self.app.suspend():
                edited = await asyncio.to_thread(edit, self.text, self._environ)
        except SuspendNotSupported:
            self.tell(UsageProblem("An editor cannot be opened in this terminal."))
            return
        except SteersmanError as problem:
            self.tell(problem)
            return
        self.restore(ComposerDraft(edited, self.attachments.draft(edited).pieces))
