"""What the agent of a workspace may write into a thread's log: what operations write, in their
lanes, about calls that the thread has made. All else is said by others, and not believed of it."""

import asyncio
from collections.abc import Sequence
from contextlib import ExitStack

from steersman.records.message import (
    Audit,
    Body,
    Checkpoint,
    DiffReady,
    Error,
    JobEnd,
    Message,
    ToolProgress,
)
from steersman.store.log import Draft, Lane, ThreadLog, read_messages
from steersman.threads.remote.frames import Garbled
from steersman.threads.remote.words import Drafted, heard

WRITTEN = (Checkpoint, DiffReady, Error, Audit, JobEnd)
SHOWN = (ToolProgress,)
OPERATIONS = "steersman/operations"
REFUSED = "The workspace agent wrote what is not its to write."


class Entries:
    """Takes what an agent writes, or ends with why it is not taken."""

    def __init__(self, log: ThreadLog) -> None:
        self._log = log
        self._calls: dict[str | None, int] = {}  # by their turns
        self._turns = {0}
        self._remembered = False
        self._remembering = asyncio.Lock()
        self._watching = ExitStack()
        self._watching.enter_context(log.watched_by(self._observe))

    def close(self) -> None:
        """Nothing more is written."""
        self._watching.close()

    async def written(self, one: Drafted) -> Draft:
        """A message for the log; it may be about a call of an earlier session."""
        await self._know(one.turn, one.corr)
        return self._draft(one, WRITTEN)

    def shown(self, one: Drafted) -> Draft:
        """A message that is not stored."""
        return self._draft(one, SHOWN)

    async def lane(self, path: str, turn: int) -> Lane:
        """A lane in which the gate writes what it decides for the agent."""
        await self._know(turn)
        self._check_lane(path, turn)
        return Lane(self._log, path, turn)

    def _draft(self, one: Drafted, kinds: tuple[type[Body], ...]) -> Draft:
        body = heard(one.said)
        if not isinstance(body, kinds):
            raise Garbled(REFUSED, f"It is a message of the kind “{one.said.kind}”.")
        self._check_lane(one.path, one.turn)
        if one.corr is not None and self._calls.get(one.corr) != one.turn:
            raise Garbled(REFUSED, "It is about a call that this thread has not made.")
        return Draft(body, one.path, one.turn, one.corr)

    def _check_lane(self, path: str, turn: int) -> None:
        if path != OPERATIONS and not path.startswith(f"{OPERATIONS}/"):
            raise Garbled(REFUSED, f"It is in the lane “{path}”.")
        if turn not in self._turns:
            raise Garbled(REFUSED, "It is in a turn that there was not.")

    def _observe(self, messages: Sequence[Message]) -> None:
        self._turns.update(one.turn for one in messages)
        self._calls |= {one.corr: one.turn for one in messages if one.kind == "tool_call"}

    async def _know(self, turn: int, call: str | None = None) -> None:
        """Where a call is not of this session, read which there were in earlier ones."""
        if call in self._calls or (call is None and turn in self._turns):
            return
        async with self._remembering:
            if not self._remembered:
                log = self._log
                found = read_messages(log.store, log.thread, kinds={"tool_call"})
                self._observe(await asyncio.to_thread(list, found))
                self._remembered = True
