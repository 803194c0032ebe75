"""A place to write several lines."""

from typing import ClassVar

from textual.binding import Binding, BindingType
from textual.widgets import TextArea


class Area(TextArea):
    """A text area in which ^_ undoes, as in a shell; ^Z is the terminal's."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+underscore", "undo", "Undo", show=False),
        Binding("ctrl+b", "cursor_left", "Left", show=False),
        Binding("ctrl+f", "cursor_right", "Right", show=False),
    ]
