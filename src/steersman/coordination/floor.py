"""Whose turn it is: the states of an open thread and the moves between them, as a table.

`docs/states.md` shows the same table to a person.
"""

import asyncio
from enum import StrEnum

from steersman.records.errors import UsageProblem


class FloorState(StrEnum):
    """What an open thread is doing."""

    IDLE = "idle"
    STARTING = "starting"  # the first words of a turn are being written
    RUNNING = "running"  # the agent works
    STOPPING = "stopping"  # the agent was asked to stop
    ENDING = "ending"  # the last words of a turn are being written
    TORN = "torn"  # a turn ended without saying so
    UNDOING = "undoing"
    COMPACTING = "compacting"
    CLOSED = "closed"


class Move(StrEnum):
    """What can happen to an open thread."""

    START = "start"
    BEGIN = "begin"
    CANCEL = "cancel"
    FINISH = "finish"
    END = "end"
    FAIL = "fail"
    UNDO = "undo"
    COMPACT = "compact"
    CLOSE = "close"


MOVES: dict[tuple[FloorState, Move], FloorState] = {
    (FloorState.IDLE, Move.START): FloorState.STARTING,
    (FloorState.IDLE, Move.UNDO): FloorState.UNDOING,
    (FloorState.IDLE, Move.COMPACT): FloorState.COMPACTING,
    (FloorState.IDLE, Move.CLOSE): FloorState.CLOSED,
    (FloorState.STARTING, Move.BEGIN): FloorState.RUNNING,
    (FloorState.STARTING, Move.FAIL): FloorState.IDLE,
    (FloorState.RUNNING, Move.CANCEL): FloorState.STOPPING,
    (FloorState.RUNNING, Move.FINISH): FloorState.ENDING,
    (FloorState.RUNNING, Move.FAIL): FloorState.TORN,
    (FloorState.STOPPING, Move.CANCEL): FloorState.STOPPING,
    (FloorState.STOPPING, Move.FINISH): FloorState.ENDING,
    (FloorState.STOPPING, Move.FAIL): FloorState.TORN,
    (FloorState.ENDING, Move.CANCEL): FloorState.ENDING,
    (FloorState.ENDING, Move.END): FloorState.IDLE,
    (FloorState.ENDING, Move.FAIL): FloorState.TORN,
    (FloorState.TORN, Move.START): FloorState.STARTING,
    (FloorState.TORN, Move.CLOSE): FloorState.CLOSED,
    (FloorState.UNDOING, Move.END): FloorState.IDLE,
    (FloorState.COMPACTING, Move.CANCEL): FloorState.COMPACTING,
    (FloorState.COMPACTING, Move.END): FloorState.IDLE,
}

BUSY = frozenset({FloorState.STARTING, FloorState.RUNNING, FloorState.STOPPING, FloorState.ENDING})
HEARING = frozenset({FloorState.STARTING, FloorState.RUNNING})  # words still reach this turn

_RUNS = "A turn is running; steer it, or queue the message."
_WHY = {
    (FloorState.STARTING, Move.START): _RUNS,
    (FloorState.RUNNING, Move.START): _RUNS,
    (FloorState.STOPPING, Move.START): "The last turn is still ending.",
    (FloorState.ENDING, Move.START): "The last turn is still ending.",
    (FloorState.UNDOING, Move.START): "Changes are being undone.",
    (FloorState.COMPACTING, Move.START): "The conversation is being compacted.",
    (FloorState.STARTING, Move.UNDO): "A turn is running; stop it first.",
    (FloorState.RUNNING, Move.UNDO): "A turn is running; stop it first.",
    (FloorState.IDLE, Move.CANCEL): "No turn is running.",
    (FloorState.TORN, Move.CANCEL): "No turn is running.",
    (FloorState.RUNNING, Move.CLOSE): "A turn is running; cancel it first.",
}


class Floor:
    """The state of one open thread."""

    def __init__(self) -> None:
        self.state = FloorState.IDLE
        self._moved = asyncio.Event()

    def check(self, move: Move) -> FloorState:
        """What a move would lead to; raises when it cannot be now, and says why."""
        following = MOVES.get((self.state, move))
        if following is None:
            why = _WHY.get((self.state, move), f"The thread is {self.state}.")
            raise UsageProblem(f"Cannot {move} now. {why}")
        return following

    def move(self, move: Move) -> None:
        """Change the state, or say why that cannot be now."""
        self.state = self.check(move)
        self._moved.set()
        self._moved = asyncio.Event()

    async def leaves(self, *states: FloorState) -> None:
        """Wait until the thread is in none of these states."""
        while self.state in states:
            await self._moved.wait()
