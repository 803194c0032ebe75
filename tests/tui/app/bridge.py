"""A person at the application: a real host, the scripted model, keys, and the screen."""

import asyncio
import re
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from time import monotonic
from typing import Any

from textual import events
from textual.keys import _character_to_key
from textual.pilot import Pilot
from textual.widgets import Input

from steersman.host import Host
from steersman.ports.tui.app import SteersmanApp
from steersman.ports.tui.composer import Composer
from steersman.ports.tui.first import begin
from steersman.ports.tui.wanted import Wanted
from steersman.records.message import Message
from steersman.records.settings import Settings
from steersman.views.seat import Seat
from tests.tui.snapshots import screen_text

ENOUGH = 20  # seconds after which something that should happen is taken not to


class Person:
    """Types, looks, waits."""

    def __init__(self, app: SteersmanApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        """Press keys."""
        await self.pilot.press(*keys)

    def sends(self, text: str) -> None:
        """Letters arrive together, as over a slow line."""
        self.burst(*("enter" if letter == "\n" else letter for letter in text))

    def burst(self, *keys: str) -> None:
        """Keys arrive together."""
        for key in keys:
            letter = {"enter": "\r"}.get(key, key if len(key) == 1 else None)
            named = _character_to_key(key) if len(key) == 1 else key
            self.app.post_message(events.Key(named, letter))

    async def write(self, text: str) -> None:
        """Write without sending, where the keys go; all but the last letter at once."""
        focused, most = self.app.focused, text[:-1]
        if isinstance(focused, Composer):
            focused.insert_text(most)
        elif isinstance(focused, Input):
            focused.insert_text_at_cursor(most)
        else:
            await self.pilot.press(*most)
        await self.pilot.press("space" if text.endswith(" ") else text[-1])

    async def say(self, text: str) -> None:
        """Write and press Enter."""
        await self.write(text)
        await self.pilot.press("enter")

    async def until(self, condition: Callable[[], Any]) -> Any:
        """Wait for something to come true."""
        end = monotonic() + ENOUGH
        while not (answer := condition()):
            if monotonic() > end:
                raise AssertionError(f"it did not happen; the screen:\n{self.screen()}")
            await self.pilot.pause(0.01)
        await self.pilot.pause()
        return answer

    async def turn_ends(self, number: int = 1) -> None:
        """Wait for the end of a turn, and until it is shown."""
        await self.until(lambda: self.story.turn >= number and not self.story.working)
        await self.until(lambda: self.app.seat.doing != "working")

    async def sees(self, *words: str) -> None:
        """Wait until words are on the screen."""
        await self.until(lambda: all(word in self.screen() for word in words))

    @property
    def story(self) -> Any:
        """What the application knows of the thread."""
        return self.app.follower.story

    def screen(self) -> str:
        """The lines of the screen."""
        return screen_text(self.app)

    def picture(self) -> str:
        """The same without what is another each time: ids, durations, versions."""
        text = self.screen()
        if self.app.seat.id:
            text = text.replace(self.app.seat.id, "threadname")
        text = re.sub(re.escape(self.app.seat.folder[:14]) + r"\S*[^\S\n]*", "FOLDER ", text)
        text = re.sub(r" · \d+(\.\d+)? (ms|s)\b", "", text)
        text = re.sub(r" +│", " │", text)
        text = re.sub(r" +(\d+ steps?)\b", r"  \1", text)
        return re.sub(r" +\d+(\.\d+)? (ms|s)(?= │|$)", "  …", text, flags=re.MULTILINE)

    async def svg(self) -> str:
        """The screen as a picture, without the thread's name.

        A dialog keeps what was behind it when it was first drawn, which may be before that was.
        """
        self.app.screen.refresh()
        await self.pilot.pause()
        return self.app.export_screenshot().replace(self.app.seat.id, "threadname")

    def messages(self, kind: str) -> list[Message]:
        """What the log has of a kind."""
        host = self.app.seat.host
        return list(host.messages(self.app.seat.id, kinds={kind}))


@asynccontextmanager
async def at_the_terminal(
    environ: dict[str, str],
    folder: Path,
    model: str = "",
    *,
    size: tuple[int, int] = (80, 24),
    wanted: Wanted | None = None,
    **settings: Any,
) -> AsyncIterator[Person]:
    """The application, open in a folder. With `wanted` it begins as from the command line."""
    chosen = Settings(model=model, **{"command_wait": 600, **settings})
    environ = {"TERM": "xterm-256color", **environ}
    async with Host.at(Path(environ["STEERSMAN_HOME"]), environ) as host:
        seat = Seat(host, str(folder), chosen, given=("model",))

        async def first(stage: Any) -> None:
            assert wanted is not None
            await begin(stage, wanted, lambda _: chosen)

        app = SteersmanApp(seat, environ, first if wanted is not None else None)
        app.patience = app.seen = 0
        async with app.run_test(notifications=True, size=size) as pilot:
            person = Person(app, pilot)
            app.query_one(Composer).cursor_blink = False  # so that pictures are the same
            await pilot.pause()
            yield person


def live(scene: Callable[[], Any]) -> None:
    """Run a scene to its end."""
    asyncio.run(scene())
