"""A composer alone on a screen, as the application would have it, and a folder to write in."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from textual import on
from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from steersman.ports.tui.composer import Composer

COMMANDS = (
    ("help", "Show what there is.", ""),
    ("model", "Use another model.", "NAME"),
    ("undo", "Take back the last turn.", ""),
)
SKILLS = (("review", "Look at changes with care."), ("release", "Make a release."))


class Desk(App[None]):
    """Keeps what the composer says."""

    CSS = "#above { height: 1fr; }"

    def __init__(self, folder: Path, home: Path, environ: dict[str, str]) -> None:
        super().__init__()
        self._folder, self._home, self._environ = folder, home, environ
        self.said: list[tuple[Any, ...]] = []
        self.told: list[str] = []

    def compose(self) -> ComposeResult:
        yield Static("the conversation", id="above")
        yield Composer(
            str(self._folder),
            self._home,
            environ=self._environ,
            commands=lambda: COMMANDS,
            skills=lambda: SKILLS,
            arguments=lambda line: [("/model alpha", "the first")] if "/model" in line else [],
        )

    def on_mount(self) -> None:
        self.composer.focus()
        self.composer.cursor_blink = False

    @property
    def composer(self) -> Composer:
        return self.query_one(Composer)

    @on(Composer.Said)
    def _said(self, event: Composer.Said) -> None:
        self.said.append(("said", event.text, event.mentions))
        self.images = event.images

    @on(Composer.Queued)
    def _queued(self, event: Composer.Queued) -> None:
        self.said.append(("queued", event.text, event.mentions))

    @on(Composer.Command)
    def _command(self, event: Composer.Command) -> None:
        self.said.append(("command", event.line))

    @on(Composer.Shell)
    def _shell(self, event: Composer.Shell) -> None:
        self.said.append(("shell", event.command))

    def notify(self, message: str, **how: Any) -> None:
        self.told.append(message)
        super().notify(message, **how)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """There is no terminal to lend in a test, and none is needed."""
        yield


Act = Callable[[Desk, Pilot[None]], Awaitable[None]]


def write(
    tmp_path: Path,
    act: Act,
    size: tuple[int, int] = (80, 24),
    environ: dict[str, str] | None = None,
) -> Desk:
    """Do something at a desk; what it left is in `tmp_path`."""
    folder = tmp_path / "house"
    folder.mkdir(exist_ok=True)
    desk = Desk(folder, tmp_path / "home", {"PATH": "/usr/bin:/bin", **(environ or {})})

    async def run() -> None:
        async with desk.run_test(size=size) as pilot:
            await pilot.pause()
            await act(desk, pilot)

    asyncio.run(run())
    return desk


async def offered(desk: Desk, pilot: Pilot[None]) -> list[str]:
    """What is offered, once the folder was looked at."""
    await desk.workers.wait_for_complete()
    await pilot.pause()
    return [offer.label for offer in desk.composer.assistant.offers]
