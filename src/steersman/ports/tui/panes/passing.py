"""What is said in passing: lines of their own above the composer, so that they cover nothing.

Each goes after its time, or when what it announces has ended. What comes while a dialog is open is
there when it is closed.
"""

from textwrap import wrap

from msgspec import Struct
from textual.content import Content
from textual.screen import ModalScreen
from textual.widget import Widget

from steersman.ports.tui.panes.lines import Piece, line, stacked

AGAIN = 2.0  # seconds between looks whether a dialog is closed


class Notice(Struct, frozen=True):
    """A text, and how long it is shown: None until it is withdrawn."""

    text: str
    seconds: float | None
    style: str


class Passing(Widget):
    """The newest notices, as many lines as `most`."""

    most = 3
    covered = False  # by something that is asked: what was said before is not about that

    def __init__(self, *, id: str) -> None:
        super().__init__(id=id)
        self._said: dict[int, Notice] = {}
        self._last = 0
        self.display = False

    @property
    def notices(self) -> list[Notice]:
        """What is said now, the newest last."""
        return list(self._said.values())

    def say(self, text: str, seconds: float | None, style: str = "$accent") -> int:
        """Show a text for so many seconds, or until it is withdrawn by the number returned."""
        self._last += 1
        key = self._last
        self._said = {old: one for old, one in self._said.items() if one.text != text}
        self._said[key] = Notice(text, seconds, style)
        if seconds is not None:
            self.set_timer(seconds, lambda: self._end(key))
        self._show()
        return key

    def withdraw(self, key: int) -> None:
        """What it announced has ended."""
        if self._said.pop(key, None) is not None:
            self._show()

    def past(self) -> None:
        """Something else was done since: only what still continues is said on."""
        self._said = {key: one for key, one in self._said.items() if one.seconds is None}
        self._show()

    def cover(self, covered: bool) -> None:
        """Whether something else has the place; what is said waits behind it, for its time."""
        if covered != self.covered:
            self.covered = covered
            self._show()

    def fold(self, most: int) -> None:
        """Show at most so many lines."""
        if most != self.most:
            self.most = most
            self._show()

    def _end(self, key: int) -> None:
        if isinstance(self.app.screen, ModalScreen) and key in self._said:
            self.set_timer(AGAIN, lambda: self._end(key))
        else:
            self.withdraw(key)

    def _show(self) -> None:
        self.display = bool(self._said) and not self.covered
        self.refresh(layout=True)

    def render(self) -> Content:
        """The newest lines, whole notices first; the last of too many shows that there are more."""
        width = max(1, self.content_size.width)
        shown: list[Content] = []
        for notice in reversed(self.notices):
            drawn = _drawn(notice, width)
            room = self.most - len(shown)
            if len(drawn) > room and shown:
                break
            if len(drawn) > room:
                drawn = [*drawn[: room - 1], drawn[room - 1].append(Content(" …")).truncate(width)]
            shown = [*drawn, *shown]
        return stacked(shown)


def _drawn(notice: Notice, width: int) -> list[Content]:
    """A notice, with a mark before its first line."""
    room = max(width - 2, 1)
    lines = [part for one in notice.text.splitlines() for part in wrap(one, room)] or [""]
    head: Piece = ("· ", f"bold {notice.style}")
    marks = [head, *[("  ", "")] * (len(lines) - 1)]
    return [line([mark, (one, "")], width=width) for mark, one in zip(marks, lines, strict=True)]
