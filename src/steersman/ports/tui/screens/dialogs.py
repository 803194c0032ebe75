"""Questions over the conversation: what to do, a line of text, and whether a folder is trusted."""

from collections.abc import Callable, Sequence
from time import monotonic
from typing import ClassVar, TypeVar

from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

from steersman.ports.tui.answers import Answers
from steersman.ports.tui.keys import SEEN
from steersman.ports.tui.panes.lines import stacked
from steersman.ports.tui.screens.reading import Drawn, markdown
from steersman.views.commands.stage import Deed
from steersman.views.requests import Offered
from steersman.views.text import one_line, safe

Result = TypeVar("Result")
WORDS = 1.0  # seconds after a letter of a sentence in which `y` is another one


class Listed(ModalScreen[Result]):
    """A dialog with the list of its answers, which the same keys answer as on every card.

    `seen` are the seconds after which an Enter or a number is one for this question.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "move(1)", "Down", show=False),
        Binding("k,up", "move(-1)", "Up", show=False),
        Binding("enter", "choose", "Choose", show=False),
        *(Binding(str(digit), f"take({digit})", show=False) for digit in range(1, 10)),
        Binding("pagedown,space", "scroll(10)", "Page down", show=False),
        Binding("pageup", "scroll(-10)", "Page up", show=False),
    ]

    def __init__(
        self,
        title: str,
        rows: Sequence[Offered],
        marked: int = 0,
        seen: float = SEEN,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        super().__init__()
        self._title = title
        self._answers = Answers(rows, marked, classes="box-foot")
        self._clock = clock
        self._seen_from = clock() + seen

    def compose(self) -> ComposeResult:
        """The question, what it is about, and the answers."""
        with Vertical(classes="box"):
            yield Label(Content(one_line(self._title, 300)), classes="box-title")
            with VerticalScroll(can_focus=False):
                yield from self.about()
            yield self._answers

    def about(self) -> ComposeResult:
        """What it is about."""
        raise NotImplementedError

    def give(self, key: str) -> None:
        """Give the answer of a key."""
        raise NotImplementedError

    def action_move(self, by: int) -> None:
        """Mark another answer."""
        self._answers.move(by)

    def action_choose(self) -> None:
        """Give the answer that is marked."""
        if self._answers.marked is not None:
            self.action_take(self._answers.marked + 1)

    def action_take(self, number: int) -> None:
        """Give an answer by its number, when the list has been seen."""
        rows = self._answers.rows if self._answers.display else ()
        if number <= len(rows) and self._clock() >= self._seen_from:
            self.give(rows[number - 1].key)

    def action_scroll(self, by: int) -> None:
        """More of what it is about."""
        self.query_one(VerticalScroll).scroll_relative(y=by, animate=False)


class Choose(Listed[str | None]):
    """What to do, of several deeds: the answer is the key of one; `body` is Markdown."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q", "dismiss(None)", "Close", show=False),
    ]

    def __init__(self, title: str, body: str, deeds: Sequence[Deed], seen: float = SEEN) -> None:
        rows = [Offered(one.key, f"{one.words[:1].upper()}{one.words[1:]}") for one in deeds]
        super().__init__(title, rows, seen=seen)
        self._body = body

    def about(self) -> ComposeResult:
        """The text."""
        yield Drawn(markdown(self._body))

    def give(self, key: str) -> None:
        """Do this."""
        self.dismiss(key)

    def on_key(self, event: events.Key) -> None:
        """The letter of a deed."""
        if any(one.key == event.character for one in self._answers.rows):
            event.stop()
            self.give(event.character or "")


class Confirm(Listed[bool]):
    """Ask for an approval; `body` is Markdown. Anything but a clear yes is a no."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "Yes", show=False),
        Binding("n,escape,q", "answer(False)", "No", show=False),
    ]

    def __init__(
        self,
        title: str,
        body: str = "",
        patience: float = 0,
        clock: Callable[[], float] = monotonic,
        seen: float = SEEN,
    ) -> None:
        rows = Offered("y", "Yes"), Offered("n", "No")
        super().__init__(title, rows, seen=max(patience, seen), clock=clock)
        self._body = body
        self._counts_from = clock() + patience

    def about(self) -> ComposeResult:
        """The text."""
        yield Drawn(markdown(self._body))

    def give(self, key: str) -> None:
        """The same by the list."""
        self.action_answer(key == "y")

    def action_answer(self, yes: bool) -> None:
        """Take the answer; a `y` right after a letter that may begin a sentence is none."""
        if not yes or self._clock() >= self._counts_from:
            self.dismiss(yes)

    def on_key(self, event: events.Key) -> None:
        """A letter that is no key here is of a sentence, and so is the next one."""
        if event.is_printable and event.character not in set("ynqjk 12"):
            self._counts_from = self._clock() + WORDS


class Trust(Listed[bool | None]):
    """Whether what a folder comes with may be used: asked before anything of it is."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "give('y')", "Yes", show=False),
        Binding("n", "give('n')", "No", show=False),
        Binding("escape", "give('')", "Later", show=False),
    ]

    def __init__(self, told: str, found: Sequence[tuple[str, str]]) -> None:
        rows = (
            Offered("y", "Yes, use it from now on"),
            Offered("n", "No, never use it"),
            Offered("Esc", "Decide later"),
        )
        super().__init__("Do you trust this folder?", rows, marked=2, seen=0)
        self._told = told
        self._found = found

    def about(self) -> ComposeResult:
        """What was found; what is marked decides nothing."""
        lines = [
            Content.assemble((one_line(path, 200), "bold"), (f"  {one_line(what, 2000)}", "$muted"))
            for path, what in self._found
        ]
        yield Static(Content(f"{safe(self._told)}\n"))
        yield Static(stacked(lines))
        yield Static(Content("\nNone of it is used yet."))

    def give(self, key: str) -> None:
        """The user's decision, which is kept; or not now: then nothing of it is used."""
        self.dismiss({"y": True, "n": False}.get(key))

    action_give = give


class AskLine(ModalScreen[str | None]):
    """Ask for a line of text; `why` the last one did not do is said above it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "leave", "Leave", show=False)]

    def __init__(
        self, title: str, default: str = "", *, hidden: bool = False, why: str = ""
    ) -> None:
        super().__init__()
        self._why = why
        self._title = title
        self._default = default
        self._hidden = hidden

    def compose(self) -> ComposeResult:
        """The question and a line to write on."""
        with Vertical(classes="box small"):
            yield Label(Content(one_line(self._title, 300)), classes="box-title")
            if self._why:
                yield Static(Content.styled(safe(self._why), "$warning"), classes="box-why")
            words = Input(self._default, compact=True, password=self._hidden, select_on_focus=False)
            words.cursor_blink = False
            yield words
            yield Label("Enter confirms · Esc cancels", classes="box-foot")

    def on_mount(self) -> None:
        """Write at once."""
        self.query_one(Input).focus()

    @on(Input.Submitted)
    def _taken(self, event: Input.Submitted) -> None:
        self.dismiss(event.value)

    def action_leave(self) -> None:
        """No answer."""
        self.dismiss(None)
