"""Diffs on the screen, as long as they may be: only the rows that are seen are drawn.

Lines of other text may be above them, so that a request is one thing to scroll through.
"""

from collections.abc import Callable, Sequence
from typing import ClassVar, Literal

from rich.cells import cell_len
from rich.segment import Segment
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.diff_rows import Brush, Choosing, Rows
from steersman.views.hunks import FileDiff, Part, all_parts
from steersman.views.text import counted

Above = Callable[[int], list[Text]]  # lines for a width
BESIDE = 120  # columns from which both sides fit beside each other
EDGES = 2  # columns at the sides of what is asked
STEP = 8
NARROW = 40  # columns up to which words are left out
KEPT = 1_000  # rows that are kept as they were drawn


class DiffView(ScrollView, can_focus=True):
    """Files with their hunks. When `choosing`, each hunk can be accepted or left out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "step(1)", "down", show=False),
        Binding("k,up", "step(-1)", "up", show=False),
        Binding("pagedown,ctrl+d", "page(1)", "page down", show=False),
        Binding("pageup,ctrl+u", "page(-1)", "page up", show=False),
        Binding("home,g", "to_end(-1)", "top", show=False),
        Binding("end,G", "to_end(1)", "end", show=False),
        Binding("l,right", "sideways(1)", "right", show=False),
        Binding("h,left", "sideways(-1)", "left", show=False),
        Binding("tab,right_square_bracket", "next_part(1)", "next hunk", show=False),
        Binding("shift+tab,left_square_bracket", "next_part(-1)", "previous hunk", show=False),
        Binding("right_curly_bracket", "next_file(1)", "next file", show=False),
        Binding("left_curly_bracket", "next_file(-1)", "previous file", show=False),
        Binding("space", "choose", "accept or leave out", show=False),
        Binding("f", "choose_file", "the whole file", show=False),
        Binding("a", "every(True)", "accept all", show=False),
        Binding("x", "every(False)", "leave out all", show=False),
        Binding("s", "beside", "side by side", show=False),
    ]
    DEFAULT_CSS = "DiffView { height: 1fr; background: $background; overflow-x: hidden; }"

    class Moved(Message):
        """The cursor is at another file or hunk, or another choice was made."""

        def __init__(self, view: "DiffView", cursor: Part | None) -> None:
            super().__init__()
            self.view = view
            self.cursor = cursor

    def __init__(
        self,
        *,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(id=id, classes=classes)
        self.choosing = False
        self.counts = False  # whether the last row says how many are below it
        self.rest = "left out"  # what becomes of what is not accepted
        self.accepted: frozenset[Part] = frozenset()
        self.cursor: Part | None = None
        self.layout_wanted: Literal["auto", "beside", "below"] = "auto"
        self._shift = 0
        self._files: tuple[FileDiff, ...] = ()
        self._rows = Rows(())
        self._above: Above | None = None
        self._told: tuple[int, list[Text]] = (0, [])  # the lines above, and for which width
        self._strips: dict[tuple[int, int, int], Strip] = {}
        self._brush: Brush | None = None

    def show(
        self,
        files: Sequence[FileDiff],
        *,
        choosing: bool = False,
        above: Above | None = None,
        stay: bool = False,
    ) -> None:
        """Show files, from the top or, to `stay`, where one is; at first all is accepted."""
        self._files = tuple(files)
        self.choosing = choosing
        self.accepted = all_parts(self._files)
        self._above = above
        if not stay:
            self._shift = 0
            self.scroll_to(0, 0, animate=False)
        self.lay_out()
        parts = self._rows.parts()
        if not stay or self.cursor not in parts:
            self.cursor = parts[0] if parts else None

    def height_at(self, width: int) -> int:
        """How many rows there are at a width."""
        return len(self._above(width) if self._above else ()) + len(self._rows)

    @property
    def beside(self) -> bool:
        """Whether both sides are shown beside each other."""
        if self.layout_wanted == "auto":
            return self.size.width >= BESIDE
        return self.layout_wanted == "beside"

    def lay_out(self) -> None:
        """Find the rows again: the size, the text above or the way to show it are others."""
        self._rows = Rows(self._files, beside=self.beside)
        self._brush = None
        self._strips.clear()
        self._told = (0, [])
        self._measure()
        self.refresh()

    def _measure(self) -> None:
        self.virtual_size = Size(self._width, self._length)

    @property
    def _width(self) -> int:
        """How wide it is; all of the screen but its edges, until it has a place there."""
        return max(self.scrollable_content_region.width or self.app.size.width - EDGES, 1)

    @property
    def _top(self) -> list[Text]:
        """The lines above, for the width there is now: it is drawn before it learns of another."""
        width = self._width
        if self._told[0] != width:
            self._told = (width, self._above(width) if self._above else [])
        return self._told[1]

    @property
    def _length(self) -> int:
        return len(self._top) + len(self._rows)

    def on_resize(self, event: events.Resize) -> None:
        """Another width may mean another way to show it."""
        if self._rows.beside != self.beside:
            self.lay_out()
        else:
            self._measure()
        if self.choosing and self.cursor is not None:
            self._reveal(self.cursor)

    def render_line(self, y: int) -> Strip:
        """One row of what is seen; the last also says how many are not."""
        at, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if at >= self._length or width < 1:
            return Strip.blank(self.size.width, self.rich_style)
        below = self._below(y)
        if not below:
            return self._line(at, width)
        beside = max(width - below.cell_len - 1, 0)
        if self.covered(y):
            return self._strip(self._below(y, 1), width)
        return Strip.join(
            [self._line(at, width).crop(0, beside), self._strip(below, width - beside)]
        )

    def _below(self, y: int, own: int = 0) -> Text:
        """What the last row says of those below it, and of its own where it covers that."""
        below = self._length - y - self.scroll_offset.y - 1
        if not self.counts or y != self.size.height - 1 or below <= 0:
            return Text()
        many = counted(below + own, "more line") if self.size.width > NARROW else str(below + own)
        return Text(f"… {many} (PgDn)", palette_of(self.app).warn)

    def covered(self, y: int) -> bool:
        """Whether a row is too long to stand beside what is said of those below it."""
        below, width = self._below(y), self.scrollable_content_region.width
        line = self._line(y + self.scroll_offset.y, width).text.rstrip() if below and y else ""
        return cell_len(line) > width - below.cell_len - 1

    def _line(self, at: int, width: int) -> Strip:
        """A row, wherever it is."""
        if at < len(self._top):
            return self._strip(self._top[at], width)
        palette = palette_of(self.app)
        if self._brush is None or self._brush.palette != palette:
            self._brush = Brush(self._rows, palette)
            self._strips.clear()
        return self._row(self._brush, at - len(self._top), width)

    def _row(self, brush: Brush, at: int, width: int) -> Strip:
        """A row of a diff; lines look the same every time, heads as things are chosen."""
        state = Choosing(self.accepted, self.cursor, self.rest) if self.choosing else None
        if state is not None and self._rows[at].kind != "line":
            return self._strip(brush.draw(at, width, self._shift, state), width)
        key = (at, width, self._shift)
        if key not in self._strips:
            if len(self._strips) >= KEPT:
                self._strips.clear()
            self._strips[key] = self._strip(brush.draw(at, width, self._shift, state), width)
        return self._strips[key]

    def _strip(self, text: Text, width: int) -> Strip:
        style = self.rich_style
        segments = list(Segment.apply_style(text.render(self.app.console), style))
        return Strip(segments, text.cell_len).adjust_cell_length(width, style)

    # Moving.

    def action_step(self, by: int) -> None:
        """A row down or up; where hunks are chosen, the next of them or the one before."""
        parts = self._rows.parts()
        if self.choosing and self.cursor is not None and self.cursor != parts[-1 if by > 0 else 0]:
            self.action_next_part(by)
        else:
            self.action_scroll_by(by)

    def action_scroll_by(self, by: int) -> None:
        """Some rows down or up."""
        self._go(self.scroll_offset.y + by)

    def action_page(self, by: int) -> None:
        """A page down or up."""
        self._go(self.scroll_offset.y + by * max(self.size.height - 1, 1))

    def action_to_end(self, way: int) -> None:
        """To the first or the last row."""
        self._go(0 if way < 0 else self._length)

    def action_sideways(self, by: int) -> None:
        """Columns to the right or left, as far as there is something."""
        first = max(self.scroll_offset.y - len(self._top), 0)
        seen = range(first, min(first + self.size.height, len(self._rows)))
        widest = Brush(self._rows, palette_of(self.app)).widest(seen)
        self._shift = max(0, min(self._shift + by * STEP, widest - STEP))
        self.refresh()

    def action_next_part(self, by: int) -> None:
        """The next hunk or the one before."""
        parts = self._rows.parts()
        if not parts or self.cursor is None:
            return
        at = min(max(parts.index(self.cursor) + by, 0), len(parts) - 1)
        self.go_to(parts[at])

    def action_next_file(self, by: int) -> None:
        """The next file or the one before."""
        if self.cursor is not None:
            self.go_to_file(min(max(self.cursor[0] + by, 0), len(self._files) - 1))

    def go_to(self, part: Part) -> None:
        """Put the cursor on a hunk and show it."""
        self.cursor = part
        self._reveal(part)
        self._tell()

    def _reveal(self, part: Part) -> None:
        top = len(self._top)
        self.reveal(top + self._rows.at_part(part), top + self._rows.end_of(part))

    def reveal(self, at: int, stop: int) -> None:
        """Scroll no further than to where these rows are seen."""
        first, height = self.scroll_offset.y, max(self.size.height, 1)
        if self.counts and stop < self._length:
            height = max(height - 1, 1)  # the last row is for how many are below
        if at < first or stop > first + height:  # all of it if it fits, else from its head
            self.scroll_to(y=max(min(at - 1, max(stop - height, first)), 0), animate=False)

    def go_to_file(self, file: int) -> None:
        """Show a file from its top."""
        self.cursor = (file, 0)
        self.scroll_to(y=len(self._top) + self._rows.at_file(file), animate=False)
        self._tell()

    def _go(self, y: int) -> None:
        """Scroll, and take the cursor along when it would be out of sight."""
        height, top = max(self.size.height, 1), len(self._top)
        y = min(max(y, 0), max(self._length - height, 0))
        self.scroll_to(y=y, animate=False)
        if self.cursor is not None:
            first = y - top
            if not first <= self._rows.at_part(self.cursor) < first + height:
                self.cursor = self._rows.part_in(first, first + height) or self.cursor
                self._tell()

    def _tell(self) -> None:
        self.refresh()
        self.post_message(self.Moved(self, self.cursor))

    # Choosing.

    def action_choose(self) -> None:
        """Accept the hunk at the cursor, or leave it out."""
        if self.choosing and self.cursor is not None:
            self.accepted ^= {self.cursor}
            self._tell()

    def action_choose_file(self) -> None:
        """The same for all hunks of a file."""
        if not self.choosing or self.cursor is None:
            return
        at = self.cursor[0]
        own = {(at, part) for part in range(self._files[at].parts)}
        self.accepted = self.accepted - own if own <= self.accepted else self.accepted | own
        self._tell()

    def action_every(self, accept: bool) -> None:
        """Accept everything, or nothing."""
        if self.choosing:
            self.accepted = all_parts(self._files) if accept else frozenset()
            self._tell()

    def action_beside(self) -> None:
        """Both sides beside each other, or one below the other."""
        self.layout_wanted = "below" if self.beside else "beside"
        cursor = self.cursor
        self.lay_out()
        if cursor is not None:
            self.go_to(cursor)
