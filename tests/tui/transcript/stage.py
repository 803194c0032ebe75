"""A transcript alone on a screen, driven by keys."""

import asyncio
from collections.abc import Awaitable, Callable

from textual.app import App, ComposeResult
from textual.pilot import Pilot

from steersman.ports.tui.themes import NAMES, theme
from steersman.ports.tui.transcript import Transcript
from steersman.views.story import Story
from tests.views.story.threads import Thread


class Stage(App[None]):
    """Nothing but a transcript."""

    def __init__(self, story: Story, look: str = "dark") -> None:
        super().__init__()
        self.story = story
        self.look = look

    def compose(self) -> ComposeResult:
        """The transcript."""
        yield Transcript(self.story)

    def on_mount(self) -> None:
        """Keys go to it."""
        for name in NAMES:
            self.register_theme(theme(name))
        self.theme = self.look
        self.query_one(Transcript).read()


def on_stage(
    story: Story,
    act: Callable[[Stage, Transcript, Pilot[None]], Awaitable[None]],
    size: tuple[int, int] = (80, 24),
    look: str = "dark",
) -> None:
    """Put a story on the stage and act."""

    async def play() -> None:
        app = Stage(story, look)
        async with app.run_test(size=size) as pilot:
            await pilot.pause()
            await act(app, app.query_one(Transcript), pilot)

    asyncio.run(play())


def long_story(turns: int) -> tuple[Story, Thread]:
    """A thread of many turns, each with a prompt, words, calls and an end."""
    thread = Thread()
    for number in range(turns):
        thread.begin(f"prompt {number}")
        thread.says(f"Answer **{number}**.\n\n- one\n- two\n\n```python\nx = {number}\n```")
        output = {"wall_ms": 5, "exit_code": 0, "output": f"line of {number}\n" * 20}
        thread.did("workspace_run_command", output, command=f"run {number}")
        thread.end()
    story = Story()
    for message in thread.messages:
        story.feed(message)
    return story, thread
