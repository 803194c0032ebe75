"""Fields in which an answer is written: a line of words, or a call that is changed.

They are there all the time, and shown when they `begin`: so no key is lost on its way to them.
"""

import os
from typing import ClassVar

from textual import events, on
from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, TextArea

from steersman.ports.tui.area import Area
from steersman.records.errors import SteersmanError

MOST_ROWS = 10


class WordsForm(Vertical):
    """A line of words."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "back", show=False)]
    DEFAULT_CSS = """
    WordsForm { height: 1; display: none; }
    WordsForm Input { height: 1; border: none; padding: 0; background: $surface; }
    WordsForm Input:focus { border: none; }
    """
    rows = 1

    class Said(Message):
        """The words are said."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The user goes back."""

    def compose(self) -> ComposeResult:
        """The field."""
        self._does = ""
        yield Input()

    def begin(self, hint: str, does: str, text: str = "") -> None:
        """Write here, after what was typed already."""
        field = self.query_one(Input)
        field.value, field.placeholder, self._does = text, hint, does
        field.select_on_focus = False
        field.cursor_position = len(text)
        self.display = True
        field.focus()

    def hear(self, event: events.Key) -> bool:
        """Take a key that came before the focus did: a letter, or Enter. False for others."""
        field = self.query_one(Input)
        if event.key == "enter":
            self.post_message(self.Said(field.value))
        elif event.is_printable and event.character is not None:
            field.insert_text_at_cursor(event.character)
        else:
            return False
        return True

    def keys(self) -> list[tuple[str, str]]:
        """List the keys."""
        return [("enter", self._does), ("esc", "back")]

    @on(Input.Submitted)
    def _submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.post_message(self.Said(event.value))

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(self.Left())


class EditForm(Vertical):
    """A call to be changed: its command, or its arguments as JSON."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back", show=False, priority=True),
        Binding("ctrl+s", "send", "send", show=False, priority=True),
        Binding("ctrl+g", "editor", "editor", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    EditForm { display: none; }
    EditForm TextArea { height: 1fr; border: none; padding: 0; background: $surface; }
    EditForm TextArea:focus { border: none; }
    """

    class Edited(Message):
        """The call is as it should be."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Left(Message):
        """The user leaves it as it was."""

    def compose(self) -> ComposeResult:
        """The text."""
        self.rows = 1
        yield _Area()

    def begin(self, text: str, *, command: bool) -> None:
        """Change this."""
        area = self.query_one(_Area)
        area.enter_sends = command
        area.load_text(text)
        self.rows = min(text.count("\n") + 2, MOST_ROWS)
        self.styles.height = self.rows
        self.display = True
        area.focus()

    def keys(self) -> list[tuple[str, str]]:
        """List the keys."""
        send = "enter" if self.query_one(_Area).enter_sends else "^S"
        return [(send, "allow it like this"), ("^G", "in your editor"), ("esc", "back")]

    def action_send(self) -> None:
        """Done."""
        self.post_message(self.Edited(self.query_one(TextArea).text))

    def action_leave(self) -> None:
        """Go back."""
        self.post_message(self.Left())

    def action_editor(self) -> None:
        """Continue in the user's own editor."""
        in_editor(self.query_one(TextArea))


def in_editor(area: TextArea) -> None:
    """Change the text of an area in the user's own editor."""
    from steersman.ports.tui.editor import edit

    try:
        with area.app.suspend():
            changed = edit(area.text, os.environ)
    except SuspendNotSupported:
        area.app.notify("An editor cannot be opened in this terminal.", severity="warning")
    except SteersmanError as problem:
        area.app.notify(str(problem), severity="warning", markup=False)
    else:
        area.load_text(changed)


class _Area(Area):
    """The text; of a command, Enter sends it and Alt+Enter makes another line."""

    def __init__(self) -> None:
        super().__init__(soft_wrap=True, show_line_numbers=False, tab_behavior="focus")
        self.enter_sends = False

    async def _on_key(self, event: events.Key) -> None:
        if self.enter_sends and event.key in ("enter", "alt+enter", "shift+enter", "ctrl+j"):
            event.stop()
            event.prevent_default()
            if event.key == "enter":
                form = self.parent
                if isinstance(form, EditForm):
                    form.action_send()
            else:
                self.insert("\n")
            return
        await super()._on_key(event)
