"""What stays in the terminal when the conversation is closed: its end, and what it changed."""

import asyncio
import re
from contextlib import suppress
from textwrap import wrap

from steersman.records.errors import SteersmanError
from steersman.views.blocks import Person, Words
from steersman.views.changeset import of_plan
from steersman.views.seat import Seat
from steersman.views.story import Story
from steersman.views.text import counted, one_line, safe

MOST = 10  # lines of the last answer
_BOLD = re.compile(r"\*\*(?=\S)([^*`\n]+)(?<=\S)\*\*")  # a terminal shows its stars


async def rest(seat: Seat, story: Story, width: int = 80) -> list[str]:
    """The last message and the start of its answer, and what the thread changed in all."""
    lines, said = [], list[str]()
    asked: Person | None = None
    for block in story.blocks:
        if isinstance(block, Person):
            asked, said = block, []  # what was said before is no answer to it
        elif isinstance(block, Words) and not block.thought and story.is_root(block.lane):
            said.append(block.text)
    if asked is not None:
        lines += [f"› {one_line(asked.text, 78)}", ""]
    if said:
        text = _BOLD.sub(r"\1", safe(said[-1])).strip()
        answer = [part for one in text.splitlines() for part in wrap(one, width) or [""]]
        lines += answer[:MOST]
        left = len(answer) - MOST
        more = f"… {counted(left, 'more line')}: steer replay {seat.id}"
        lines += [more] if left > 0 else []
        lines.append("")
    with suppress(SteersmanError):
        if changed := await asyncio.to_thread(_changed, seat):
            lines += [f"This thread: {changed}"]
    return lines


def _changed(seat: Seat) -> str:
    plan = seat.host.way_back.plan_rewind(seat.id, 0)
    found = of_plan(seat.host, seat.id, plan) if plan is not None and plan.changes else None
    return found.head if found is not None else ""
