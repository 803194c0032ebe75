"""All of a block, over the conversation: as long as it may be, with search.

Lines are made beside the event loop, and only those that are seen are painted.
"""

import asyncio
from typing import ClassVar

from rich.segment import Segment
from rich.text import Text
from textual import on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input, Label

from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.drawing.look import MONO, Palette
from steersman.ports.tui.drawing.searching import lines_with
from steersman.ports.tui.screens.reading import Draw, Paged, keys_line
from steersman.records.counting import counted
from steersman.views.text import one_line

KEYS = (("/", "search"), ("n/N", "next, previous"), ("j/k", "scroll"), ("Esc", "close"))


class Lines(ScrollView, can_focus=True):
    """Lines to scroll through. `found` is the line that a search is at."""

    DEFAULT_CSS = "Lines { height: 1fr; overflow-x: hidden; scrollbar-size-vertical: 1; }"

    def __init__(self) -> None:
        super().__init__()
        self.lines: list[Text] = []
        self.palette: Palette = MONO
        self.found = -1

    def show(self, lines: list[Text], palette: Palette) -> None:
        """Other lines, as other widths need; one stays about where one is."""
        share = self.scroll_offset.y / max(len(self.lines), 1)
        self.lines, self.palette, self.found = lines, palette, -1
        self.virtual_size = Size(self.scrollable_content_region.width, len(lines))
        self.scroll_to(y=round(share * len(lines)), animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """One line of what is seen."""
        at, base = y + self.scroll_offset.y, self.rich_style
        if at >= len(self.lines):
            return Strip.blank(self.size.width, base)
        line = self.lines[at]
        if at == self.found:
            line = line.copy()
            line.stylize("reverse")
        rendered = line.render(self.app.console, "")
        segments = [Segment(text, base + style if style else base) for text, style, _ in rendered]
        return Strip(segments).adjust_cell_length(self.size.width, base)

    def find(self, words: str, by: int, start: int) -> bool:
        """Go to the next line with these words from a line on; behind the last is the first."""
        hits = lines_with(self.lines, words)
        if not hits:
            return False
        if by > 0:
            self.found = next((at for at in hits if at >= start), hits[0])
        else:
            self.found = next((at for at in reversed(hits) if at <= start), hits[-1])
        self.scroll_to(y=self.found - self.size.height // 2, animate=False)
        self.refresh()
        return True


class Printed(Paged):
    """A long text until it is closed. `drawer` makes its lines for a width."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter", "close", "Close", show=False),
        Binding("slash,ctrl+f", "search", "Search", show=False),
        Binding("n", "next(1)", "Next", show=False),
        Binding("N", "next(-1)", "Previous", show=False),
    ]

    SCROLLED = Lines

    def __init__(self, title: str, drawer: Draw) -> None:
        super().__init__()
        self._title = title
        self._drawer = drawer
        self._words = ""

    def compose(self) -> ComposeResult:
        """A line to search with above the lines, and the keys below."""
        with Vertical(classes="box whole"):
            yield Label(Content(one_line(self._title, 200)), classes="box-title")
            search = Input(placeholder="search", compact=True)
            search.cursor_blink = False
            search.display = False
            yield search
            yield Lines()
            yield Label(keys_line(KEYS), classes="box-foot")

    def on_mount(self) -> None:
        """Keys go to the lines."""
        self.query_one(Lines).focus()

    def on_resize(self) -> None:
        """Draw for this width, when it is known."""
        self.call_after_refresh(lambda: self.run_worker(self._draw(), exclusive=True))

    async def _draw(self) -> None:
        view, palette = self.query_one(Lines), palette_of(self.app)
        width = max(view.scrollable_content_region.width, 1)
        view.show(await asyncio.to_thread(self._drawer, width, palette), palette)
        self._say(counted(len(view.lines), "line"))

    def _say(self, told: str) -> None:
        foot = Content.assemble((f"{told}  ", "$muted"), keys_line(KEYS))
        self.query_one(".box-foot", Label).update(foot)

    def action_close(self) -> None:
        """Stop searching, or close."""
        search = self.query_one(Input)
        if search.display:
            search.display = False
            self.query_one(Lines).focus()
        else:
            self.dismiss(None)

    def action_search(self) -> None:
        """Ask what to look for."""
        search = self.query_one(Input)
        search.display = True
        search.value = ""
        search.focus()

    @on(Input.Submitted)
    def _wanted(self, event: Input.Submitted) -> None:
        self._words = event.value
        self.action_close()
        self._find(1, self.query_one(Lines).scroll_offset.y)

    def action_next(self, by: int) -> None:
        """To the next line with the words, or the one before."""
        if self._words:
            self._find(by, self.query_one(Lines).found + by)
        else:
            self.action_search()

    def _find(self, by: int, start: int) -> None:
        view = self.query_one(Lines)
        if not self._words:
            return
        if view.find(self._words, by, start):
            self._say(f"line {view.found + 1} of {len(view.lines)}")
        else:
            self._say("not found")
