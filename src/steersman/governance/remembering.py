"""What people have answered before, and what they could answer for longer."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from steersman.governance.policy import BLANK, Book
from steersman.records.action import Action, Network
from steersman.records.judgement import Judgement
from steersman.records.message import Lasting

Asked = Sequence[tuple[Action, Judgement | None]]
Kept = Literal["turn", "thread", "here"]


class Offered(Struct, frozen=True):
    """The answers that could hold for longer; or why there are none."""

    lasting: tuple[Lasting, ...] = ()
    only_once: str = ""


class Memory(Protocol):
    """Keeps lasting answers as rules."""

    def book(self, turn: int = 0) -> Book:
        """The answers that hold now, in a turn."""
        ...

    def offer(self, tool: str, asked: Asked, rules: Book, turn: int = 0) -> Offered:
        """What could be answered for longer; `rules` are those written in files."""
        ...

    def keep(self, tool: str, asked: Asked, lasting: str, scope: Kept, turn: int = 0) -> None:
        """Remember the lasting answer of that name, if it was on offer."""
        ...

    def end_turn(self) -> None:
        """Forget what was answered for a turn only."""
        ...

    def refuse(self, wanted: Network) -> None:
        """Remember for this thread that a host, or all of an installation, must not be reached."""
        ...


class Forgetful:
    """Remembers nothing."""

    def book(self, turn: int = 0) -> Book:
        """No answers."""
        return BLANK

    def offer(self, tool: str, asked: Asked, rules: Book, turn: int = 0) -> Offered:
        """Nothing."""
        return Offered(only_once="answers are not kept here")

    def keep(self, tool: str, asked: Asked, lasting: str, scope: Kept, turn: int = 0) -> None:
        """Forget it."""

    def end_turn(self) -> None:
        """Nothing to forget."""

    def refuse(self, wanted: Network) -> None:
        """Forget it."""
