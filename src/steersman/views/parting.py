"""What stays in the terminal when the conversation is closed: its end, and what it changed."""

import asyncio
from contextlib import suppress

from steersman.records.errors import SteersmanError
from steersman.views.blocks import Person, Words
from steersman.views.changeset import of_plan
from steersman.views.seat import Seat
from steersman.views.story import Story
from steersman.views.text import counted, one_line, safe

MOST = 20  # lines of the last answer


async def rest(seat: Seat, story: Story) -> list[str]:
    """The last message and its answer, and what the thread changed and is still there."""
    lines = []
    asked = next((one for one in reversed(story.blocks) if isinstance(one, Person)), None)
    if asked is not None:
        lines += [f"› {one_line(asked.text, 78)}", ""]
    said = [one.text for one in story.blocks if isinstance(one, Words) and not one.thought]
    if said:
        answer = safe(said[-1]).strip().splitlines()
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
