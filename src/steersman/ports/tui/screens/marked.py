"""A list whose chosen row has a mark before it, so that it is seen without colours too."""

from collections.abc import Iterable

from textual.content import Content
from textual.widgets import OptionList
from textual.widgets.option_list import Option

MARK, NONE = "› ", "  "


class Marked(OptionList):
    """Rows to choose from; the first is chosen, unless another one is named."""

    rows: tuple[Content, ...] = ()
    _at: int | None = None  # the row with the mark

    def fill(self, rows: Iterable[Content], at: int = 0) -> None:
        """Show these."""
        self.clear_options()
        self.rows = tuple(rows)
        self.add_options(Option(Content(NONE) + row) for row in self.rows)
        self.highlighted = at if self.rows else None

    def change(self, at: int, row: Content) -> None:
        """Show another row at a place."""
        self.rows = (*self.rows[:at], row, *self.rows[at + 1 :])
        self._draw(at)

    def move(self, by: int) -> None:
        """Choose another."""
        if self.rows:
            self.highlighted = max(0, min(len(self.rows) - 1, (self.highlighted or 0) + by))

    def watch_highlighted(self, highlighted: int | None) -> None:
        """Another row is chosen."""
        before, self._at = self._at, highlighted
        for at in (before, highlighted):
            if at is not None and at < self.option_count:
                self._draw(at)
        super().watch_highlighted(highlighted)

    def _draw(self, at: int) -> None:
        mark = Content.styled(MARK, "bold") if at == self._at else Content(NONE)
        self.replace_option_prompt_at_index(at, mark + self.rows[at])
