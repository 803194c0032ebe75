"""What commands may use of the application: showing, asking, moving. See `commands/stage.py`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from steersman.ports.tui.composer import Composer
from steersman.ports.tui.panes.passing import Passing
from steersman.ports.tui.themes import NAMES
from steersman.views.blocks import Block
from steersman.views.commands.stage import Deed, Row, Selection
from steersman.views.seat import Seat

if TYPE_CHECKING:
    from steersman.ports.tui.app import SteersmanApp
    from steersman.records.thread import Thread


class AppStage:
    """The application as a stage."""

    def __init__(self, app: SteersmanApp) -> None:
        self._app = app

    @property
    def seat(self) -> Seat:
        """The user's place at a thread."""
        return self._app.seat

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables the application was started with."""
        return self._app.environ

    def tell(self, text: str, advice: str = "") -> None:
        """Say one thing in passing."""
        self._app.tell(text, advice)

    def notices(self) -> list[str]:
        """What is said in passing now."""
        return [one.text for one in self._app.query_one(Passing).notices]

    def tell_long(self, text: str) -> None:
        """Say one thing for as long as it takes to read and to act on it."""
        self._app.say_for(text, 60)

    def done(self, text: str) -> None:
        """The conversation shows it; what was said before is past."""
        self._app.query_one(Passing).past()

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Say what is being done, as long as it is."""
        said = self._app.say_for(text, None)
        try:
            yield
        finally:
            self._app.withdraw(said)

    def show(self, title: str, markdown: str) -> None:
        """Show a text to read."""
        from steersman.ports.tui.screens import reading

        self._app.push_screen(reading.Reading(title, reading.markdown(markdown)))

    async def read(self, title: str, markdown: str, deeds: Sequence[Deed] = ()) -> str | None:
        """Show a text until it is closed, or a deed is chosen."""
        from steersman.ports.tui.screens import dialogs, reading

        if deeds:
            return await self._app.answered(
                dialogs.Choose(title, markdown, deeds, seen=self._app.seen)
            )
        return await self._app.answered(reading.Reading(title, reading.markdown(markdown)))

    async def unfold(self, block: Block) -> None:
        """Show all of a block, with search."""
        from steersman.ports.tui.drawing import unfolded
        from steersman.ports.tui.screens.printed import Printed
        from steersman.views.printed import title, whole

        drawer = unfolded(await whole(self._app.seat, block))
        self._app.push_screen(Printed(title(block), drawer))

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """Let the user choose a row, with search."""
        from steersman.ports.tui.screens.picker import Picker

        return await self._app.answered(Picker(title, rows))

    async def confirm(self, title: str, body: str) -> bool:
        """Ask for an approval."""
        from steersman.ports.tui.screens.dialogs import Confirm

        answer = await self._app.answered(Confirm(title, body, seen=self._app.seen))
        return bool(answer)

    async def select(
        self,
        title: Callable[[int], str],
        body: str,
        rows: Sequence[Row],
        kept: Sequence[str],
        deeds: Sequence[Deed],
    ) -> Selection | None:
        """Ask what to do with some rows."""
        from steersman.ports.tui.screens.selecting import Select

        return await self._app.answered(Select(title, body, rows, kept, deeds))

    async def edit(self, title: str, text: str) -> str | None:
        """Let the user change a text of several lines."""
        from steersman.ports.tui.screens.selecting import EditText

        return await self._app.answered(EditText(title, text))

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        """Ask for a line of text."""
        from steersman.ports.tui.screens.dialogs import AskLine

        return await self._app.answered(AskLine(title, default, why=why))

    async def secret(self, title: str, why: str = "") -> str | None:
        """Ask for a line that is not shown."""
        from steersman.ports.tui.screens.dialogs import AskLine

        return await self._app.answered(AskLine(title, hidden=True, why=why))

    async def trust(self, told: str, found: Sequence[tuple[str, str]]) -> bool | None:
        """Ask whether a folder is trusted; None when the user decides later."""
        from steersman.ports.tui.screens.dialogs import Trust

        return await self._app.answered(Trust(told, found))

    def offer(self, thread: Thread) -> None:
        """Say, where the conversation is to be, which thread one could go on with."""
        from steersman.ports.tui.panes.welcome import Welcome

        self._app.query_one(Welcome).offer(thread)

    def compose(self, text: str) -> None:
        """Put text where the user writes."""
        self._app.write(text)

    def files(self) -> Sequence[str]:
        """The files in context."""
        return self._app.query_one(Composer).mentions.files

    def drop(self, file: str) -> None:
        """Take a file out of context."""
        self._app.drop(file)

    def copy(self, text: str) -> bool:
        """Put text into the clipboard of the terminal."""
        self._app.copy_to_clipboard(text)
        return True

    async def say(self, prompt: str) -> None:
        """Say something to the model as the user would."""
        await self._app.seat.say(*self._app.query_one(Composer).spoken(prompt))

    async def moved(self) -> None:
        """The seat is at another thread, or at none, or sat down again."""
        self._app.moved()

    async def open(self, name: str) -> bool:
        """Open a pane or screen."""
        if name == "thread":
            return await self._app.reviewing.open_thread()
        return self._app.open_named(name)

    def themes(self) -> Sequence[str]:
        """The names of the themes there are, the one in use first."""
        return sorted(NAMES, key=lambda name: name != self._app.theme)

    def theme(self, name: str) -> None:
        """Change the theme, from now on."""
        self._app.use_theme(name)

    def leave(self) -> None:
        """End the application; the thread is kept."""
        self._app.exit()

    def detach(self) -> None:
        """End the application, and let a turn that runs here continue."""
        self._app.detach()
