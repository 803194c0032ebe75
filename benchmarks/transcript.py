"""The conversation on the screen: a long thread opened and scrolled, and words that stream in."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any

from rich.segment import Segment
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.strip import Strip

from benchmarks.measure import Figure
from steersman.ports.tui.drawing.window import KEPT
from steersman.ports.tui.transcript import Transcript
from steersman.records.message import (
    Assistant,
    AssistantDelta,
    Body,
    DiffReady,
    Message,
    ToolCall,
    ToolResult,
    TurnEnd,
    TurnStart,
    User,
)
from steersman.views.story import Story

MESSAGES = 5_000
RATE, SECONDS = 2_000, 4  # deltas a second, and for how long
SIZE = (120, 40)
NOW = datetime(2026, 1, 1, tzinfo=UTC)
DIFF = "@@ -1,30 +1,30 @@\n" + "".join(f"-old line {n}\n+new line {n}\n" for n in range(30))
PROSE = """## What I found

The function `add` in **calc.py** subtracts, and the tests *agree* with it, so nobody noticed.

- first, the sign is wrong
- second, there is no test for negative numbers

```python
def add(a: int, b: int) -> int:
    # Both are whole numbers.
    return a + b
```

"""


class Watched(Transcript):
    """A transcript that notes when what it had taken in was painted."""

    taken = 0
    drawn = 0
    painted: list[tuple[float, int]]

    def draw_now(self) -> None:
        """Draw, and note how much of the stream is drawn."""
        super().draw_now()
        self.drawn = self.taken

    def render_lines(self, crop: Region) -> list[Strip]:
        """Paint, and note when."""
        lines = super().render_lines(crop)
        self.painted.append((time.perf_counter(), self.drawn))
        return lines


class Screen(App[None]):
    """Nothing but a transcript."""

    def __init__(self, story: Story) -> None:
        super().__init__()
        self.transcript = Watched(story)
        self.transcript.painted = []

    def compose(self) -> ComposeResult:
        """The transcript."""
        yield self.transcript


def figures() -> list[Figure]:
    """Frames of a long thread in CPU time; how far painting falls behind a stream, in real time."""
    messages = thread(MESSAGES)
    fed = min(_cpu(lambda: told(messages)) for _ in range(3))
    opening, slowest, usual, kept = _best(lambda: asyncio.run(_scroll(messages)), 3)
    lag, frames, busy = _best(lambda: asyncio.run(_stream()), 3)
    return [
        Figure(f"telling {MESSAGES:,} messages, CPU", 1000 * fed, 250, "ms"),
        Figure(f"opening a thread of {MESSAGES:,} messages, CPU", 1000 * opening, 50, "ms"),
        Figure(
            "the slowest frame of scrolling through it, CPU", 1000 * slowest, 50, "ms",
            f"usually {1000 * usual:.1f} ms",
        ),
        Figure("lines kept drawn afterwards", kept, KEPT, "lines"),
        Figure(f"falling behind {RATE:,} deltas a second", 1000 * lag, 200, "ms"),
        Figure("drawings a second meanwhile", frames, 31, ""),
        Figure("CPU it takes meanwhile, of one core", 100 * busy, 60, "%"),
    ]  # fmt: skip


def thread(count: int) -> list[Message]:
    """A thread of so many messages, with everything that is dear to draw."""
    bodies: list[tuple[Body, str | None]] = []
    while len(bodies) < count:
        call = f"c{len(bodies)}"
        read = {"total_lines": 90, "lines_read": 90,
                "content": "\n".join(f"{n}\tx = {n}" for n in range(90))}  # fmt: skip
        ran = {"wall_ms": 5, "exit_code": 0, "output": "a line of output\n" * 90}
        bodies += [
            (TurnStart(), None), (User("Go on with the next one, please."), None),
            (Assistant(PROSE, "Let me think about that."), None),
            (ToolCall("workspace_read_file", {"path": "a.py"}), call),
            (ToolResult("workspace_read_file", "ok", read), call),
            (ToolCall("workspace_edit_files", {"files": [{"path": "a.py"}]}), f"{call}e"),
            (DiffReady("a.py", DIFF, 30, 30), f"{call}e"),
            (ToolResult("workspace_edit_files", "ok", {"files": []}), f"{call}e"),
            (ToolCall("workspace_run_command", {"command": "make test"}), f"{call}r"),
            (ToolResult("workspace_run_command", "ok", ran), f"{call}r"),
            (Assistant(PROSE * 3), None), (TurnEnd("done", 3), None),
        ]  # fmt: skip
    return [
        Message("t", seq, NOW, 1, body.kind, "steersman/intelligence", corr, body)
        for seq, (body, corr) in enumerate(bodies[:count], start=1)
    ]


def told(messages: list[Message]) -> Story:
    """The story of messages."""
    story = Story()
    for message in messages:
        story.feed(message)
    return story


async def _scroll(messages: list[Message]) -> tuple[float, float, float, float]:
    """CPU seconds to open, of the slowest and of a usual frame, and how many lines are kept."""
    app = Screen(Story())
    async with app.run_test(size=SIZE) as pilot:
        transcript = app.transcript
        await _warm(app, pilot.pause)
        story = told(messages)
        began = time.process_time()
        transcript.show(story)
        paint(app)
        opening = time.process_time() - began
        times: list[float] = []
        for act in (transcript.action_page_up, transcript.action_top, transcript.action_page_down,
                    transcript.action_previous_person, transcript.action_line_down):  # fmt: skip
            for _ in range(1 if act == transcript.action_top else 150):
                began = time.process_time()
                act()
                paint(app)
                times.append(time.process_time() - began)
        kept = sum(len(drawn.lines) for drawn in transcript.window._drawn.values())
    times.sort()
    return opening, times[-1], times[len(times) // 2], float(kept)


async def _warm(app: Screen, pause: Callable[[], Awaitable[None]]) -> None:
    """What is imported once is not measured as a frame."""
    app.transcript.show(told(thread(20)))
    paint(app)
    await pause()


def paint(app: App[Any]) -> list[list[Segment]]:
    """The whole screen, as it would be sent to a terminal."""
    return [list(strip) for strip in app.screen._compositor.render_strips()]


async def _stream() -> tuple[float, float, float]:
    """The longest time from a delta to the paint that shows it, drawings a second, CPU share."""
    app = Screen(told(thread(200)))
    text = PROSE * 200
    async with app.run_test(size=SIZE) as pilot:
        transcript, story = app.transcript, app.transcript.story
        await _warm(app, pilot.pause)
        transcript.show(story)
        await pilot.pause()
        transcript.painted.clear()
        began, frames, fed = time.perf_counter(), transcript.frames, 0
        cpu = time.process_time()
        while fed < RATE * SECONDS:
            due = min(int((time.perf_counter() - began) * RATE), RATE * SECONDS)
            for number in range(fed, due):
                at = 7 * number % len(text)
                body = AssistantDelta(text[at : at + 7])
                path = "steersman/intelligence"
                delta = Message("t", 0, NOW, 1, body.kind, path, None, body)
                transcript.refresh_blocks(story.feed(delta))
            fed = transcript.taken = due
            await asyncio.sleep(0.002)
        spent, cpu = time.perf_counter() - began, time.process_time() - cpu
        frames = transcript.frames - frames
        transcript.draw_now()
        await pilot.pause(0.1)
    shown, lag = 0, 0.0
    for when, count in transcript.painted:
        if count > shown:
            lag = max(lag, when - began - shown / RATE)  # how old the oldest of these deltas is
            shown = count
    return lag, frames / spent, cpu / spent


def _best(measure: Callable[[], tuple[float, ...]], runs: int) -> tuple[float, ...]:
    """The least of each figure over several runs."""
    return tuple(map(min, zip(*(measure() for _ in range(runs)), strict=True)))


def _cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began
