"""The list over the composer from which one chooses what was meant."""

from collections.abc import Callable, Sequence

from rich.cells import cell_len, chop_cells
from rich.text import Text
from textual import events
from textual.geometry import Offset, Region, Size
from textual.widget import Widget

from steersman.views.completion.sources import Offer
from steersman.views.text import one_line

MOST_ROWS = 8
_BESIDE = 24  # columns that a description needs at least


def draw(offers: Sequence[Offer], chosen: int, width: int, rows: int) -> list[Text]:
    """The lines of the list: as many as there is room for, the chosen one among them."""
    first = max(0, min(chosen - rows // 2, len(offers) - rows))
    shown = offers[first : first + rows]
    labels = max((cell_len(one.label) for one in shown), default=0)
    room = max(1, width - 2)
    beside = room - min(labels, room) - 2
    with_about = beside >= _BESIDE and any(one.about for one in shown)
    lines = []
    for number, offer in enumerate(shown, first):
        line = Text("› " if number == chosen else "  ", no_wrap=True, end="")
        label = _label(offer, labels if with_about else room)
        line.append_text(label)
        if with_about and offer.about:
            line.append(" " * (labels - label.cell_len + 2))
            line.append(one_line(offer.about, beside), style="dim")
        line.truncate(width)
        if number == chosen:
            line.pad_right(max(0, width - line.cell_len))
            line.stylize("reverse")
        lines.append(line)
    return lines


def _label(offer: Offer, room: int) -> Text:
    """The label with its matching letters marked; of a long path, the end is what matters."""
    label = Text(one_line(offer.label, len(offer.label) + 1) or " ", no_wrap=True, end="")
    for place in offer.positions:
        label.stylize("bold underline", place, place + 1)
    if label.cell_len <= room or not offer.is_path:
        label.truncate(room, overflow="ellipsis")
        return label
    over = cell_len(label.plain) - room + 1
    cut = len(chop_cells(label.plain, over)[0]) if over > 0 else 0
    rest = label[cut:]
    while rest.cell_len > room - 1 and rest.plain:
        rest = rest[1:]
    return Text("…", no_wrap=True, end="").append_text(rest)


class Popup(Widget):
    """Shows offers above what one writes. It never takes the focus."""

    DEFAULT_CSS = """
    Popup {
        overlay: screen;
        constrain: inside inside;
        display: none;
        background: $panel;
        color: $foreground;
    }
    """
    can_focus = False

    def __init__(self, choose: Callable[[int], None]) -> None:
        super().__init__()
        self._text = Text()
        self._choose = choose
        self._offers: Sequence[Offer] = ()
        self._chosen = 0
        self._rows = 0

    def show(self, offers: Sequence[Offer], chosen: int, beside: Region, screen: Size) -> None:
        """Show offers at the composer's region, above it where there is more room."""
        above, below = beside.y, screen.height - beside.bottom
        rows = max(1, min(MOST_ROWS, len(offers), max(above, below)))
        lines = draw(offers, chosen, max(1, beside.width), rows)
        self._offers, self._chosen, self._rows = offers, chosen, len(lines)
        self._text = Text("\n").join(lines)
        self.styles.height, self.styles.width = len(lines), beside.width
        top = beside.y - len(lines) if above >= len(lines) or above >= below else beside.bottom
        self.absolute_offset = Offset(beside.x, max(0, top))
        self.display = True
        self.refresh(layout=True)

    def render(self) -> Text:
        """The lines."""
        return self._text

    def hide(self) -> None:
        """Show nothing."""
        self._offers = ()
        self.display = False

    def on_click(self, event: events.Click) -> None:
        """Choose the offer that was clicked."""
        event.stop()
        first = max(0, min(self._chosen - self._rows // 2, len(self._offers) - self._rows))
        number = first + event.y
        if 0 <= number < len(self._offers):
            self._choose(number)
