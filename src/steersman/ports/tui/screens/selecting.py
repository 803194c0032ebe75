"""What to take of a list, with a text that goes with it: for a commit, its files and message."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Label, TextArea

from steersman.ports.tui.area import Area
from steersman.ports.tui.screens.marked import Marked
from steersman.ports.tui.screens.reading import Drawn, keys_line, markdown
from steersman.views.commands.stage import Deed, Row, Selection
from steersman.views.text import one_line

NONE_MARKED = "Nothing is marked: Space marks a row."


class Select(ModalScreen[Selection | None]):
    """Rows that are marked or not, below a text, and what to do with them.

    Enter does the first of the deeds, which needs a row that is marked.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Cancel", show=False),
        Binding("space", "mark", "Mark or unmark", show=False, priority=True),
        Binding("enter", "first", "Do it", show=False, priority=True),
        Binding("j", "move(1)", "Down", show=False),
        Binding("k", "move(-1)", "Up", show=False),
    ]
    DEFAULT_CSS = """
    Select VerticalScroll { max-height: 40%; }
    """

    def __init__(
        self,
        title: Callable[[int], str],
        body: str,
        rows: Sequence[Row],
        kept: Sequence[str],
        deeds: Sequence[Deed],
    ) -> None:
        super().__init__()
        self._deeds = deeds
        self._title = title
        self._body = body
        self._rows = rows
        self._kept = set(kept)

    def compose(self) -> ComposeResult:
        """The question, the text, the rows and the keys."""
        with Vertical(classes="box"):
            yield Label(self._asked(), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Drawn(markdown(self._body))
            yield Marked(compact=True)
            first, *deeds = [(one.key, one.words) for one in self._deeds]
            keys = ((f"Enter/{first[0]}", first[1]), ("Space", "mark"), *deeds, ("Esc", "cancel"))
            yield Label(keys_line(keys), classes="box-foot")

    def on_mount(self) -> None:
        """The first row is chosen."""
        found = self.query_one(Marked)
        found.focus()
        found.fill(self._told(row) for row in self._rows)

    def _asked(self) -> Content:
        return Content(one_line(self._title(len(self._kept)), 300))

    def _told(self, row: Row) -> Content:
        mark = "[x]" if row.key in self._kept else "[ ]"
        return Content(f"{mark} {one_line(row.detail, 12):<8} {one_line(row.text, 300)}")

    def action_move(self, by: int) -> None:
        """Go to another row."""
        self.query_one(Marked).move(by)

    def action_mark(self) -> None:
        """Mark the row, or take its mark away."""
        found = self.query_one(Marked)
        at = found.highlighted
        if at is not None:
            self._kept ^= {self._rows[at].key}
            found.change(at, self._told(self._rows[at]))
            self.query_one(".box-title", Label).update(self._asked())

    def on_key(self, event: events.Key) -> None:
        """The key of a deed: say what is kept, and what to do."""
        if any(one.key == event.key for one in self._deeds):
            event.stop()
            self._do(event.key)

    def action_first(self) -> None:
        """What the rows are marked for."""
        self._do(self._deeds[0].key)

    def _do(self, deed: str) -> None:
        kept = tuple(row.key for row in self._rows if row.key in self._kept)
        if kept or deed != self._deeds[0].key:
            self.dismiss(Selection(kept, deed))
        else:
            self.query_one(".box-title", Label).update(Content.styled(NONE_MARKED, "$warning"))


class EditText(ModalScreen[str | None]):
    """A text of several lines, to be changed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "take", "Save", show=False, priority=True),
        Binding("ctrl+g", "editor", "Editor", show=False, priority=True),
        Binding("escape", "dismiss(None)", "Cancel", show=False, priority=True),
    ]
    DEFAULT_CSS = """
    EditText TextArea { height: 1fr; min-height: 6; border: none; background: $background; }
    EditText TextArea:focus { border: none; }
    """

    def __init__(self, title: str, text: str) -> None:
        super().__init__()
        self._title = title
        self._text = text

    def compose(self) -> ComposeResult:
        """The text and the keys."""
        with Vertical(classes="box"):
            yield Label(Content(one_line(self._title, 200)), classes="box-title")
            yield Area(self._text, soft_wrap=True)
            keys = (("Ctrl+S", "use it"), ("Ctrl+G", "in your editor"), ("Esc", "keep the old one"))
            yield Label(keys_line(keys), classes="box-foot")

    def on_mount(self) -> None:
        """Write at once, at the end."""
        area = self.query_one(TextArea)
        area.cursor_blink = False
        area.focus()
        area.move_cursor(area.document.end)

    def action_editor(self) -> None:
        """Continue in the user's own editor."""
        from steersman.ports.tui.forms import in_editor

        in_editor(self.query_one(TextArea))

    def action_take(self) -> None:
        """This is the text."""
        self.dismiss(self.query_one(TextArea).text)
