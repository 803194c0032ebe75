"""The conversation on the screen: paints the lines of a `Window`, and follows the end.

Changes are gathered: however many come, something is drawn at most thirty times a second, and only
lines that changed are painted again.
"""

import gc
from collections.abc import Callable, Iterable
from time import monotonic
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer
from textual.widget import Widget

from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.drawing import MONO, warm_up
from steersman.ports.tui.drawing.lines import folds
from steersman.ports.tui.drawing.window import Window
from steersman.views.blocks import Block, Work
from steersman.views.printed import artifact
from steersman.views.story import Story

FRAME = 1 / 30  # seconds between two drawings
GUTTER = 1  # cells at the left, where the chosen block is marked
PAINTED = 200  # lines that are kept ready for the screen
FOUND = Style(reverse=True)
COPIED = 5_000  # lines that can be selected at once


class Transcript(ScrollView, can_focus=False):
    """All blocks of a story. It has the focus only between `read` and the next loss of it."""

    DEFAULT_CSS = """
    Transcript {
        background: $background;
        color: $foreground;
        overflow-x: hidden;
        overflow-y: scroll;
        scrollbar-size-vertical: 1;
    }
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "line_down", "Down", show=False, id="transcript.down"),
        Binding("k", "line_up", "Up", show=False, id="transcript.up"),
        Binding("down", "next_block", "Next block", show=False, id="transcript.next"),
        Binding("up", "previous_block", "Previous block", show=False, id="transcript.previous"),
        Binding("pagedown", "page_down", "Page down", show=False, id="transcript.page_down"),
        Binding("pageup", "page_up", "Page up", show=False, id="transcript.page_up"),
        Binding("home", "top", "Beginning", show=False, id="transcript.top"),
        Binding("end", "end", "End", show=False, id="transcript.end"),
        Binding("enter", "fold", "Fold", show=False, id="transcript.fold"),
        Binding("n", "next_person", "Next message", show=False, id="transcript.next_person"),
        Binding("N", "previous_person", "Previous message", show=False,
                id="transcript.previous_person"),
    ]  # fmt: skip

    class Unfolded(Message):
        """All of a block is wanted, and there is no room for it here."""

        def __init__(self, block: Block) -> None:
            super().__init__()
            self.block = block

    def __init__(
        self,
        story: Story | None = None,
        *,
        name: str | None = None,
        id: str | None = None,
        classes: str | None = None,
    ) -> None:
        super().__init__(name=name, id=id, classes=classes)
        self.window = Window(MONO)
        if story is not None:
            self.window.story = story
        self.sought = ""  # the words of the last search
        self.frames = 0  # how often something was drawn
        self._strips: dict[tuple[str, int, str], tuple[Text, Strip]] = {}
        self._changed: set[str] = set()
        self._timer: Timer | None = None
        self._last_frame = 0.0
        self._placing = False
        self._unseen = False  # something came below while the user looks at what is above

    @property
    def story(self) -> Story:
        """What is shown."""
        return self.window.story

    @property
    def following(self) -> bool:
        """Whether the end is followed."""
        return self.window.following

    # What the application says.

    def show(self, story: Story) -> None:
        """Show another story, from its end."""
        self._changed.clear()
        self.window.show(story)
        self._place()
        self.refresh()

    def refresh_blocks(self, blocks: Iterable[Block]) -> None:
        """Blocks are new, changed or gone; they are drawn with the next frame."""
        self._changed.update(block.key for block in blocks)
        if self._timer is None and self.is_attached:
            wait = self._last_frame + FRAME - monotonic()
            self._timer = self.set_timer(max(wait, 0.001), self.draw_now)

    def draw_now(self) -> None:
        """Draw what changed, without waiting for the next frame."""
        if self._timer is not None:
            self._timer.stop()
            self._timer = None
        self._last_frame = monotonic()
        self.frames += 1
        if not self.size.width:
            return
        changed, self._changed = self._changed, set()
        first = self.window.arrange(changed)
        if changed and self.window.top < self.window.lowest and not self._unseen:
            self._unseen = True
            self.refresh()
        self._place()
        if first is not None:
            top = max(first - self.window.top, 0)
            if top < self.window.rows:
                self.refresh(Region(0, top, self.size.width, self.window.rows - top))

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._do(self.window.follow)

    def find(self, words: str, *, back: bool = True) -> bool:
        """Go to the nearest line before (or after) the last found one that has these words."""
        found = self.window.find(words, back=back)
        self._place()
        self.refresh()
        return found

    # The screen.

    def _place(self) -> None:
        """Set height and place without laying out the whole screen again."""
        window = self.window
        self._placing = True
        try:
            size = Size(self.size.width, window.total)
            if size != self.virtual_size:
                self.set_reactive(Widget.virtual_size, size)
                if self.show_vertical_scrollbar:
                    self.vertical_scrollbar.window_virtual_size = window.total
                    self.vertical_scrollbar.window_size = window.rows
            if window.top != self.scroll_y:
                self.scroll_y = window.top
            self.set_reactive(Widget.scroll_target_y, float(window.top))
        finally:
            self._placing = False
        if self._unseen and window.top >= window.lowest:
            self._unseen = False
            self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        """The window was moved: by the wheel, the bar, or a key of the screen's own."""
        super().watch_scroll_y(old_value, new_value)
        # A window whose size changed is moved by the screen itself: `on_resize` puts that right.
        if not self._placing and self.size.width and self.size.height == self.window.rows:
            self.window.move(round(new_value))
            self._place()

    def on_mount(self) -> None:
        """Take the theme, and have what draws ready before it is needed."""
        self.app.theme_changed_signal.subscribe(self, lambda _: self._fit())
        self.run_worker(_get_ready, thread=True, exit_on_error=False)

    def on_resize(self, event: events.Resize) -> None:
        """Another size; what is looked at stays where it is."""
        self._fit()

    def _fit(self) -> None:
        width = self.scrollable_content_region.width - GUTTER
        if self.size.width:
            self.window.resize(max(width, 1), self.size.height, palette_of(self.app))
            self._place()
            self.refresh()

    def read(self) -> None:
        """Let the keys go here. Nothing else brings them: no click, no Tab, no pane that closes."""
        self.can_focus = True
        self.focus()

    def on_focus(self) -> None:
        """Show that the keys go here."""
        self.refresh()

    def on_blur(self) -> None:
        """Keys act on something else now."""
        self.can_focus = False
        self.window.chosen = self.sought = ""
        self.refresh()

    def focus_on_click(self) -> bool:
        """Whoever clicks or selects here continues writing."""
        return False

    def notify_style_update(self) -> None:
        """Other colours: nothing that was painted can be used."""
        self._strips.clear()
        super().notify_style_update()

    def render_line(self, y: int) -> Strip:
        """One line of the window."""
        if self._unseen and y == self.window.rows - 1 > 0:
            return self._below()
        number = y + self.window.top
        found = self.window.line(number)
        if found is None:
            return Strip.blank(self.size.width, self.visual_style.rich_style)
        block, drawn, into = found
        edge = "▌" if block.key == self.window.chosen else "│" if self.has_focus else " "
        strip = self._painted(drawn.lines[into], (block.key, into, edge))
        if self.sought and (block.key, into) == self.window.hit:
            strip = Strip.join([strip.crop(0, 1), strip.crop(1).apply_style(FOUND)])
        if self.text_selection is not None:
            strip = self._selected(strip, number)
        return strip.apply_offsets(0, number)

    def _below(self) -> Strip:
        """The last line, while there is something new further down."""
        base = self.visual_style.rich_style
        words = Segment(" ↓ new below · PgDn", base + self.window.palette.warn)
        return Strip([words]).adjust_cell_length(self.size.width, base)

    def _painted(self, line: Text, key: tuple[str, int, str]) -> Strip:
        """A line ready for the screen; those that were painted lately are kept."""
        width = self.size.width
        kept = self._strips.get(key)
        if kept is not None and kept[0] is line and kept[1].cell_length == width:
            return kept[1]
        base = self.visual_style.rich_style
        edge = Segment(key[2], base + self.window.palette.accent)
        segments = [edge]
        if line.spans:
            rendered = line.render(self.app.console, "")
            segments += [Segment(t, base + style if style else base) for t, style, _ in rendered]
        else:  # then Rich leaves the line's own style to whoever prints it
            style = line.style if isinstance(line.style, Style) else Style.parse(line.style)
            segments.append(Segment(line.plain, base + style))
        room = width - GUTTER - line.cell_len
        if room > 0:
            segments.append(Segment(" " * room, base))
        strip = Strip(segments, width) if room >= 0 else Strip(segments).crop(0, width)
        if len(self._strips) > PAINTED:
            self._strips.clear()
        self._strips[key] = (line, strip)
        return strip

    # Selecting text.

    def _selected(self, strip: Strip, number: int) -> Strip:
        selection = self.text_selection
        span = selection.get_span(number) if selection is not None else None
        if span is None:
            return strip
        start = min(span[0], strip.cell_length)
        end = strip.cell_length if span[1] == -1 else min(span[1], strip.cell_length)
        if end <= start:
            return strip
        style = self.screen.get_component_rich_style("screen--selection")
        chosen = Strip([Segment(strip.crop(start, end).text, style)], end - start)
        return Strip.join([strip.crop(0, start), chosen, strip.crop(end)])

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """The selected text, without the marks at the left edge."""
        first = max(selection.start.y, 0) if selection.start else 0
        last = selection.end.y if selection.end else self.window.total
        told = []
        for number in range(first, min(last + 1, first + COPIED, self.window.total)):
            span = selection.get_span(number)
            if span is None:
                continue
            found = self.window.line(number)
            plain = found[1].lines[found[2]].plain if found else ""
            end = len(plain) if span[1] == -1 else max(span[1] - GUTTER, 0)
            told.append(plain[max(span[0] - GUTTER, 0) : end].rstrip())
        return "\n".join(told), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        """Show it."""
        self.refresh()

    # Keys.

    def _do(self, what: Callable[..., object], *args: int) -> None:
        """Do something to the window, and show it."""
        what(*args)
        self._place()
        self.refresh()

    def action_next_block(self) -> None:
        """Choose the next block."""
        self._do(self.window.step, 1)

    def action_previous_block(self) -> None:
        """Choose the block before."""
        self._do(self.window.step, -1)

    def action_line_down(self) -> None:
        """One line further."""
        self._do(self.window.move, self.window.top + 1)

    def action_line_up(self) -> None:
        """One line back."""
        self._do(self.window.move, self.window.top - 1)

    def action_page_down(self) -> None:
        """A screenful further."""
        self._do(self.window.move, self.window.top + max(self.window.rows - 2, 1))

    def action_page_up(self) -> None:
        """A screenful back."""
        self._do(self.window.move, self.window.top - max(self.window.rows - 2, 1))

    def action_top(self) -> None:
        """To the beginning."""
        self._do(self.window.move, 0)

    def action_end(self) -> None:
        """To the end, and stay there."""
        self.follow()

    def action_next_person(self) -> None:
        """To the next words of the user; in a search, to the next place that has what is sought."""
        self._next(back=False)

    def action_previous_person(self) -> None:
        """To the words of the user before; in a search, to the place before."""
        self._next(back=True)

    def _next(self, *, back: bool) -> None:
        if self.sought:
            self.find(self.sought, back=not back)  # a search goes up
        else:
            self._do(self.window.to_person, -1 if back else 1)

    def action_fold(self) -> None:
        """Open the chosen block, or fold it; without one, open what was folded last."""
        place = self.window.folded()
        if place is not None:
            self._fold(place)

    def _fold(self, place: int) -> None:
        """Open a block, or fold it. What does not fit is opened elsewhere."""
        block = self.story.blocks[place]
        if (isinstance(block, Work) and artifact(block)) or self.window.exceeds(block):
            self.window.chosen = block.key
            self.refresh()
            self.post_message(self.Unfolded(block))
        else:
            self._do(self.window.fold, place)

    def on_click(self, event: events.Click) -> None:
        """Open what a line stands for; elsewhere choose, and open or fold what is chosen."""
        number = event.y + self.window.top
        place = self.window.place_at(number)
        if place is None or self.text_selection is not None:  # whoever selects opens nothing
            return
        found = self.window.line(number)
        key = self.story.blocks[place].key
        if key == self.window.chosen or (found and folds(found[1].lines[found[2]])):
            self._fold(place)
        else:
            self.window.chosen = key
            self.refresh()


def _get_ready() -> None:
    """Import what draws. What is there by now stays: looking through all of it for garbage again
    and again would take longer than a frame."""
    warm_up()
    gc.collect()
    gc.freeze()
