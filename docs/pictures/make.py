"""Make the pictures of the README: the real application, a real host, a scripted model.

    TEXTUAL_COLOR_SYSTEM=truecolor python docs/pictures/make.py [FOLDER]

Each scene plays in a copy of the sample project, in a folder of its own. Nothing in the pictures is
drawn by hand; what is taken away is what a reader cannot use: addresses of fonts and random ids.
"""

import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib.resources import as_file, files
from pathlib import Path
from time import monotonic
from typing import Any

from textual.pilot import Pilot

from steersman.host import Host
from steersman.ports.tui.app import SteersmanApp
from steersman.ports.tui.composer import Composer
from steersman.records.settings import Settings
from steersman.views.seat import Seat

PATIENCE = 60  # seconds
FONTS = "ui-monospace, 'SF Mono', Menlo, Consolas, 'DejaVu Sans Mono', 'Liberation Mono', monospace"
TASK = "The tests fail. Find out why and fix it."
TESTS = "python3 -B -m unittest 2>&1 | tail -3"
STEPS = ("Run the tests", "Find the cause", "Fix it", "Run the tests again")
CHECK = {
    "name": "workspace_run_command",
    "arguments": {"command": TESTS},
}
EDIT = {
    "name": "workspace_edit_files",
    "arguments": {
        "files": [
            {
                "path": "fees.py",
                "edits": [
                    {
                        "search": "(departure - arrival).days + 1",
                        "replace": "(departure - arrival).days",
                    }
                ],
            }
        ]
    },
}
WAIT = {
    "name": "workspace_run_command",
    "arguments": {"command": f"{TESTS}; sleep 600"},
}


def todo(done: int) -> dict[str, Any]:
    """The list of steps, so many of them done."""
    states = ["done"] * done + ["doing"] + ["pending"] * len(STEPS)
    items = [{"text": text, "state": state} for text, state in zip(STEPS, states, strict=False)]
    return {"name": "workspace_update_todo", "arguments": {"items": items}}


def read(path: str) -> dict[str, Any]:
    """A look at a file."""
    return {"name": "workspace_read_file", "arguments": {"path": path}}


TURNS: list[dict[str, Any]] = [
    {"text": "I will run the tests first.", "tool_calls": [todo(0), CHECK]},
    {"text": "All five are wrong **by one night**. I will read how nights are counted.",
     "tool_calls": [read("fees.py"), todo(2)]},
    {"text": "`nights()` counts the day of departure as a night. A boat that leaves on the day it "
     "came stays no night, so the `+ 1` has to go.", "tool_calls": [EDIT]},
    {"text": "Now the tests again.", "tool_calls": [CHECK, todo(4)]},
    {"text": "**All five tests pass.** The fault was in `nights()`:\n\n```python\n"
     "return (departure - arrival).days\n```\n\nIt also gave the long-stay discount a day early. "
     "I changed that one line and nothing else."},
    {"text": "I will watch the tests while you look.", "tool_calls": [WAIT]},
    {"text": "Never said."},
]  # fmt: skip


