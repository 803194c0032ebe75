"""Whose turn it is: the states of an open thread and the moves between them, as a table.

`docs/states.md` shows the same table to a person.
"""

from enum import StrEnum

from steersman.errors import UsageProblem


class State(StrEnum):
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


MOVES: dict[tuple[State, Move], State] = {
    (State.IDLE, Move.START): State.RUNNING,
    (State.IDLE, Move.CLOSE): State.CLOSED,
    (State.RUNNING, Move.CANCEL): State.ENDING,
    (State.RUNNING, Move.END): State.IDLE,
    (State.ENDING, Move.CANCEL): State.ENDING,
    (State.ENDING, Move.END): State.IDLE,
}

_WHY = {
    (State.RUNNING, Move.START): "A turn is running; steer it or queue the message.",
    (State.ENDING, Move.START): "The last turn is still ending.",
    (State.IDLE, Move.CANCEL): "No turn is running.",
    (State.RUNNING, Move.CLOSE): "A turn is running; cancel it first.",
}


class Floor:
    """The state of one open thread."""

    def __init__(self) -> None:
        self.state = State.IDLE

    def move(self, move: Move) -> None:
        """Change the state, or say why that cannot be now."""
        following = MOVES.get((self.state, move))
        if following is None:
            why = _WHY.get((self.state, move), f"The thread is {self.state}.")
            raise UsageProblem(f"Cannot {move} now. {why}")
        self.state = following
