"""A place to write several lines."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea


class Area(TextArea):
    """A text area with the keys of a shell's line; ^Z is the terminal's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+underscore", "undo", "Undo", show=False),
        Binding("ctrl+b", "cursor_left", "Left", show=False),
        Binding("ctrl+f", "cursor_right", "Right", show=False),
        Binding("alt+d", "delete_word_right", "Delete the next word", show=False),
        Binding("ctrl+y", "yank", "Bring back what was cut", show=False),
    ]
    _cut = ""  # what was cut last, for ^Y

    def action_delete_word_left(self) -> None:
        """Cut the word before the cursor."""
        before = self.text
        super().action_delete_word_left()
        self._keep_cut(before)

    def action_delete_word_right(self) -> None:
        """Cut the word behind the cursor."""
        before = self.text
        super().action_delete_word_right()
        self._keep_cut(before)

    def action_delete_to_start_of_line(self) -> None:
        """Cut what is before the cursor."""
        before = self.text
        super().action_delete_to_start_of_line()
        self._keep_cut(before)

    async def action_delete_to_end_of_line_or_delete_line(self) -> None:
        """Cut what is behind the cursor."""
        before = self.text
        await super().action_delete_to_end_of_line_or_delete_line()
        self._keep_cut(before)

    def _keep_cut(self, before: str) -> None:
        """What is missing now was where the cursor is."""
        at = len(self.get_text_range((0, 0), self.cursor_location))
        self._cut = before[at : at + len(before) - len(self.text)] or self._cut

    def action_yank(self) -> None:
        """Bring back what was cut last."""
        if self._cut and not self.read_only:
            result = self.replace(self._cut, *self.selection, maintain_selection_offset=False)
            self.move_cursor(result.end_location)
