"""What a command may use of the application that runs it: the seat, and ways to show and ask.

The full-screen application and plain mode both fulfil this, so every command works in both.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Protocol

from msgspec import Struct

from steersman.views.blocks import Block
from steersman.views.seat import Seat


class Row(Struct, frozen=True):
    """One line of a list to choose from: `key` is the answer, `detail` is beside the text.

    Of a setting's values, the one that holds `now` is where the choice begins.
    """

    key: str
    text: str
    detail: str = ""
    now: bool = False

    @classmethod
    def value(cls, name: str, about: str, *, now: bool) -> "Row":
        """A value of a setting."""
        return cls(name, f"{name} (now)" if now else name, about, now)


class Deed(Struct, frozen=True):
    """Something that a letter does."""

    key: str
    words: str


class Selection(Struct, frozen=True):
    """The keys of the rows that are kept, and the key of what is to be done."""

    keys: tuple[str, ...]
    deed: str


class Stage(Protocol):
    """Where commands act. Texts are data: whoever shows them makes them safe."""

    @property
    def seat(self) -> Seat:
        """The user's place at a thread."""
        ...

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables the application was started with."""
        ...

    def tell(self, text: str, advice: str = "") -> None:
        """Say one thing in passing."""
        ...

    def done(self, text: str) -> None:
        """Say what was done, unless the conversation shows that by itself."""
        ...

    def working(self, text: str) -> AbstractContextManager[None]:
        """Say what is being done, as long as it is."""
        ...

    def show(self, title: str, markdown: str) -> None:
        """Show a text to read."""
        ...

    async def read(self, title: str, markdown: str, deeds: Sequence[Deed] = ()) -> str | None:
        """Show a text until it is closed, or one of the deeds is chosen: the answer is its key."""
        ...

    async def unfold(self, block: Block) -> None:
        """Show all of a block of the conversation."""
        ...

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """Let the user choose a row, with search; the answer is its key, None for none."""
        ...

    async def confirm(self, title: str, body: str) -> bool:
        """Ask for an approval; `body` is Markdown and may hold a diff."""
        ...

    async def select(
        self,
        title: Callable[[int], str],
        body: str,
        rows: Sequence[Row],
        kept: Sequence[str],
        deeds: Sequence[Deed],
    ) -> Selection | None:
        """Ask what to do with some rows, of which those `kept` are marked; None: nothing.

        `title` is a question about as many rows as are marked.
        """
        ...

    async def edit(self, title: str, text: str) -> str | None:
        """Let the user change a text of several lines; None when it stays as it is."""
        ...

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        """Ask for a line of text, and say why the last one did not do; None for no answer."""
        ...

    async def secret(self, title: str, why: str = "") -> str | None:
        """The same for a line that is not shown, such as a key."""
        ...

    def compose(self, text: str) -> None:
        """Put text where the user writes, for them to continue with."""
        ...

    def files(self) -> Sequence[str]:
        """The files in context: those that were named with `@`."""
        ...

    def drop(self, file: str) -> None:
        """Take a file out of context."""
        ...

    def copy(self, text: str) -> bool:
        """Put text into the clipboard; False where there is none."""
        ...

    async def say(self, prompt: str) -> None:
        """Say something to the model as the user would."""
        ...

    async def moved(self) -> None:
        """The seat is at another thread, or at none, or sat down again: follow it."""
        ...

    async def open(self, name: str) -> bool:
        """Open a pane or screen: diff, thread, keys, editor; False where there is none.

        `thread` is all that the thread changed.
        """
        ...

    def themes(self) -> Sequence[str]:
        """The names of the themes there are, the one in use first."""
        ...

    def theme(self, name: str) -> None:
        """Choose a theme."""
        ...

    def leave(self) -> None:
        """End the application; what runs here is stopped, and the thread is kept."""
        ...

    def detach(self) -> None:
        """End the application; a turn that runs here continues without it."""
        ...
