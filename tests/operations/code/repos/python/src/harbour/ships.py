"""What comes into the harbour."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import overload

KNOTS_TO_KMH = 1.852


class Flag(Enum):
    """Where a ship is registered."""

    NORWAY = "no"
    PANAMA = "pa"


@dataclass
class Ship:
    """A ship; not to be confused with `shipping`, which is a price."""

    name: str
    length: float
    flag: Flag = Flag.NORWAY
    log: list[str] = field(default_factory=list)

    @property
    def label(self) -> str:
        """How the ship is called on the radio."""
        return f"{self.name} ({self.flag.value})"

    @classmethod
    def parse(cls, text: str) -> Ship:
        """A ship from `name:length`."""
        name, _, length = text.partition(":")
        return cls(name, float(length))

    def note(self, line: str) -> None:
        """Write a line into the log."""

        def stamped(text: str) -> str:
            prefix = self.label
            return f"{prefix}: {text}"

        self.log.append(stamped(line))


class Tanker(Ship):
    """A ship with a cargo of oil."""

    barrels: int = 0

    def note(self, line: str) -> None:
        """Tankers shout."""
        super().note(line.upper())


@overload
def speed(value: int) -> int: ...
@overload
def speed(value: float) -> float: ...
def speed(value: int | float) -> int | float:
    """Knots as kilometres an hour."""
    return value * KNOTS_TO_KMH


def describe(ship: Ship) -> str:
    """One line about a ship. Calls label, not describe."""
    return f"{ship.label}, {ship.length} m"
