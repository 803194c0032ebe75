"""What follows a plan: the user is asked whether to carry it out, and the turn continues."""

import asyncio
import re
from collections.abc import Awaitable, Callable

from steersman.coordination.recovery import Resumption
from steersman.governance.approvals import Desk
from steersman.records.message import Assistant, Checkpoint, Question, User
from steersman.records.patterns import pattern
from steersman.store.log import Lane, read_messages
from steersman.systems import Left

YES, NO = "yes", "no"
ASKED = Question(
    "Carry out this plan? “yes” switches to code mode and begins; or say what to change.",
    (YES, NO),
    NO,
    marked=YES,
)
BEGIN = "Carry out the plan in {plan}."
BEGIN_SAID = "Carry out the plan you just gave."
_STEP = pattern(r"^\s*(?:\d+[.)]|[-*])\s+\S.*", re.MULTILINE)
_PLAN = pattern(r"\bplan\b", re.IGNORECASE)
STEPS = 2  # from which an answer in plan mode that speaks of a plan is one


class Planned:
    """The plan of a thread, below its workspace at `path`; `switch` turns to another mode."""

    def __init__(self, path: str, desk: Desk, switch: Callable[[str], Awaitable[None]]) -> None:
        self._path = path
        self._desk = desk
        self._switch = switch

    async def ask(self, mode: str, lane: Lane) -> bool:
        """Ask about a plan that this turn wrote or said; True when the model is to continue."""
        if mode != "plan" or not self._desk.attended:
            return False
        written = await asyncio.to_thread(self._written, lane)
        if not written and not await asyncio.to_thread(self._said, lane):
            return False
        said = (await self._desk.ask(ASKED, lane.at("intelligence"))).text.strip()
        if said.lower() in (NO, "n", ""):
            return False
        if said.lower() in (YES, "y"):
            await self._switch("code")
            said = BEGIN.format(plan=self._path) if written else BEGIN_SAID
        await lane.at("coordination").append(User(said, via="queue"))
        return True

    def _written(self, lane: Lane) -> bool:
        """Whether the plan was written in a turn."""
        messages = read_messages(lane.log.store, lane.log.thread, kinds={"checkpoint"})
        return any(
            change.path == self._path and change.after.kind == "file"
            for message in messages
            if message.turn == lane.turn and isinstance(message.body, Checkpoint)
            for change in message.body.changes
        )

    def _said(self, lane: Lane) -> bool:
        """Whether the turn ends with a plan in words: it says so, and has steps.

        An answer to a question has lists, too; and a question has them, of questions or of answers
        to it. A plan may end with one: “Should I go on?”
        """
        messages = read_messages(lane.log.store, lane.log.thread, kinds={"assistant"})
        said = [one.body.text for one in messages
                if one.turn == lane.turn and isinstance(one.body, Assistant)]  # fmt: skip
        text = said[-1] if said else ""
        steps = [one for one in _STEP.finditer(text) if not one[0].rstrip().endswith("?")]
        if len(steps) < STEPS or _PLAN.search(text) is None:
            return False
        return not text[: steps[0].start()].rstrip().endswith("?")


def left_by(kept: Resumption, steps: int) -> Left:
    """What a process that died has left of a turn."""
    questions = tuple(one.body for one in kept.asked if isinstance(one.body, Question))
    # Calls ask their own questions again; a server that asked one is gone, and its call with it.
    others = tuple(one for one in questions if one.text != ASKED.text and not one.header)
    finished = any(one.text == ASKED.text for one in questions)
    return Left(kept.calls, others, steps, finished=finished)
