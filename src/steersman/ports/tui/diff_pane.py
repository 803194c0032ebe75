"""Changes to look at, and to choose from: a list of files beside their diffs, and the keys.

`DiffPane` is a pane of the application; `DiffScreen` the same over the whole screen.
"""

from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from rich.text import Text
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical
from textual.message import Message
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from steersman.ports.tui.answers import FEWEST, Answers
from steersman.ports.tui.colours import palette_of
from steersman.ports.tui.diff_view import DiffView
from steersman.ports.tui.drawing.lines import clean_line, cut, wrapped
from steersman.ports.tui.drawing.look import Palette
from steersman.views.hunks import FileDiff, Part
from steersman.views.requests import Offered
from steersman.views.text import counted

LISTED = 100  # columns from which a list of the files fits beside them
LIST_WIDTH = 34
LOW = 10  # rows below which one line must do for the keys


class Choice(Struct, frozen=True):
    """How a choice is called: what is marked, what becomes of the rest, and what keys do."""

    marked: str = "accepted"
    rest: str = "left out"
    toggle: str = "accept or not"
    send: str = "send"


ACCEPTING = Choice()
REVIEWING = Choice("kept", "to be undone", "keep or undo", "undo what is not kept")


class DiffPane(Vertical):
    """Some changes: `show` them, and with `choosing` wait for which of them are accepted.

    Without `keys` it is only looked at.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "send", "send", show=False),
        Binding("escape,q,D", "close", "close", show=False),
    ]
    DEFAULT_CSS = """
    DiffPane { height: 1fr; }
    DiffPane .diff-head { height: 1; padding: 0 1; }
    DiffPane .diff-foot { height: auto; padding: 0 1; }
    DiffPane .diff-body { height: 1fr; }
    DiffPane OptionList {
        width: 34; height: 100%; display: none; border: none; padding: 0 1;
        background: $background; scrollbar-size-vertical: 1;
    }
    DiffPane Answers { padding: 0 1; }
    DiffPane DiffView { padding: 0 0 0 1; }
    """

    class Decided(Message):
        """The user has sent what they accept."""

        def __init__(self, accepted: frozenset[Part]) -> None:
            super().__init__()
            self.accepted = accepted

    class Closed(Message):
        """The user has looked enough."""

    def __init__(
        self,
        files: Sequence[FileDiff] = (),
        *,
        title: str = "changes",
        choosing: bool = False,
        why_whole: str = "",
        choice: Choice = ACCEPTING,
        keys: bool = True,
        answers: Sequence[Offered] = (),
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        # `g` goes to the top here: that answer has only its number.
        self._answers = [Offered("", one.words) if one.key == "g" else one for one in answers]
        self._choice = choice
        self._takes_keys = keys
        self._files = tuple(files)
        self._title = title
        self._choosing = choosing
        self._why_whole = why_whole

    def compose(self) -> ComposeResult:
        """A line above, the files and their diffs, the keys below."""
        yield Static(classes="diff-head")
        with Horizontal(classes="diff-body"):
            files = OptionList(markup=False)
            files.can_focus = False
            yield files
            view = DiffView()
            view.can_focus = self._takes_keys
            view.rest = self._choice.rest
            yield view
        yield Answers(id="diff-answers")
        yield Static(classes="diff-foot")

    def on_mount(self) -> None:
        """Show what there is so far."""
        self._show()

    def show(self, files: Sequence[FileDiff], title: str | None = None) -> None:
        """Show other changes, only to look at; under the same title it stays as scrolled."""
        before = (self._title, self._files)
        self._title, self._files = title or self._title, tuple(files)
        if before != (self._title, self._files) and self.is_mounted:
            self._show(stay=before[0] == self._title)

    def focus_diff(self) -> None:
        """Let the keys go to the diffs."""
        self.view.focus()

    @property
    def view(self) -> DiffView:
        """The diffs."""
        return self.query_one(DiffView)

    def _show(self, *, stay: bool = False) -> None:
        self.view.show(self._files, choosing=self._choosing, stay=stay)
        self._list()
        self._tell()

    def on_resize(self) -> None:
        """A list beside the diffs where there is room for it."""
        self._list()
        self._tell()

    def _list(self) -> None:
        files = self.query_one(OptionList)
        files.display = self.size.width >= LISTED and len(self._files) > 1
        if files.display:
            at = files.highlighted
            files.clear_options()
            files.add_options(Option(self._entry(n)) for n in range(len(self._files)))
            files.highlighted = at if at is not None and at < len(self._files) else 0

    def _entry(self, number: int) -> Text:
        file, palette = self._files[number], palette_of(self.app)
        added, removed = file.counts
        counts = f"+{added} -{removed}"
        box = ""
        if self._choosing:
            count = sum((number, part) in self.view.accepted for part in range(file.parts))
            box = "[x] " if count == file.parts else "[~] " if count else "[ ] "
        room = LIST_WIDTH - 3 - len(counts) - 1 - len(box)
        name = clean_line(file.title)
        shown = name if len(name) <= room else "…" + name[len(name) - max(room - 1, 0) :]
        text = cut(Text().append(box, palette.accent).append(shown, palette.text), LIST_WIDTH - 3)
        text.append(" " * max(room - len(shown) + 1, 1))
        return text.append(f"+{added}", palette.good).append(f" -{removed}", palette.bad)

    def _tell(self) -> None:
        palette = palette_of(self.app)
        added = sum(file.counts[0] for file in self._files)
        removed = sum(file.counts[1] for file in self._files)
        head = Text().append(clean_line(self._title), palette.strong)
        if not self._choosing:
            head.append(f"  {counted(len(self._files), 'file')}", palette.text)
        head.append(f"  +{added}", palette.good).append(f" -{removed}", palette.bad)
        if self._choosing:
            every = sum(file.parts for file in self._files)
            told = f"  {len(self.view.accepted)} of {every} {self._choice.marked}"
            head.append(told, palette.accent)
        self.query_one(".diff-head", Static).update(cut(head, max(self.size.width - 2, 1)))
        width = max(self.size.width - 2, 1)
        told = f"Hunks cannot be chosen: {self._why_whole}." if self._why_whole else ""
        foot = wrapped(told, width, palette.warn) if told else []
        keys = keys_lines(self._keys(), width, palette)
        foot = (foot or keys)[:1] if self.size.height < LOW else [*foot, *keys]
        self.query_one(".diff-foot", Static).update(Text("\n").join(foot))
        most = self.size.height // 4  # most of it is for the diff
        self.query_one(Answers).show(self._answers if most > FEWEST else (), None, width, most)

    def _keys(self) -> list[tuple[str, str]]:
        rest = [("s", "side by side"), ("esc", "back")]
        if not self._choosing:
            return [("j/k", "scroll"), ("tab", "next hunk"), *rest]
        look = [("j/k", "next hunk"), ("pgdn", "scroll"), *rest]
        return [("space", self._choice.toggle), ("f", "file"), ("a/x", "all/none"),
                ("enter", self._choice.send), *look]  # fmt: skip

    @on(DiffView.Moved)
    def _moved(self, event: DiffView.Moved) -> None:
        event.stop()
        files = self.query_one(OptionList)
        if files.display and event.cursor is not None:
            if self._choosing:
                for number in range(len(self._files)):
                    files.replace_option_prompt_at_index(number, self._entry(number))
            files.highlighted = event.cursor[0]
        self._tell()

    @on(OptionList.OptionSelected)
    def _picked(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.view.go_to_file(event.option_index)
        self.view.focus()

    def answered(self, key: str) -> frozenset[Part] | str | None:
        """What a key answers: a yes is to what is accepted, and one that lasts to all of it."""
        number = int(key) if key.isdecimal() else 0
        rows = [one for at, one in enumerate(self._answers, 1) if key == one.key or number == at]
        if not key or not rows or not rows[0].words:
            return None
        if rows[0].key == "y" and self._choosing:
            return self.view.accepted
        left_out = len(self.view.accepted) < sum(file.parts for file in self._files)
        if rows[0].lasts and self._choosing and left_out:
            self.app.bell()
            return None
        return key

    def action_send(self) -> None:
        """Send what is accepted."""
        if self._choosing:
            self.post_message(self.Decided(self.view.accepted))

    def action_close(self) -> None:
        """Go back."""
        self.post_message(self.Closed())


class DiffScreen(ModalScreen[frozenset[Part] | str | None]):
    """Changes over the whole screen; its result is what was accepted, or the key of an answer."""

    DEFAULT_CSS = "DiffScreen { background: $background; align: left top; }"

    def __init__(
        self,
        files: Sequence[FileDiff],
        *,
        title: str = "changes",
        choosing: bool = False,
        why_whole: str = "",
        choice: Choice = ACCEPTING,
        answers: Sequence[Offered] = (),
    ) -> None:
        super().__init__()
        self._pane = DiffPane(
            files, title=title, choosing=choosing, why_whole=why_whole, choice=choice,
            answers=answers,
        )  # fmt: skip

    def compose(self) -> ComposeResult:
        """Nothing but the pane."""
        yield self._pane

    def on_mount(self) -> None:
        """Keys go to the diffs."""
        self._pane.focus_diff()

    def on_key(self, event: events.Key) -> None:
        """A key that the diffs have no use for may be an answer."""
        said = self._pane.answered(event.character or "")
        if said is not None:
            event.stop()
            self.dismiss(said)

    @on(DiffPane.Decided)
    def _decided(self, event: DiffPane.Decided) -> None:
        self.dismiss(event.accepted)

    @on(DiffPane.Closed)
    def _looked(self) -> None:
        self.dismiss(None)


def keys_lines(keys: Sequence[tuple[str, str]], width: int, palette: Palette) -> list[Text]:
    """Keys and what they do, in as many lines as they need; none is broken."""
    lines = [Text()]
    for key, words in keys:
        one = Text.assemble((key, palette.accent), (f" {words}" if words else "", palette.dim))
        if lines[-1] and lines[-1].cell_len + 2 + one.cell_len > width:
            lines.append(Text())
        lines[-1].append("  " if lines[-1] else "")
        lines[-1].append_text(one)
    return [cut(line, width) for line in lines]
