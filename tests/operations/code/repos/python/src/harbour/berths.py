"""Places for ships."""

from __future__ import annotations

from collections.abc import Iterator

from harbour.decorators import logged, retried
from harbour.ships import Ship


class BerthTaken(Exception):
    """Somebody already exists."""


class Berth:
    """One place at the quay."""

    class Size:
        """How large a ship fits."""

        SMALL = 50.0
        LARGE = 400.0

    def __init__(self, number: int, limit: float = Size.LARGE) -> None:
        self.number = number
        self.limit = limit
        self.ship: Ship | None = None

    @logged
    def assign(self, ship: Ship) -> None:
        """Give the berth to a ship."""
        if self.ship is not None:
            raise BerthTaken(f"berth {self.number} has {self.ship.label}")
        self._check(ship)
        self.ship = ship
        ship.note(f"assigned to {self.number}")

    @retried(times=3)
    def release(self) -> Ship | None:
        """Take the ship away; `assign` may be called again then."""
        ship, self.ship = self.ship, None
        return ship

    def _check(self, ship: Ship) -> None:
        if ship.length > self.limit:
            raise ValueError(f"{ship.name} is too long")


def free(berths: list[Berth]) -> Iterator[Berth]:
    """Berths without a ship."""
    for berth in berths:
        if berth.ship is None:
            yield berth


def largest(berths: list[Berth]) -> Berth:
    """The berth for the longest ships."""

    def limit(berth: Berth) -> float:
        return berth.limit

    return max(berths, key=limit)
