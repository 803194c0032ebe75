"""Whose turn it is: the states of an open thread and the moves between them, as a table.

`docs/states.md` shows the same table to a person.
"""

from enum import StrEnum

from steersman.records.errors import UsageProblem


class FloorState(StrEnum):
    """What an open thread is doing."""

    IDLE = "idle"
    RUNNING = "running"
    ENDING = "ending"
    CLOSED = "closed"


class Move(StrEnum):
    """What can happen to an open thread."""

    START = "start"
    CANCEL = "cancel"
    END = "end"
    CLOSE = "close"


MOVES: dict[tuple[FloorState, Move], FloorState] = {
    (FloorState.IDLE, Move.START): FloorState.RUNNING,
    (FloorState.IDLE, Move.CLOSE): FloorState.CLOSED,
    (FloorState.RUNNING, Move.CANCEL): FloorState.ENDING,
    (FloorState.RUNNING, Move.END): FloorState.IDLE,
    (FloorState.ENDING, Move.CANCEL): FloorState.ENDING,
    (FloorState.ENDING, Move.END): FloorState.IDLE,
}

_WHY = {
    (FloorState.RUNNING, Move.START): "A turn is running; steer it or queue the message.",
    (FloorState.ENDING, Move.START): "The last turn is still ending.",
    (FloorState.IDLE, Move.CANCEL): "No turn is running.",
    (FloorState.RUNNING, Move.CLOSE): "A turn is running; cancel it first.",
}


class Floor:
    """The state of one open thread."""

    def __init__(self) -> None:
        self.state = FloorState.IDLE

    def move(self, move: Move) -> None:
        """Change the state, or say why that cannot be now."""
        following = MOVES.get((self.state, move))
        if following is None:
            why = _WHY.get((self.state, move), f"The thread is {self.state}.")
            raise UsageProblem(f"Cannot {move} now. {why}")
        self.state = following
