"""Titles of threads: a few words by the model, in the place of the first words that were said.

A title that the user gave stays. Threads of a scripted model keep their first words: it has none
of its own.
"""

import asyncio
import re
from importlib.resources import files

from steersman.records.errors import SteersmanError
from steersman.records.in_context import typed
from steersman.records.message import Assistant, User
from steersman.records.thread import REWOUND, Thread
from steersman.views.seat import Seat
from steersman.views.text import one_line

LONGEST, SHOWN = 60, 2_000  # characters of a title, and of each text that the model is shown
PATIENCE = 30.0
_MARKS = re.compile(r"^[#>*\-\s\"'“”`]+|[\s\"'“”`*.]+$")


def automatic(thread: Thread, first: str, parent: str) -> bool:
    """Whether nobody named a thread: it is called like its first words, or like its parent."""
    words = " ".join(first.split())
    return bool(thread.title) and (
        words.startswith(thread.title)
        or thread.title.removesuffix(REWOUND) == parent.removesuffix(REWOUND)
    )


def tidy(answer: str) -> str:
    """A model's answer as a title; empty when it is none."""
    lines = [line for line in answer.strip().splitlines() if line.strip("` ")]
    return one_line(_MARKS.sub("", lines[0]), LONGEST) if lines else ""


async def entitle(seat: Seat) -> str:
    """Give the seat's thread a title, if nobody did; the answer is the title, empty for none."""
    if not seat.here or seat.settings.model.startswith("scripted:"):
        return ""
    thread, said, answer = await asyncio.to_thread(_told, seat)
    if not said:
        return ""
    brief = files("steersman.views.commands").joinpath("prompts", "title.md").read_text("utf-8")
    handle = seat.handle
    try:
        async with asyncio.timeout(PATIENCE):
            found = tidy(await handle.aside(brief, f"# Task\n\n{said}\n\n# Answer\n\n{answer}\n"))
        now = await asyncio.to_thread(seat.host.find, thread.id)
        if not found or now.title != thread.title:  # the user was quicker
            return ""
        await handle.set(title=found)
    except (SteersmanError, TimeoutError):
        return ""  # the first words will do
    return found


def _told(seat: Seat) -> tuple[Thread, str, str]:
    """The thread, what was said last, and the answer; nothing said when it has a title."""
    host = seat.host
    thread = host.find(seat.id)
    said: list[str] = []
    answer = ""
    for message in host.messages(thread.id, kinds={"user", "assistant"}):
        match message.body:
            case User(text=text):
                said.append(typed(text))
            case Assistant(text=text) if text:
                answer = text
    parent = host.find(thread.parent).title if thread.parent else ""
    if not said or not automatic(thread, said[0], parent):
        return thread, "", ""
    return thread, said[-1][:SHOWN], answer[:SHOWN]
