"""What is asked now, as a part of the screen: what is wanted and by whom, all about it, the keys.

It shows; what keys do and what is answered is in `approvals.py`.
"""

from collections.abc import Callable
from time import monotonic

from rich.text import Text
from textual import events
from textual.app import ComposeResult
from textual.containers import Vertical
from textual.widgets import Static

from steersman.ports.tui import request_lines
from steersman.ports.tui.answers import FEWEST, Answers, question_lines
from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.diff_pane import keys_lines
from steersman.ports.tui.diff_view import DiffView
from steersman.ports.tui.drawing.lines import wrapped
from steersman.ports.tui.forms import EditForm, WordsForm
from steersman.ports.tui.keys import SEEN
from steersman.views.blocks import Asked, Request
from steersman.views.requests import Offered
from steersman.views.waiting import Keys, Queue, Waiting

LEAST = 8  # rows for what is asked about, besides a line for each that is asked together
SMALL = 6  # rows below which only the keys themselves are named
ABOUT = 6  # rows of what is asked about that are seen before all answers are
Offer = tuple[tuple[str, ...], tuple[Offered, ...]]  # what is asked together, and the answers


class RequestSheet(Vertical):
    """Shows the request or question that comes next in a queue."""

    def __init__(
        self,
        *,
        patience: float = SEEN,
        clock: Callable[[], float] = monotonic,
        hold: float = 0,
        drafting: Callable[[], bool] = lambda: False,
        way_back: str = "F8",
        folder: Callable[[], str] = str,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._clock = clock
        self._hold = hold
        self._drafting = drafting  # whether a message is half written
        self._way_back = way_back
        self._folder = folder  # that one works in
        self._folded = False
        self._more = False  # whether every answer is shown, with what it covers
        self.can_focus = False  # until something waits
        self._queue = Queue(patience, clock)
        self._option_rows: list[int] = []
        self._note = ""
        self._known: Offer = ((), ())  # what was shown last
        self._form: WordsForm | EditForm | None = None
        self._fitted: tuple[object, ...] = ()

    def compose(self) -> ComposeResult:
        """What is wanted and by whom, all about it, and the keys."""
        yield Static(id="ask-head")
        yield Static(id="ask-list")
        view = DiffView(id="ask-body")
        view.can_focus, view.counts = False, True
        yield view
        yield Answers(id="ask-answers")
        yield WordsForm()
        yield EditForm()
        yield Static(id="ask-foot")

    @property
    def current(self) -> Waiting | None:
        """What is asked now."""
        return self._queue.current

    @property
    def unfolded(self) -> bool:
        """Whether something waits and all of it is shown."""
        return self.current is not None and not self._folded

    @property
    def waiting(self) -> int:
        """How many wait."""
        return len(self._queue)

    @property
    def _view(self) -> DiffView:
        return self.query_one("#ask-body", DiffView)

    @property
    def _list(self) -> Answers:
        return self.query_one("#ask-answers", Answers)

    @property
    def _answers(self) -> list[Offered]:
        """The answers there are to what is asked now."""
        return self._queue.answers(all_seen=self._all_seen)

    @property
    def _offer_now(self) -> Offer:
        """What is asked together now, and the answers to it: a “yes to all” is for these only."""
        return tuple(one.corr for one in self._queue.together), tuple(self._answers)

    def _about(self, width: int) -> list[Text]:
        """The lines above the diffs."""
        palette = palette_of(self.app)
        match self.current:
            case Request(request=request) if self._more:
                return request_lines.details(request, width, palette)
            case Request(request=request):
                return request_lines.about(request, self._folder(), width, palette)
            case Asked(question=question):
                marked, chosen = self._queue.option, self._queue.chosen
                lines, self._option_rows = question_lines(question, marked, chosen, width, palette)
                return lines
        return []

    @property
    def _limit(self) -> int:
        """How many rows there are for all of it."""
        most = self.styles.max_height
        own = int(most.value) if most is not None and most.is_cells else 0
        return own or max(self.app.size.height * 6 // 10, 3)

    def on_resize(self, event: events.Resize) -> None:
        """Other sizes, other lines."""
        if self.current is not None:
            self._fit()

    def _fit(self) -> None:
        """Head and keys first; the rest of the room is for what it is about."""
        width, limit = max((self.size.width or self.app.size.width) - 2, 1), self._limit
        together = self._queue.together
        state = (self.current, self._queue.at, self._queue.option, len(self._queue),
                 self._queue.call, width, limit, self._note, self._form, self._more,
                 palette_of(self.app).name, self._folded,
                 [one.corr for one in together])  # fmt: skip
        if state == self._fitted:
            return
        self._fitted = state
        self.set_class(limit < SMALL, "small")
        self.set_class(self._folded, "folded")
        above = self._head(width, limit)
        form = self._form.rows if self._form is not None else 0
        keys, view = self._keys_lines(width), self._view
        room = max(limit - (limit >= SMALL) - above - len(keys) - form, 1)
        rows = self._answers if isinstance(self.current, Request) and form == 0 else []
        note = self._told(width)[: max(room - 2, 1)]  # what it is about and an answer stay
        room -= len(note)
        self.query_one("#ask-foot", Static).update(Text("\n").join([*note, *keys]))
        about = view.height_at(width - 1)
        seen = 1 if self._more else ABOUT
        least = min(FEWEST + self._list.more(rows, self._queue.option, width, room), room - 1)
        most = max(room - min(about, seen), least) if limit >= SMALL and not self._folded else 0
        room -= self._list.show(rows if most else [], self._queue.option, width, most)
        view.styles.height = max(min(about, room), 1)
        view.lay_out()

    @property
    def _all_seen(self) -> bool:
        """Whether there is room for a line for each that is asked together."""
        return len(self._queue.together) <= max(self._limit - LEAST, 0)

    def _head(self, width: int, limit: int) -> int:
        """Who wants what; several wishes are listed where there is room for them. How many rows."""
        head, place = self.query_one("#ask-head", Static), self.query_one("#ask-list", Static)
        palette, block, queue = palette_of(self.app), self.current, self._queue
        head.display = limit > 2 or self._folded
        together = queue.together if self._all_seen else []
        place.display = len(together) > 1 and not self._folded
        if block is None:
            return 0
        if self._folded:
            head.update(request_lines.folded(block, len(queue), self._way_back, width, palette))
            return 1
        count = max(len(together), 1)
        told = request_lines.head(block, queue.at, len(queue), width, palette, count)
        if limit < LEAST:
            told = told[:1]
        head.update(Text("\n").join(told))
        lines = request_lines.listed(together, block, width, palette) if count > 1 else []
        place.update(Text("\n").join(lines))
        return len(lines) + (len(told) if head.display else 0)

    def _told(self, width: int) -> list[Text]:
        """What went wrong, or waits for Enter."""
        told = self._note if self._limit >= SMALL else ""
        return wrapped(told, width, palette_of(self.app).warn) if told else []

    def _keys(self) -> Keys:
        if self._form is not None:
            return self._form.keys()
        keys = self._queue.keys()
        if isinstance(self.current, Asked):
            return [*keys, ("esc", self.escape)]
        return [*keys, ("?", "back" if self._more else "more")]

    @property
    def escape(self) -> str:
        """What Esc does now, in a word."""
        if self._form is not None:
            return "back"
        return "decline" if self._queue.declinable else "later"

    def _keys_lines(self, width: int) -> list[Text]:
        """The keys beside the answers; where there is no room for a list, the keys of all."""
        palette, keys = palette_of(self.app), self._keys()
        if self._limit >= SMALL:
            return keys_lines(keys, width, palette)
        letters = [one.key for one in self._answers if one.key] if self._form is None else []
        return keys_lines([(key, "") for key in (*letters, *dict(keys))], width, palette)[:1]

    def tell(self, text: str) -> None:
        """Say something about what was just tried."""
        self._note = text
        self._fit()

    def withdraw(self, text: str) -> None:
        """What was said has had its time, unless something else is said by now."""
        if self._note == text:
            self.tell("")