class Person:
    """Types, waits for something on the screen, and takes a picture of it."""

    def __init__(self, app: SteersmanApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    def screen(self) -> str:
        """The screen as text."""
        lines = self.app.screen._compositor.render_strips()
        return "\n".join("".join(part.text for part in line) for line in lines)

    async def sees(self, *words: str) -> None:
        """Wait until all these words are on the screen."""
        end = monotonic() + PATIENCE
        while not all(word in self.screen() for word in words):
            if monotonic() > end:
                raise TimeoutError(f"{words} did not come:\n{self.screen()}")
            await self.pilot.pause(0.02)
        await self.pilot.pause(0.1)

    async def write(self, text: str) -> None:
        """Write where the focus is."""
        focused = self.app.focused
        if isinstance(focused, Composer):
            focused.insert_text(text)
            await self.pilot.pause()
        else:
            await self.pilot.press(*text)

    async def say(self, text: str) -> None:
        """Write it and press Enter."""
        await self.write(text)
        await self.pilot.press("enter")

    async def picture(self) -> str:
        """The screen as an SVG; what was said in passing has passed."""
        self.app.clear_notifications()
        await self.pilot.pause(0.2)
        return self.app.export_screenshot(title="steer")


@asynccontextmanager
async def at_the_terminal(
    home: Path, size: tuple[int, int], theme: str = "dark", panes: tuple[str, ...] = ("todo",)
) -> AsyncIterator[Person]:
    """The application, open in the sample project."""
    data = home / ".local" / "share" / "steersman"
    data.mkdir(parents=True, exist_ok=True)
    (data / "terminal.json").write_text(json.dumps({"theme": theme, "panes": panes}))
    script = home / "harbour.json"
    script.write_text(json.dumps({"turns": [with_usage(n, t) for n, t in enumerate(TURNS)]}))
    environ = {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "STEERSMAN_HOME": str(data),
        "LANG": "C.UTF-8",
        "TERM": "xterm-256color",
    }
    async with Host.at(data, environ) as host:
        seat = Seat(host, str(home / "harbour"), Settings(model=f"scripted:{script}"))
        app = SteersmanApp(seat, environ)
        app.patience = app.seen = 0
        async with app.run_test(size=size, notifications=True) as pilot:
            person = Person(app, pilot)
            await person.sees("@ file")
            yield person


def with_usage(number: int, turn: dict[str, Any]) -> dict[str, Any]:
    """An answer with figures such as a real model reports."""
    read_again = 6_200 + 900 * number
    usage = {"input": read_again + 840, "cached": read_again, "output": 60 + 15 * number}
    return {**turn, "usage": usage}


async def conversation(home: Path) -> str:
    """A change waits for approval."""
    async with at_the_terminal(home, (108, 42)) as person:
        await person.say(TASK)
        await person.sees("1. Yes, this once (y)")
        return await person.picture()


async def panes(home: Path) -> str:
    """A wide screen: status, task log, todo list, and words that wait."""
    async with at_the_terminal(home, (150, 42), panes=("status", "log", "todo")) as person:
        await fixed(person)
        await person.say("Watch the tests while I look at the changes.")
        await person.sees("I will watch the tests")
        await person.write("Then write a test for a stay over New Year.")
        await person.pilot.press("enter")
        await person.sees("queued")
        return await person.picture()


async def palette(home: Path) -> str:
    """Everything that can be done, by name."""
    async with at_the_terminal(home, (108, 30)) as person:
        await fixed(person)
        await person.pilot.press("ctrl+p")
        await person.sees("Do anything")
        await person.write("co")
        return await person.picture()


async def picker(home: Path) -> str:
    """Threads to go on with, found by what was said."""
    wishes = ("Add a discount for sailing clubs.", "Why is the fee rounded twice?", TASK)
    for wish in wishes:
        async with at_the_terminal(home, (108, 30)) as person:
            await person.say(wish)
            await person.sees("1. Yes, this once (y)")
    async with at_the_terminal(home, (108, 30)) as person:
        await person.say("/resume")
        await person.sees(*wishes)
        return await person.picture()


async def light(home: Path) -> str:
    """The end of the work, in 80 × 24 and light."""
    async with at_the_terminal(home, (80, 24), "light") as person:
        await fixed(person)
        return await person.picture()


async def fixed(person: Person) -> None:
    """The whole task, approved."""
    await person.say(TASK)
    await person.sees("1. Yes, this once (y)")
    await person.pilot.press("y")
    await person.sees("nothing else", "Say what to do")


SCENES: tuple[Callable[[Path], Awaitable[str]], ...] = (
    conversation, panes, palette, picker, light,
)  # fmt: skip


def cleaned(svg: str) -> str:
    """An SVG that fetches nothing and has no random ids."""
    svg = re.sub(r"@font-face\s*\{[^}]*\}\s*", "", svg)
    svg = re.sub(r"font-family:\s*[^;]*Fira Code[^;]*;", f"font-family: {FONTS};", svg)
    svg = re.sub(r"terminal-\d+-", "terminal-", svg)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    return "\n".join(line.rstrip() for line in svg.splitlines() if line.strip()) + "\n"


def make(folder: Path) -> list[Path]:
    """All pictures, into a folder."""
    made = []
    for scene in SCENES:
        with tempfile.TemporaryDirectory() as place:
            home = Path(place).resolve()
            with as_file(files("steersman") / "samples" / "harbour") as sample:
                shutil.copytree(sample, home / "harbour")
            subprocess.run(["git", "init", "-q", "-b", "main", home / "harbour"], check=True)
            svg = cleaned(asyncio.run(_drawn(scene, home)))
            if place in svg:
                raise SystemExit(f"{scene.__name__} shows where it was made: {place}")
        path = folder / f"{scene.__name__}.svg"
        path.write_text(svg, encoding="utf-8")
        made.append(path)
    return made


async def _drawn(scene: Callable[[Path], Awaitable[str]], home: Path) -> str:
    return await scene(home)


if __name__ == "__main__":
    target = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
    for picture in make(target):
        print(picture)
