"""What stays in the terminal when the conversation is closed: its end, and what it changed."""

import asyncio
import re
from contextlib import suppress

from steersman.records.errors import SteersmanError
from steersman.views.blocks import Person, Words
from steersman.views.changeset import of_plan
from steersman.views.seat import Seat
from steersman.views.story import Story
from steersman.views.text import counted, one_line, safe

MOST = 20  # lines of the last answer
_BOLD = re.compile(r"\*\*(?=\S)([^*`\n]+)(?<=\S)\*\*")  # a terminal shows its stars


async def rest(seat: Seat, story: Story) -> list[str]:
    """The last message and its answer, and what the thread changed and is still there."""
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
        answer = _BOLD.sub(r"\1", safe(said[-1])).strip().splitlines()
        lines += answer[:MOST]
        left = len(answer) - MOST
        lines += [f"… {counted(left, 'more line')}"] if left > 0 else []
        lines.append("")
    with suppress(SteersmanError):
        if changed := await asyncio.to_thread(_changed, seat):
            lines += [f"This thread: {changed}"]
    return lines


def _changed(seat: Seat) -> str:
    plan = seat.host.way_back.plan_rewind(seat.id, 0)
    found = of_plan(seat.host, seat.id, plan) if plan is not None and plan.changes else None
    return found.head if found is not None else ""
