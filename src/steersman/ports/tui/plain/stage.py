"""A stage of lines: what commands show and ask, printed and typed."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click

from steersman.ports.tui.plain.lines import Lines
from steersman.ports.tui.plain.telling import Teller
from steersman.ports.tui.plain.words import narrowed, offered, plain_text
from steersman.views.blocks import Block
from steersman.views.commands.stage import Deed, Row, Selection
from steersman.views.seat import Seat
from steersman.views.text import advised, one_line, safe

LISTED = 20
ANY = 1_000_000  # columns: nothing is wrapped
KEYS = """- Enter sends the line; while a turn runs, it queues it.
- Enter alone sends the oldest queued line now.
- A line that ends with \\ continues on the next one.
- Ctrl+C stops the turn; twice quits.
- Ctrl+D quits."""


class LineStage(ABC):
    """A `Stage` without a screen. `begun` is what the next line continues from."""

    def __init__(self, seat: Seat, lines: Lines, environ: Mapping[str, str]) -> None:
        self._seat = seat
        self._lines = lines
        self._environ = environ
        self._teller = Teller(seat, self.hang_up)
        self._left = asyncio.Event()
        self._putting: asyncio.Task[Any] | None = None  # a question that waits for its line
        self._begun = ""
        self.detached = False  # a turn continues without the conversation

    @property
    def seat(self) -> Seat:
        """The user's place."""
        return self._seat

    @property
    def environ(self) -> Mapping[str, str]:
        """The variables of the process."""
        return self._environ

    def tell(self, text: str, advice: str = "") -> None:
        """Print it."""
        self._teller.print(safe(advised(text, advice)))

    def show(self, title: str, markdown: str) -> None:
        """Print it, under its title."""
        self._teller.print(f"{safe(title)}\n{plain_text(safe(markdown))}\n")

    def done(self, text: str) -> None:
        """Print it: lines do not show everything that is in the log."""
        self.tell(text)

    @contextmanager
    def working(self, text: str) -> Iterator[None]:
        """Print it."""
        self.tell(text)
        yield

    async def read(self, title: str, markdown: str, deeds: Sequence[Deed] = ()) -> str | None:
        """Print it, and ask what to do."""
        self.show(title, markdown)
        while deeds:
            said = await self._ask(f"{offered(deeds)}, or nothing to close: ")
            if not said:
                return None
            if any(one.key == said.lower() for one in deeds):
                return said.lower()
        return None

    async def unfold(self, block: Block) -> None:
        """Print it, each of its lines as long as it is."""
        from steersman.ports.tui.drawing import MONO, unfolded
        from steersman.views.printed import whole

        for line in unfolded(await whole(self._seat, block))(ANY, MONO):
            self._teller.print(line.plain)

    async def pick(self, title: str, rows: Sequence[Row]) -> str | None:
        """Print a list with numbers; words narrow it down."""
        shown = list(rows)
        while True:
            self._teller.print(safe(title))
            for number, row in enumerate(shown[:LISTED], 1):
                self._teller.print(f"{number:>3}  {one_line(row.text)}  {one_line(row.detail)}")
            if len(shown) > LISTED:
                self._teller.print(f"     and {len(shown) - LISTED} more")
            said = await self._ask("number, words to search for, or nothing: ")
            if not said:
                return None
            if said.isdecimal() and 0 < int(said) <= min(len(shown), LISTED):
                return shown[int(said) - 1].key
            if any(row.key == said for row in rows):
                return said
            shown = narrowed(rows, said)
            if not shown:
                self.tell("No match.")
                shown = list(rows)

    async def confirm(self, title: str, body: str) -> bool:
        """Print what it is about and wait for an approval."""
        self._teller.print(plain_text(safe(body)))
        while True:
            said = await self._ask(f"{safe(title)} [y]es, [n]o: ")
            if said is None or said.lower() in ("n", "no"):
                return False
            if said.lower() in ("y", "yes"):
                return True

    async def select(
        self,
        title: Callable[[int], str],
        body: str,
        rows: Sequence[Row],
        kept: Sequence[str],
        deeds: Sequence[Deed],
    ) -> Selection | None:
        """Print the rows with numbers; a number marks a row, or unmarks it."""
        self._teller.print(plain_text(safe(body)))
        keys = [row.key for row in rows]
        chosen = set(kept)
        while True:
            for number, row in enumerate(rows, 1):
                mark = "x" if row.key in chosen else " "
                self._teller.print(f"{number:>3} [{mark}] {row.detail} {one_line(row.text)}")
            how = f"{offered(deeds)}, a number to mark or unmark, or nothing to cancel"
            said = (await self._ask(f"{safe(title(len(chosen)))} {how}: ") or "").lower()
            if not said:
                return None
            if any(one.key == said for one in deeds):
                return Selection(tuple(key for key in keys if key in chosen), said)
            if said.isdecimal() and 0 < int(said) <= len(keys):
                chosen ^= {keys[int(said) - 1]}

    async def edit(self, title: str, text: str) -> str | None:
        """Change a text in the user's own editor."""
        self._lines.pause()
        try:
            return await asyncio.to_thread(click.edit, text, extension=".txt")
        finally:
            self._lines.start()

    async def ask(self, title: str, default: str = "", why: str = "") -> str | None:
        """Ask for a line."""
        if why:
            self.tell(why)
        told = f" [{one_line(default)}]" if default else ""
        said = await self._ask(f"{safe(title)}{told}: ")
        return default if said == "" else said

    async def secret(self, title: str, why: str = "") -> str | None:
        """Ask for a line; the terminal does not show what is typed."""
        if why:
            self.tell(why)
        with self._lines.unseen():
            said = await self._ask(f"{safe(title)}: ")
        self._teller.print("")
        return said

    async def _ask(self, prompt: str) -> str | None:
        self._teller.prompt(prompt)
        self._putting = asyncio.create_task(_line(self._lines))
        try:
            said = await asyncio.shield(self._putting)
        except asyncio.CancelledError:
            if self._putting.cancelled():
                return None  # Ctrl+C at a question is not an answer
            self._putting.cancel()
            raise
        finally:
            self._putting = None
        if said is None:
            self._ended()
        return said.strip() if said is not None else None

    def compose(self, text: str) -> None:
        """Let the next line continue from it."""
        self._begun = text

    @abstractmethod
    def files(self) -> Sequence[str]:
        """The files in context."""

    @abstractmethod
    def drop(self, file: str) -> None:
        """Take a file out of context."""

    def copy(self, text: str) -> bool:
        """Lines have no clipboard."""
        return False

    @abstractmethod
    async def say(self, prompt: str) -> None:
        """Say it to the model."""

    @abstractmethod
    async def moved(self) -> None:
        """Show the other thread."""

    async def open(self, name: str) -> bool:
        """There are no panes; an editor is a program of its own."""
        if name == "keys":
            self.show("Keys", KEYS)
        elif name == "editor":
            await self._edit()
        return name in ("keys", "editor")

    def themes(self) -> Sequence[str]:
        """None: there is nothing to see."""
        return ()

    def theme(self, name: str) -> None:
        """Say that there is nothing to change."""
        self.tell("Themes are not available here.")

    def leave(self) -> None:
        """End the conversation."""
        self._left.set()

    def detach(self) -> None:
        """End the conversation, and let a turn that runs here continue."""
        self.detached = self._seat.here and self._seat.doing == "working"
        self.leave()

    def hang_up(self) -> None:
        """Nobody is there any more."""
        wanted = self._lines.interactive and self._seat.settings.on_hangup == "detach"
        (self.detach if wanted else self.leave)()

    def _ended(self) -> None:
        """There is no more input: the user leaves, or the terminal is gone."""
        (self.hang_up if self._lines.gone else self.leave)()

    async def _edit(self) -> None:
        self._lines.pause()
        try:
            written = await asyncio.to_thread(click.edit, self._begun, extension=".md")
        finally:
            self._lines.start()
        self._begun = ""
        if written and written.strip():
            await self.say(written.strip())
        else:
            self.tell("Nothing was written.")


async def _line(lines: Lines) -> str | None:
    return await lines.next()
