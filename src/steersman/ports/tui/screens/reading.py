"""A text to read, over the conversation: what commands show, and the help."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget
from textual.widgets import Label, Static

from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.drawing.lines import wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.ports.tui.keys import NAMES, Keymap, shown
from steersman.views.text import one_line

Draw = Callable[[int, Palette], list[Text]]


class Drawn(Static):
    """Lines that are drawn again for each width."""

    def __init__(self, drawer: Draw) -> None:
        super().__init__()
        self._drawer = drawer
        self._for = (0, "")

    def on_resize(self) -> None:
        """Draw for this width."""
        width = self.content_size.width
        if width and (width, self.app.theme) != self._for:
            self._for = (width, self.app.theme)
            lines = self._drawer(width, palette_of(self.app))
            self.update(Text("\n").join(lines))


def markdown(text: str) -> Draw:
    """Markdown, drawn as in the conversation."""

    def drawer(width: int, palette: Palette) -> list[Text]:
        from steersman.ports.tui.drawing.markdown import markdown_lines

        return markdown_lines(text, width, palette)

    return drawer


class Paged(ModalScreen[str | None]):
    """A screen with a text that keys scroll as in a pager."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll(1)", "Down", show=False),
        Binding("k,up", "scroll(-1)", "Up", show=False),
        Binding("pagedown,space", "page(1)", "Page down", show=False),
        Binding("pageup,b", "page(-1)", "Page up", show=False),
        Binding("g,home", "ends(-1)", "Top", show=False),
        Binding("G,end", "ends(1)", "End", show=False),
    ]

    SCROLLED: ClassVar[type[Widget]] = VerticalScroll

    @property
    def scrolled(self) -> Widget:
        """What the keys scroll."""
        return self.query_one(self.SCROLLED)

    def action_scroll(self, by: int) -> None:
        """A line."""
        self.scrolled.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        """A page."""
        self.scrolled.scroll_relative(y=by * max(1, self.scrolled.size.height - 1), animate=False)

    def action_ends(self, to: int) -> None:
        """The beginning or the end."""
        (self.scrolled.scroll_home if to < 0 else self.scrolled.scroll_end)(animate=False)


class Reading(Paged):
    """A text that scrolls, until it is closed."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "dismiss(None)", "Close", show=False),
    ]

    def __init__(self, title: str, drawer: Draw) -> None:
        super().__init__()
        self._title = title
        self._drawer = drawer

    def compose(self) -> ComposeResult:
        """The text, and how to leave."""
        with Vertical(classes="box"):
            yield Label(Content(one_line(self._title, 200)), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield Drawn(self._drawer)
            yield Label(keys_line((("j/k", "scroll"), ("Esc", "close"))), classes="box-foot")


def keys_line(keys: Sequence[tuple[str, str]]) -> Content:
    """Keys and what they do."""
    pieces: list[tuple[str, str]] = []
    for key, words in keys:
        pieces += [("  " if pieces else "", ""), (key, "bold $primary"), (f" {words}", "$muted")]
    return Content.assemble(*pieces)


WRITING = (
    ("Enter", "Send; while a turn runs: queue. With nothing written: send the oldest queued now."),
    ("Alt+Enter", "A new line; or \\ and Enter, ^J, Shift+Enter."),
    ("Up Down", "The newest queued message, to edit it; earlier messages. ^R searches them."),
    ("@ $ /", "Names of files, skills and commands, completed as you type."),
    ("! command", "Run a command yourself, through the gate."),
    ("^_", "Undo what you wrote."),
    ("^W Alt+D ^U ^K", "Cut a word back or ahead, or the line's beginning or end; ^Y pastes it."),
    ("^G", "Write in your own editor."),
)


def help_lines(keymap: Keymap, commands: Sequence[tuple[str, str]]) -> Draw:
    """The help: keys while writing, everywhere, while reading; and the commands."""
    parts: list[tuple[str, list[tuple[str, str]]]] = [("Writing", list(WRITING))]
    for where, title in (("always", "Everywhere"), ("reading", "Reading")):
        rows = [
            (" ".join(shown(one) for one in key.keys), key.about)
            for key in keymap.keys
            if NAMES[key.name].where == where
        ]
        parts.append((title, rows))
    parts.append(("Commands", list(commands)))

    def drawer(width: int, palette: Palette) -> list[Text]:
        column = min(24, max(4, width // 3))
        lines: list[Text] = []
        for title, rows in parts:
            lines += [Text("")] if lines else []
            lines.append(Text(title, palette.heading))
            for key, about in rows:
                first = f"{key:<{column}}" if len(key) < column else f"{key} "
                told = wrapped(about, width, palette.dim, first, " " * column)
                told[0].stylize(palette.strong, 0, len(key))
                lines += told
        return [*lines, Text(""), *wrapped(FILE, width, palette.dim)]

    return drawer


FILE = 'Keys can be changed in keys.toml beside config.toml: diff = "ctrl+d".'
